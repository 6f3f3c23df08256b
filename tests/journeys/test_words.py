"""What staff typed is what everybody gets: one digest, wherever the words come out again."""

import re

import pytest
from playwright.async_api import expect

from tests.journeys.test_practice import QUESTION, digest, hands_over, say, shown

expect.set_options(timeout=15_000)  # a busy machine is no fault

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.timeout(240)]

# Spaces at both ends, a tab, blank lines, marks that could be composed or folded, what is
# invisible, writing from right to left, characters beyond the first plane, and what means
# something in HTML.
FIRST = (
    "\n\n   Wait 24 hours before you rinse after an extraction.\t\tNot sooner!  \n\n\n"
    " cafe\u0301 ≠ caf\u00e9, \ufb01 ≠ fi, \u212b ≠ \u00c5,"
    " ¼\u00a0tsp.\u2009of\u200bsalt \u00ad– \n"
    "\ufeff\u2028<b>&amp;amp;</b> {{ 7 }} %(name)s \\n \\u0041 \u202eevil\u202c \n \n"
)
SECOND = (
    "\tלאחר 24 שעות יש לשטוף \u200fבעדינות\u200e (3×).\n\n"
    "\u0627\u0644\u0641\u0645 \U0001f469\U0001f3fd\u200d\u2695\ufe0f \U00020bb7"
    " Z\u0351\u036b\u0343\u036aal\u0335go, after that rinse gently.\u3000 "
)
WANTED = [digest(FIRST), digest(SECOND)]


async def read(page, address, key=""):
    """JSON as a program of the business gets it, in the browser's name or with a key."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    response = await page.request.get(address, headers=headers)
    assert response.status == 200, address
    return await response.json()


async def a_key(admin):
    await admin.goto("/admin/memory/apikey/add/")
    await admin.get_by_role("textbox", name="Name:", exact=True).fill("words")
    await admin.locator("[name=_save]").click()
    told = await admin.locator(".messagelist").inner_text()
    return re.search(r"rk_\S+", told)[0]


def texts_of(value):
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_of(one)


class TestTheVeryWords:
    async def test_have_one_digest_from_the_keyboard_to_the_next_customer_api_and_export(
        self, visitor, staff_page
    ):
        desk = await staff_page("kim", password="kim-demo")
        ada = await visitor()
        await hands_over(ada)
        await desk.locator("#list .row").click()
        await desk.locator("#claim").click()
        await expect(desk.get_by_text("You have it")).to_be_visible()
        await self.types(desk, FIRST, "#send")
        await expect(desk.locator("#reply-text")).to_have_value("")
        await self.types(desk, SECOND, "#send-keep")
        await expect(desk.locator("fieldset.card")).to_have_count(2)
        for part in await desk.locator("fieldset.card").all():
            await part.get_by_role("radio", name="Keep for everyone").check()
        await desk.get_by_role("button", name="Keep and resolve").click()
        await expect(desk.get_by_role("status").first).to_contain_text("these very words")

        theirs = ada.locator("li.turn--staff[data-seq] .text")
        await expect(theirs).to_have_count(2)
        ben = await visitor()
        await say(ben, QUESTION)
        card = ben.locator("li.turn--answer blockquote .text")
        await expect(card).to_have_count(2)
        for _ in ("built by the script", "rendered by the server"):
            for page, places in ((ada, theirs), (ben, card)):
                assert [digest(await shown(place)) for place in await places.all()] == WANTED
                await page.reload()

        admin = await staff_page("admin", password="admin-demo", path="/admin/")
        await self.come_out_again(admin, await a_key(admin))

    async def types(self, desk, words, button):
        box = desk.locator("#reply-text")
        await box.fill(words)
        assert digest(await box.input_value()) == digest(words)
        await desk.locator(button).click()

    async def come_out_again(self, admin, key):
        for address in (f"/api/answers?search={QUESTION}", "/api/answers/export"):
            found = await read(admin, address, key)
            kept = [a["parts"] for a in found["answers"] if a["title"] == QUESTION]
            assert [[digest(part) for part in parts] for parts in kept] == [WANTED], address

        bens, adas = await read(admin, "/api/conversations?limit=2", key)  # the newest first
        rows = await read(admin, f"/api/conversations/{adas['id']}/messages", key)
        assert [digest(r["text"]) for r in rows if r["sender"] == "staff"] == WANTED
        rows = await read(admin, f"/api/conversations/{bens['id']}/messages", key)
        cards = [r["meta"]["parts"] for r in rows if r["kind"] == "answer"]
        assert [[digest(part) for part in parts] for parts in cards] == [WANTED]

        for one in (adas, bens):
            found = await read(admin, f"/admin/memory/customer/{one['customer']}/export/")
            assert set(WANTED) <= {digest(text) for text in texts_of(found)}
