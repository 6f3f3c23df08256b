"""A dental practice for two weeks: a gap, the person who fills it, and what is remembered."""

import asyncio
import hashlib
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.async_api import expect

expect.set_options(timeout=15_000)  # a busy machine is no fault

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.timeout(240)]

QUESTION = "How long should I wait before rinsing after an extraction?"
OTHER_WORDS = "When can I rinse my mouth after a tooth was pulled?"
LIKELY = "What do I need for my first visit?"  # of an answer by another title
ANSWER = "Wait 24 hours.  Then rinse gently\n\n– lukewarm water, a pinch of salt.\u00a0Not cold!"


def box(page):
    return page.get_by_role("textbox", name="Your message")


async def say(page, text):
    await box(page).fill(text)
    await box(page).press("Enter")
    await expect(page.locator("li.turn--customer[data-seq] .text").last).to_have_text(text)


def bot(page):
    return page.locator("li.turn--bot[data-seq]")


def state_lines(page):
    return page.locator("li.turn--state[data-seq]")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


async def shown(locator):
    return await locator.evaluate("node => node.textContent")


async def hands_over(page, question=QUESTION):
    await say(page, question)
    await expect(state_lines(page).first).to_be_visible()


async def reply(desk, text, *, resolve=False):
    await desk.locator("#reply-text").fill(text)
    await desk.locator("#send-keep" if resolve else "#send").click()


class TestAGap:
    async def test_is_said_honestly_with_what_happens_next_and_when(self, visitor):
        ada = await visitor()

        await say(ada, QUESTION)

        await expect(bot(ada).first).to_contain_text(re.compile("asked a person|passed .* on"))
        await expect(state_lines(ada).last).to_contain_text(re.compile(r"\d"))  # when
        await expect(ada.locator("li.turn--answer")).to_have_count(0)

    async def test_does_not_silence_what_is_known_and_takes_further_questions(
        self, visitor, staff_page
    ):
        ada = await visitor()
        await hands_over(ada)

        await say(ada, "Where can I park?")
        await expect(ada.locator("li.turn--answer")).to_have_count(1)
        await say(ada, "What should a new patient bring to the first visit?")
        await expect(ada.locator("li.turn--answer")).to_have_count(2)
        await say(ada, "Is there a play area for my dog?")
        await expect(bot(ada).last).not_to_have_class(re.compile("turn--answer"))
        if await ada.locator("li.turn--offer").count():
            await ada.get_by_role("button", name="Something else").click()
        await expect(state_lines(ada)).to_have_count(2)

        desk = await staff_page("kim", password="kim-demo")
        row = desk.locator("#list .row")
        await expect(row).to_have_count(1)
        await row.click()
        # Opened while the list is read anew: the customer's pane comes with it all the same.
        await expect(desk.locator("#side-pane")).to_contain_text("What we know")
        questions = desk.get_by_role("list", name="Questions").get_by_role("listitem")
        await expect(questions).to_have_count(2)
        await expect(questions.last).to_contain_text("my dog")


