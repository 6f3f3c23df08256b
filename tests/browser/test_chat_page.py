"""The customer's page in a real browser: nothing lost, nothing doubled, nothing said in code."""

import asyncio
import hashlib

import pytest
from playwright.async_api import expect

from chat.models import Conversation
from chat.turns import in_db_thread
from memory import services
from tests.browser.harness import PHONE, WIDE, no_barriers

pytestmark = pytest.mark.usefixtures("practice")

HOSTILE = (
    "<script>window.hurt = 1</script> <b>&amp;</b> שלום \u202eevil\u202c"
    " 👩🏽\u200d🔬 \u200b {{ 7 }}  two  spaces"
)


def box(page):
    return page.get_by_role("textbox", name="Your message")


def rows(page):
    return page.locator("ol.log__rows > li[data-seq]")


def said(page, text):
    return page.locator("li.turn--customer[data-seq] .text").get_by_text(text, exact=True)


async def say(page, text):
    await box(page).fill(text)
    await box(page).press("Enter")


async def seqs(page):
    return await rows(page).evaluate_all("items => items.map(item => Number(item.dataset.seq))")


async def test_the_page_works_without_javascript(visitor):
    page = await visitor(java_script_enabled=False)

    await box(page).fill("Do you take new patients?")
    await page.get_by_role("button", name="Send").click()

    await expect(said(page, "Do you take new patients?")).to_be_visible()
    await expect(page.locator("li.turn--bot").first).to_be_visible()
    await expect(box(page)).to_have_value("")


async def test_what_is_too_long_is_refused_beside_the_message_without_javascript_too(visitor):
    page = await visitor(java_script_enabled=False)

    await box(page).fill("x" * 10_001)
    await page.get_by_role("button", name="Send").click()

    await expect(page.locator("#text-error")).to_contain_text("10,001")
    await expect(box(page)).to_have_value("x" * 10_001)
    await expect(rows(page)).to_have_count(0)


async def test_what_is_too_long_is_refused_beside_the_message(visitor):
    page = await visitor()

    await say(page, "x" * 10_001)

    await expect(page.locator("#text-error")).to_contain_text("10,001 of 10,000")
    await expect(box(page)).to_have_attribute("aria-invalid", "true")
    await expect(box(page)).to_have_value("x" * 10_001)
    await expect(rows(page)).to_have_count(0)


async def test_hostile_text_stays_text_to_the_letter(visitor):
    page = await visitor()

    await say(page, HOSTILE)
    await expect(page.locator("li.turn--customer[data-seq]")).to_have_count(1)

    for _ in ("built by the script", "rendered by the server"):
        shown = await page.locator("li.turn--customer .text").first.evaluate(
            "node => node.textContent"
        )
        assert hashlib.sha256(shown.encode()).digest() == hashlib.sha256(HOSTILE.encode()).digest()
        assert await page.evaluate("window.hurt") is None
        await page.reload()


async def test_enter_sends_and_shift_enter_breaks_the_line(visitor):
    page = await visitor()

    await box(page).press_sequentially("one")
    await box(page).press("Shift+Enter")
    await box(page).press_sequentially("two")
    await box(page).press("Enter")

    await expect(page.locator("li.turn--customer[data-seq] .text")).to_have_text("one\ntwo")


async def test_a_socket_killed_in_mid_send_loses_and_doubles_nothing(visitor, tab):
    page = await tab()
    killed = []

    def carry(ws):
        server = ws.connect_to_server()

        async def outward(message):
            server.send(message)
            if '"say"' in message and len(killed) < 2:
                killed.append(message)
                await asyncio.sleep(0.05)  # it may have been stored: its ack never arrives
                await ws.close()

        ws.on_message(outward)
        server.on_message(
            lambda message: None if len(killed) == 1 and '"ack"' in message else ws.send(message)
        )

    await page.route_web_socket("**/ws/chat/", carry)
    await page.goto("/chat/")
    await page.locator("support-chat[data-ready]").wait_for()
    for text in ("first", "second", "third"):
        await say(page, text)

    for text in ("first", "second", "third"):
        await expect(said(page, text)).to_have_count(1, timeout=20_000)
    await expect(page.locator(".turn--pending")).to_have_count(0)
    assert len(killed) == 2
    in_order = await seqs(page)
    assert in_order == list(range(in_order[0], in_order[0] + len(in_order)))
    await page.reload()
    for text in ("first", "second", "third"):
        await expect(said(page, text)).to_have_count(1)


async def test_offline_is_said_beside_the_message_and_mended(visitor):
    page = await visitor()
    await page.context.set_offline(True)

    await say(page, "are you there?")
    await expect(page.get_by_text("Not sent yet: no connection")).to_be_visible()

    await page.context.set_offline(False)
    await expect(said(page, "are you there?")).to_have_count(1, timeout=20_000)
    await expect(page.get_by_text("Not sent yet: no connection")).to_have_count(0)


