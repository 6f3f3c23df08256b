"""Take the README's pictures, and on request all others, of a running demo.

make run                                           # in another terminal, with fresh demo data
.venv/bin/python -m tests.browser.pictures         # templates/readme/{chat,inbox}.png
.venv/bin/python -m tests.browser.pictures --all pictures/
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from tests.browser.harness import CHROMIUM, FLAGS, PHONE, WIDE

README = Path(__file__).parents[2] / "templates/readme"
LARGEST = 200_000  # bytes of a picture in the README
UNKNOWN = "How long should I wait before rinsing after an extraction?"
PAGES = {
    "privacy": "/chat/privacy/",
    "demo": "/chat/as/",
    "login": "/login/",
    "nothing": "/no-such-page/",
}
DESK = {"inbox": "/inbox/", "admin": "/admin/", "memories": "/admin/memory/memory/"}


async def say(page: Any, text: str) -> None:
    before = await page.locator("li[data-seq]").count()
    await page.get_by_role("textbox", name="Your message").fill(text)
    await page.keyboard.press("Enter")
    await page.locator("li[data-seq]").nth(before + 1).wait_for()
    await page.wait_for_timeout(700)  # a second row, if there is one


async def open_chat(context: Any) -> Any:
    page = await context.new_page()
    await page.goto("/chat/")
    await page.locator("support-chat[data-ready]").wait_for()
    return page


async def sign_in(context: Any, name: str) -> Any:
    page = await context.new_page()
    await page.goto("/login/?next=/inbox/")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Password").fill(f"{name}-demo")
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/inbox/**")
    return page


async def for_the_readme(browser: Any, address: str) -> None:
    customer = await (await browser.new_context(viewport=WIDE, base_url=address)).new_page()
    await customer.goto("/chat/as/")
    await customer.get_by_role("button", name="Grace").click()
    await customer.get_by_role("textbox", name="Your message").wait_for()
    await customer.locator("support-chat[data-ready]").wait_for()
    await say(customer, "Where can I park?")
    await say(customer, "When do I like to come?")
    await say(customer, UNKNOWN)
    await customer.screenshot(path=README / "chat.png")
    desk = await sign_in(await browser.new_context(viewport=WIDE, base_url=address), "kim")
    await desk.get_by_role("link", name=UNKNOWN).first.click()
    await desk.get_by_role("heading", name="What we know").wait_for()
    await desk.wait_for_timeout(700)
    await desk.screenshot(path=README / "inbox.png")
    for name in ("chat.png", "inbox.png"):
        size = (README / name).stat().st_size
        if size > LARGEST:
            raise SystemExit(f"{name} has {size:,} bytes; {LARGEST:,} is the most.")


async def all_of_them(browser: Any, address: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for width, size in (("1280", WIDE), ("360", PHONE)):
        for scheme in ("light", "dark"):
            context = await browser.new_context(
                viewport=size, color_scheme=scheme, base_url=address, locale="en-GB"
            )
            await _chat(context, folder, f"{width}-{scheme}")
            for name, path in PAGES.items():
                await _page(context, path, folder / f"{name}-{width}-{scheme}.png")
            await sign_in(context, "admin")
            for name, path in DESK.items():
                await _page(context, path, folder / f"{name}-{width}-{scheme}.png")
            await context.close()


async def _chat(context: Any, folder: Path, ending: str) -> None:
    page = await open_chat(context)

    async def picture(name: str) -> None:
        await page.wait_for_timeout(200)
        await page.screenshot(path=folder / f"chat-{name}-{ending}.png")

    await picture("empty")
    await say(page, "Where can I park?")
    await say(page, "When can I eat something after you filled my tooth?")
    await picture("busy")
    await say(page, "כמה זמן לחכות? 👩🏽‍🔬 <b>bold</b>")
    await say(page, UNKNOWN)
    await picture("waiting")
    await page.get_by_role("textbox", name="Your message").fill("too long " * 1_200)
    await picture("too-long")
    await page.get_by_role("textbox", name="Your message").fill("")
    await context.set_offline(True)
    await page.get_by_role("textbox", name="Your message").fill("Are you still there?")
    await page.keyboard.press("Enter")
    await page.wait_for_timeout(2_000)
    await picture("offline")
    await context.set_offline(False)
    await page.evaluate("document.documentElement.dir = 'rtl'")
    await picture("right-to-left")


async def _page(context: Any, path: str, file: Path) -> None:
    page = await context.new_page()
    await page.goto(path)
    await page.wait_for_timeout(300)
    await page.screenshot(path=file)
    await page.close()


async def main() -> None:
    from playwright.async_api import async_playwright

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("address", nargs="?", default="http://127.0.0.1:8000")
    options.add_argument("--all", type=Path, metavar="FOLDER")
    chosen = options.parse_args()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if chosen.all:
            await all_of_them(browser, chosen.address, chosen.all)
        else:
            await for_the_readme(browser, chosen.address)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