class TestAPersonsAnswer:
    async def test_comes_live_and_helps_the_next_customer_in_its_very_words(
        self, visitor, staff_page
    ):
        desk = await staff_page("kim", password="kim-demo")
        ada = await visitor()
        await hands_over(ada)
        await desk.locator("#list .row").click()
        await desk.locator("#claim").click()
        await expect(desk.get_by_text("You have it")).to_be_visible()

        await reply(desk, ANSWER, resolve=True)
        theirs = ada.locator("li.turn--staff")
        await expect(theirs).to_have_count(1)
        await expect(theirs.locator(".turn__who")).to_contain_text("dental hygienist")
        await expect(theirs.locator(".turn__who")).not_to_contain_text("Kim")
        assert digest(await shown(theirs.locator(".text"))) == digest(ANSWER)

        await desk.get_by_label("Keep for everyone").check()
        title = desk.get_by_label("The question, as others will see it")
        await expect(title).to_have_value(QUESTION)
        await desk.get_by_role("button", name="Keep and resolve").click()

        # The bot has the conversation again, and does not hand over what it does not have to.
        await expect(state_lines(ada).last).to_contain_text(re.compile("automatic", re.I))
        await say(ada, "Thank you!")
        await expect(bot(ada).last).to_contain_text(re.compile("welcome|gladly", re.I))

        ben = await visitor()
        await say(ben, QUESTION)
        card = ben.locator("li.turn--answer")
        by = card.locator(".quotation__by")
        await expect(by).to_contain_text("dental hygienist")
        await expect(by.locator("time")).to_have_text(re.compile(r"\d \w+ 20\d\d"))
        assert digest(await shown(card.locator(".text"))) == digest(ANSWER)

        await say(ben, OTHER_WORDS)
        choice = ben.locator("li.turn--offer").get_by_role("button", name=QUESTION)
        await choice.click()
        await expect(ben.locator("li.turn--answer")).to_have_count(2)
        assert digest(await shown(ben.locator("li.turn--answer .text").last)) == digest(ANSWER)

        # Ben's wording was never shown to anybody, nor Ada's conversation to Ben.
        await expect(ada.get_by_text(OTHER_WORDS)).to_have_count(0)

    async def test_that_was_not_meant_hands_over_the_customers_own_question(
        self, visitor, staff_page
    ):
        ben = await visitor()
        await say(ben, LIKELY)
        offer = ben.locator("li.turn--offer")
        await expect(offer).to_have_count(1)

        await offer.get_by_role("button", name="Something else").click()

        await expect(state_lines(ben).last).to_be_visible()
        await expect(offer.get_by_role("button").first).to_be_disabled()
        desk = await staff_page("sam", password="sam-demo")
        await expect(desk.locator("#list .row")).to_contain_text(LIKELY)

    async def test_is_chosen_once_for_all_tabs(self, visitor):
        left = await visitor()
        right = await visitor(beside=left)
        await say(left, LIKELY)
        buttons = "li.turn--offer button"
        await expect(right.locator(buttons).first).to_be_enabled()

        await right.locator(buttons).first.click()

        await expect(left.locator("li.turn--choice")).to_have_count(1)
        await expect(right.locator("li.turn--choice")).to_have_count(1)
        for tab in (left, right):
            await expect(tab.locator(buttons).first).to_be_disabled()
        await expect(left.locator("li.turn--answer")).to_have_count(1)
        await expect(right.locator("li.turn--answer")).to_have_count(1)


class TestWhatIsRemembered:
    async def test_is_used_a_week_later_for_this_customer_alone(
        self, visitor, staff_page, start_worker, monkeypatch
    ):
        ada = await visitor()
        await say(ada, "I only ever come in the mornings, and please e-mail me, don't call")
        await expect(bot(ada).first).to_be_visible()
        await ada.get_by_label("More", exact=True).click()
        await ada.get_by_role("button", name="End this conversation").click()
        await expect(ada.get_by_text("This conversation has ended.")).to_be_visible()

        start_worker()  # late: what was said waits as a row
        await ada.get_by_role("button", name="Start a new conversation").click()
        await self.until_known(ada, "morning", "e-mail")

        at_first = timezone.now
        monkeypatch.setattr(timezone, "now", lambda: at_first() + timedelta(days=7))
        await say(ada, "I'd like to book a cleaning")
        await expect(bot(ada).last).to_contain_text(re.compile("You like .*morning"))
        desk = await staff_page("sam", password="sam-demo")
        await desk.locator("#list .row").first.click()
        await expect(desk.locator("#main-pane")).to_contain_text(re.compile("morning"))

        ben = await visitor()
        await say(ben, "What do you know about me?")
        await expect(bot(ben).first).to_contain_text("not noted anything")
        await say(ben, "I'd like to book a cleaning")
        await expect(bot(ben).nth(1)).not_to_contain_text(re.compile("morning"))

    async def until_known(self, page, *words):
        known = ""
        for _ in range(30):
            before = await bot(page).count()
            await say(page, "What do you know about me?")
            await expect(bot(page).nth(before)).to_be_visible(timeout=20_000)
            await asyncio.sleep(1)
            known = " ".join((await bot(page).all_text_contents())[before:]).lower()
            if all(word in known for word in words):
                return
        raise AssertionError(f"the worker did not remember in time: {known}")