async def test_what_was_not_sent_survives_a_reload(visitor):
    page = await visitor()
    await page.route_web_socket("**/ws/chat/", lambda ws: None)  # a server that never answers
    await page.reload()
    await say(page, "do not lose me")
    await expect(page.locator(".turn--pending")).to_be_visible()

    await page.unroute_all()
    again = await page.context.new_page()
    await again.close()
    await page.reload()

    await expect(page.locator("li.turn--customer .text")).to_have_text("do not lose me")


async def test_two_tabs_show_the_same(visitor):
    left = await visitor()
    right = await visitor(beside=left)  # before the browser is known by its first word

    await say(left, "from the left")
    await expect(said(right, "from the left")).to_have_count(1)
    await say(right, "from the right")
    await expect(said(left, "from the right")).to_have_count(1)

    await expect(rows(left)).to_have_count(await rows(right).count())
    assert await seqs(left) == await seqs(right)


async def test_the_keyboard_is_enough(visitor):
    page = await visitor()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()

    await box(page).focus()
    await page.keyboard.type("Do you take new patients?")
    await page.keyboard.press("Enter")
    await expect(page.locator("li.turn--bot").first).to_be_visible()
    await expect(box(page)).to_be_focused()

    await page.get_by_label("More", exact=True).focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="What do you know about me?")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="What do you know about me?")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
async def test_there_is_no_barrier(visitor, size, scheme):
    page = await visitor(viewport=size, color_scheme=scheme)
    await no_barriers(page)

    await say(page, "Do you take new patients?")
    await expect(page.locator("li.turn--bot").first).to_be_visible()
    await say(page, "Is there life on the moons of Jupiter?")
    await expect(page.locator("li.turn--state").first).to_be_visible()

    await no_barriers(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= size["width"]


async def test_somebody_else_at_this_browser_starts_afresh(visitor):
    page = await visitor()
    await say(page, "mine alone")
    await expect(said(page, "mine alone")).to_have_count(1)

    await page.get_by_label("More", exact=True).click()
    await page.get_by_role("button", name="Not me: start afresh").click()

    await expect(said(page, "mine alone")).to_have_count(0)


async def test_an_ended_conversation_can_be_rated_and_a_new_one_begun(visitor):
    page = await visitor()
    await say(page, "thank you")
    await expect(said(page, "thank you")).to_have_count(1)

    await page.get_by_label("More", exact=True).click()
    await page.get_by_role("button", name="End this conversation").click()
    await expect(page.get_by_text("This conversation has ended.")).to_be_visible()
    await expect(box(page)).to_be_hidden()
    await page.get_by_role("button", name="Yes").click()
    await expect(page.get_by_text("Thank you for telling us.")).to_be_visible()

    await page.get_by_role("button", name="Start a new conversation").click()
    await say(page, "one more thing")
    await expect(said(page, "one more thing")).to_have_count(1)
    await expect(said(page, "thank you")).to_have_count(0)
    await expect(page.get_by_text("This conversation has ended.")).to_be_hidden()


async def test_a_person_can_be_asked_for_when_the_conversation_has_ended(visitor):
    page = await visitor()
    await say(page, "thank you")
    await expect(said(page, "thank you")).to_have_count(1)
    await page.get_by_label("More", exact=True).click()
    await page.get_by_role("button", name="End this conversation").click()
    await expect(page.get_by_text("This conversation has ended.")).to_be_visible()

    await page.get_by_role("button", name="Talk to a person").click()

    await expect(page.get_by_text("This conversation has ended.")).to_be_hidden()
    await expect(said(page, "thank you")).to_have_count(0)
    await expect(page.locator("support-chat")).to_have_attribute("data-handler", "waiting")
    await expect(box(page)).to_be_visible()


async def test_a_secret_is_hidden_as_soon_as_it_is_sent(visitor):
    page = await visitor()

    await say(page, "Can you charge 4111 1111 1111 1111 today?")

    await expect(said(page, "Can you charge [removed: card number] today?")).to_be_visible()
    await expect(page.get_by_text("what looks like a card number")).to_be_visible()
    await expect(page.get_by_text("4111")).to_have_count(0)


async def test_what_staff_forget_goes_from_the_open_tab_without_another_word(visitor):
    page = await visitor()
    await say(page, "My dental insurance is Cigna")
    await expect(page.locator("li.turn--bot")).to_have_count(1, timeout=30_000)

    await in_db_thread(_forgotten_by_staff)()

    await expect(page.get_by_text("[removed on request]").first).to_be_visible(timeout=15_000)
    await expect(page.get_by_text("Cigna")).to_have_count(0)


def _forgotten_by_staff():
    services.forget_words(Conversation.objects.latest("pk").customer_id, ("Cigna",), value="Cigna")


async def test_what_is_to_be_forgotten_goes_from_every_open_tab(visitor):
    page = await visitor()
    await say(page, "My dental insurance is Cigna")
    await expect(page.locator("li.turn--bot")).to_have_count(1, timeout=30_000)
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(said(other, "My dental insurance is Cigna")).to_be_visible()

    await say(page, "Please forget my insurance plan")

    for tab in (page, other):
        removed = tab.get_by_text("[removed on request]").first
        await expect(removed).to_be_visible(timeout=30_000)
        await expect(tab.get_by_text("Cigna")).to_have_count(0)
        assert await seqs(tab) == sorted(await seqs(tab))
