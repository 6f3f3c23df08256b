"""One question, two colleagues, two messages: from the gap to the answer that stays."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.browser.harness import no_barriers
from tests.journeys.test_practice import QUESTION, bot, digest, say, shown, state_lines

expect.set_options(timeout=15_000)  # a busy machine is no fault

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.timeout(240)]

OTHER = "Is there a play area for my dog in the yard while I am being treated?"
ASKED_BACK = "Upper or lower?"
FIRST = "Wait 24 hours before you rinse after an extraction.\u00a0Not sooner!"
SECOND = "After that rinse gently\nwith lukewarm salt water  – three times a day is enough."
TITLE = "When may I rinse after a tooth was pulled?"


async def at_the_same_moment(*buttons):
    """Click all of them; no browser's request leaves before the last one has clicked."""
    clicked, all_have = 0, asyncio.Event()

    async def hold(route):
        nonlocal clicked
        clicked += 1
        if clicked == len(buttons):
            all_have.set()
        await all_have.wait()
        await route.continue_()

    for button in buttons:
        await button.page.route("**/claim/", hold)
    await asyncio.gather(*(button.click() for button in buttons))


async def opened(name, staff_page):
    """The escalation as `name` sees it, who looked on as it came in."""
    desk = await staff_page(name, password=f"{name}-demo")
    await expect(desk.locator("#list .row")).to_have_count(0)
    return desk


async def finds(desk, words):
    """What the desk's search has of `words`, in a tab beside."""
    beside = await desk.context.new_page()
    await beside.goto("/inbox/")
    await beside.get_by_role("searchbox").first.fill(words)
    await beside.keyboard.press("Enter")
    await beside.get_by_role("heading", name="Search").wait_for()
    answers = await beside.get_by_role("article").all_text_contents()
    await beside.close()
    return " ".join(answers)


class TestTwoColleagues:
    async def test_one_answers_what_both_wanted_and_the_answer_stays(self, visitor, staff_page):
        desks = [await opened(name, staff_page) for name in ("kim", "sam")]
        ada = await visitor()
        await say(ada, QUESTION)
        await expect(state_lines(ada)).to_have_count(1)
        await say(ada, OTHER)
        await expect(state_lines(ada)).to_have_count(2)

        for desk in desks:  # it came in by itself
            await desk.locator("#list .row").click()
            await expect(desk.get_by_role("log")).to_contain_text(QUESTION)
        await at_the_same_moment(*(desk.locator("#claim") for desk in desks))
        won = [await self.has_it(desk) for desk in desks]
        assert sorted(won) == [False, True]
        desk, other = desks if won[0] else reversed(desks)
        name = "Kim" if won[0] else "Sam"
        await expect(other.locator("#state")).to_contain_text(f"{name} is on it")
        await expect(other.locator(".notice", has_text=f"{name} is on it.")).to_be_visible()

        await self.asks_back(desk, ada)
        await self.answers_in_two_messages(desk, ada)
        await self.keeps_both_as_one(desk)
        await expect(state_lines(ada).last).to_contain_text(re.compile("automatic", re.I))
        assert FIRST in await finds(other, TITLE)

        lines, before = await state_lines(ada).count(), await bot(ada).count()
        await say(ada, "Where can I park?")
        await expect(ada.locator("li.turn--answer")).to_have_count(1)
        assert (await state_lines(ada).count(), await bot(ada).count()) == (lines, before + 1)
        for each in (desk, other):  # nobody is asked again
            await each.goto("/inbox/")
            await expect(each.locator("#list .row")).to_have_count(0)

        ben = await visitor()
        await say(ben, TITLE)
        card = ben.locator("li.turn--answer")
        await expect(card).to_have_count(1)
        told = [await shown(part) for part in await card.locator("blockquote .text").all()]
        assert [digest(part) for part in told] == [digest(FIRST), digest(SECOND)]
        await self.is_named_once_the_business_says_so(staff_page, name, ada, ben)

    async def is_named_once_the_business_says_so(self, staff_page, name, ada, ben):
        places = (
            ada.locator("li.turn--staff .turn__who").last,
            ben.locator("li.turn--answer .quotation__by"),
        )
        for place in places:
            await expect(place).not_to_contain_text(name)
        admin = await staff_page(
            "admin", password="admin-demo", path="/admin/chat/business/1/change/"
        )
        await admin.get_by_label("Show staff names").check()
        await admin.locator("[name=_save]").click()
        await expect(admin.locator(".messagelist")).to_be_visible()
        for page, place in zip((ada, ben), places, strict=True):
            await page.reload()
            await expect(place).to_contain_text(re.compile(f"{name}, (dental hyg|front desk)"))

    async def has_it(self, desk):
        state = desk.locator("#state")
        await expect(state).to_contain_text(re.compile("You have it|is on it"))
        return "You have it" in (await state.text_content() or "")

    async def sends(self, desk, ada, text, number):
        await desk.locator("#reply-text").fill(text)
        await desk.get_by_role("button", name="Send", exact=True).click()
        await expect(desk.locator("#reply-text")).to_have_value("")
        theirs = ada.locator("li.turn--staff[data-seq]")
        await expect(theirs).to_have_count(number)
        await expect(theirs.last.locator(".text")).to_have_text(text)

    async def asks_back(self, desk, ada):
        before = await bot(ada).count()
        await self.sends(desk, ada, ASKED_BACK, 1)
        await say(ada, "An upper one, on the left")
        await expect(desk.get_by_role("log")).to_contain_text("An upper one, on the left")
        await say(ada, "Where can I park?")  # known, and yet a person has the word
        await expect(desk.get_by_role("log")).to_contain_text("Where can I park?")
        await self.sends(desk, ada, FIRST, 2)
        assert await bot(ada).count() == before
        await expect(desk.locator("#state")).to_contain_text("You have it")
        assert FIRST not in await finds(desk, "rinse after an extraction")

    async def answers_in_two_messages(self, desk, ada):
        await desk.locator("#reply-text").fill(SECOND)
        await desk.get_by_role("button", name="Send and resolve").click()
        theirs = ada.locator("li.turn--staff[data-seq]")
        await expect(theirs).to_have_count(3)
        who = "dental hygienist|front desk"
        await expect(theirs.last.locator(".turn__who")).to_contain_text(re.compile(who))
        assert digest(await shown(theirs.last.locator(".text"))) == digest(SECOND)

    async def keeps_both_as_one(self, desk):
        await desk.get_by_role("heading", name="Resolve: what of this is kept?").wait_for()
        choices = desk.locator("fieldset.card")
        await expect(choices).to_have_count(3)
        kept = [choices.nth(n).get_by_role("radio", name="Keep for everyone") for n in (1, 2)]
        await choices.nth(0).get_by_role("radio", name="Do not keep").check()
        for each in kept:
            await each.check()
        title = desk.get_by_label("The question, as others will see it")
        await expect(title).to_have_value(QUESTION)
        await desk.get_by_role("radio", name=OTHER).check()
        await expect(title).to_have_value(OTHER)
        await desk.get_by_role("radio", name=QUESTION).check()
        await expect(title).to_have_value(QUESTION)
        await title.fill(TITLE)
        await no_barriers(desk)
        await desk.get_by_role("button", name="Keep and resolve").click()
        await expect(desk.get_by_role("status").first).to_contain_text("these very words")
