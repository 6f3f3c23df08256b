"""Drive the product in Chromium: uvicorn and Playwright in the test's own event loop.

`site` is the address of the running product, `visitor` opens the chat in a browser of its own,
`staff_page` signs somebody in at the desk, `page` is one plain tab. Any uncaught script error, and
any breach of the content security policy, fails the test that caused it.
"""

import asyncio
import contextlib
import os
import shutil
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.at_rest import wait_for_threads

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

CHROMIUM = (
    os.environ.get("RAPPORT_CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
PASSWORD = "correct horse"

OpenTab = Callable[..., Awaitable["Page"]]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if CHROMIUM is None:
        terminalreporter.section("THE BROWSER TESTS WERE LEFT OUT", sep="!", red=True)
        terminalreporter.write_line(
            "There is no Chromium here: install it, or set RAPPORT_CHROMIUM."
        )


@pytest.fixture
async def site(transactional_db: None) -> AsyncIterator[str]:
    """Serve the product on a free port, from this test's database and settings."""
    import uvicorn

    from config.asgi import application

    # The loop may outlive the database of this test: its threads are waited for here.
    threads = ThreadPoolExecutor(8, thread_name_prefix="site")
    asyncio.get_running_loop().set_default_executor(threads)
    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=0,
        lifespan="off",
        log_level="warning",
        ws_ping_interval=None,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())  # not serve(): that takes Ctrl-C from pytest
    while not server.started:
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = server.force_exit = True
    await serving
    await turns_in_flight()
    wait_for_threads(threads)


async def turns_in_flight() -> None:
    """Wait for replies that nobody waits for, lest they write into the next test's database."""
    from chat import turns

    if turns._running:
        await asyncio.wait(turns._running)


@pytest.fixture
async def chromium() -> AsyncIterator["Browser"]:
    if CHROMIUM is None:
        warnings.warn("no Chromium: a browser test is left out", stacklevel=1)
        pytest.skip("no Chromium here")
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest.fixture
async def tab(chromium: "Browser", site: str) -> AsyncIterator[OpenTab]:
    """Open tabs, each in a browser of its own unless `beside` names another one; watch them all."""
    errors: list[str] = []
    contexts: list[BrowserContext] = []

    async def open_tab(path: str = "", *, beside: "Page | None" = None, **options: Any) -> "Page":
        if beside is None:
            options = {
                "viewport": WIDE,
                "locale": "en-GB",
                "timezone_id": "UTC",
                "base_url": site,
            } | options
            contexts.append(await chromium.new_context(**options))
        page = await (beside.context if beside else contexts[-1]).new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
        page.on("console", lambda said: _note_breach(said, errors))
        if path:
            await page.goto(path)
        return page

    yield open_tab
    for context in contexts:
        with contextlib.suppress(Exception):
            await context.close()
    assert not errors, "script errors in the page:\n" + "\n".join(errors)


def _note_breach(said: Any, errors: list[str]) -> None:
    broken = ("Content Security Policy", "htmx:oobErrorNoTarget")
    if said.type == "error" and any(kind in said.text for kind in broken):
        errors.append(said.text)


@pytest.fixture
async def page(tab: OpenTab) -> "Page":
    return await tab()


@pytest.fixture
def visitor(tab: OpenTab) -> OpenTab:
    """Open the chat as somebody new; `beside=page` opens a second tab of the same browser."""

    async def open_chat(**options: Any) -> "Page":
        page = await tab("/chat/", **options)
        if options.get("java_script_enabled", True):
            await page.locator("support-chat[data-ready]").wait_for()
        return page

    return open_chat


@pytest.fixture
def staff_page(tab: OpenTab) -> OpenTab:
    """Sign in by the form, as a person does: `await staff_page("sam")`."""

    async def sign_in(
        name: str, *, password: str = PASSWORD, path: str = "/inbox/", **options: Any
    ) -> "Page":
        page = await tab(f"/login/?next={path}", **options)
        await page.get_by_label("Name").fill(name)
        await page.get_by_label("Password").fill(password)
        # Keys that come before the page's scripts are there would go nowhere.
        async with page.expect_navigation(wait_until="load"):
            await page.get_by_role("button", name="Sign in").click()
        return page

    return sign_in


async def no_barriers(page: "Page") -> None:
    """Fail unless axe finds no accessibility violation in the page as it stands."""
    from axe_playwright_python.async_playwright import Axe

    results = await Axe().run(page)
    assert not results.response["violations"], results.generate_report()


@pytest.fixture
async def practice(transactional_db: None) -> None:
    """The demo practice: its answers, notes, topics, hours and staff."""
    from channels.db import database_sync_to_async
    from django.core.management import call_command

    await database_sync_to_async(call_command)("load_demo", verbosity=0)
