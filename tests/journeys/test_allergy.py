"""An allergy, and an answer that names it: a person decides, with both before her eyes."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.harness import no_barriers
from tests.journeys.test_practice import bot, digest, say, shown, state_lines

expect.set_options(timeout=15_000)  # a busy machine is no fault

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.timeout(240)]

ASKED = "What helps against the pain after a tooth was pulled?"
WORDS = "Take ibuprofen, 400 mg, after a meal.  Never more than three a day."
ALLERGY = "I'm allergic to ibuprofen."


async def adds_an_answer(desk):
    """Kim writes what she is asked again and again."""
    await desk.get_by_role("link", name="Add answer").first.click()
    await desk.get_by_label("The question, as you would put it").fill(ASKED)
    await desk.get_by_label("The answer, word for word").fill(WORDS)
    await desk.get_by_role("button", name="Add it").click()


class TestAnAllergyAndAnAnswerThatNamesIt:
    async def test_nothing_is_said_till_a_person_has_compared_the_two(self, visitor, staff_page):
        desk = await staff_page("kim", password="kim-demo")
        await adds_an_answer(desk)
        ben = await visitor()
        await say(ben, ASKED)
        await expect(ben.locator("li.turn--answer, li.turn--offer")).to_have_count(1)

        ada = await visitor()
        await say(ada, ALLERGY)
        await expect(bot(ada).first).to_be_visible()
        await say(ada, ASKED)
        await expect(state_lines(ada).last).to_be_visible()
        await expect(ada.locator("li.turn--answer, li.turn--offer")).to_have_count(0)

        await desk.goto("/inbox/")
        await desk.locator("#list .row").click()
        beside = desk.locator(".card--suggest").filter(has_text="touches what this customer told")
        await expect(beside.first).to_be_visible()
        sides = beside.first.locator(".desk__sides > div")
        await expect(sides.first).to_contain_text("allergic to ibuprofen")
        await expect(sides.last).to_contain_text("400 mg")
        await no_barriers(desk)

        send = beside.first.get_by_role("button", name=re.compile("This answers it"))
        await send.click()  # the box is not ticked: the browser asks for it
        await expect(ada.locator("li.turn--answer")).to_have_count(0)
        box = beside.first.get_by_role("checkbox")
        await box.focus()
        await desk.keyboard.press("Space")
        await send.focus()
        await desk.keyboard.press("Enter")

        card = ada.locator("li.turn--answer")
        await expect(card).to_have_count(1)
        assert digest(await shown(card.locator(".text"))) == digest(WORDS)

    async def test_is_left_out_where_one_answer_goes_to_all_who_wait(self, visitor, staff_page):
        asked = "Is there a play area for my dog in the yard while I am being treated?"
        words = "Behind the house. Carry no ibuprofen there, please: dogs find every pill."
        ada, ben = await visitor(), await visitor()
        await say(ada, ALLERGY)
        await expect(bot(ada).first).to_be_visible()
        for page in (ada, ben):
            before = await bot(page).count()
            await say(page, asked)
            await expect(bot(page).nth(before)).to_be_visible()
            if await page.locator("li.turn--offer").count():
                await page.get_by_role("button", name="Something else").click()
            await expect(state_lines(page).last).to_be_visible()

        desk = await staff_page("kim", password="kim-demo", path="/inbox/gaps/")
        await desk.get_by_role("link", name=f"Answer: {asked}").click()
        await desk.get_by_role("link", name="Write the answer").click()
        await desk.get_by_label("The answer, word for word").fill(words)
        await desk.get_by_role("button", name="Add it").click()

        left_out = desk.get_by_role("region", name="Left out: somebody compares first")
        await expect(left_out).to_contain_text("Allergies")
        await expect(desk.get_by_role("checkbox")).to_have_count(1)
        await no_barriers(desk)
        await desk.get_by_role("button", name="Answer them").click()

        await expect(ben.locator("li.turn--answer")).to_have_count(1)
        await expect(ada.locator("li.turn--answer")).to_have_count(0)
