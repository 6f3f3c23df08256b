"""What a customer says of herself: asked for, replaced by the newer word, put right by staff."""

import re

import pytest
from playwright.async_api import expect

from tests.journeys.test_practice import bot, say

expect.set_options(timeout=15_000)  # a busy machine is no fault

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.timeout(240)]


async def replies(page, text):
    """Say `text`, and return the row that the bot adds."""
    before = await bot(page).count()
    await say(page, text)
    await expect(bot(page).nth(before)).to_be_visible()
    return bot(page).nth(before)


async def starts_anew(page):
    await page.get_by_label("More", exact=True).click()
    await page.get_by_role("button", name="End this conversation").click()
    await expect(page.get_by_text("This conversation has ended.")).to_be_visible()
    await page.get_by_role("button", name="Start a new conversation").click()
    await expect(page.get_by_role("textbox", name="Your message")).to_be_enabled()


class TestWhatIsNotKnownOfHer:
    async def test_is_asked_for_remembered_at_once_and_used_two_messages_later(self, visitor):
        ada = await visitor()

        asked = await replies(ada, "When do I like to come?")
        await expect(asked).to_contain_text(
            "I do not have a record of your preference for this, could you remind me?"
        )
        noted = await replies(ada, "Early mornings, before work")
        await expect(noted).to_contain_text(re.compile("mornings", re.I))
        await replies(ada, "Where can I park?")
        used = await replies(ada, "So when do I like to come?")

        await expect(used).to_contain_text(re.compile("mornings", re.I))

    async def test_is_never_asked_back_where_only_the_business_can_know(self, visitor):
        ada = await visitor()

        handed = await replies(ada, "How long does the anaesthetic for a root canal last?")

        await expect(handed).not_to_contain_text("remind me")
        await expect(ada.locator("li.turn--state[data-seq]").last).to_be_visible()


class TestANewerWord:
    async def test_ends_the_old_one_also_while_the_worker_is_down(
        self, visitor, staff_page, start_worker
    ):
        ada = await visitor()
        await replies(ada, "My dental insurance is Cigna")
        await starts_anew(ada)
        await replies(ada, "I moved to Delta Dental, that is my insurance now")
        await starts_anew(ada)  # nobody has read either of the two conversations yet

        unread = await replies(ada, "Which insurance plan do you have for me?")
        await expect(unread).not_to_contain_text("Cigna")
        listed = await replies(ada, "What do you know about me?")
        await expect(listed).not_to_contain_text("Cigna")
        await expect(ada.get_by_text("not noted yet. I leave out")).to_be_visible()

        start_worker()
        for _ in range(30):
            known = await replies(ada, "Which insurance plan do you have for me?")
            await expect(known).not_to_contain_text("Cigna")
            if "Delta Dental" in (await known.text_content() or ""):
                break
        else:
            raise AssertionError("the worker did not remember in time")

        admin = await staff_page("admin", password="admin-demo", path="/admin/memory/memory/")
        await admin.get_by_role("link", name="superseded", exact=True).click()
        await admin.get_by_role("link", name=re.compile("Cigna")).click()
        history = admin.locator("#content")
        await expect(history).to_contain_text("My dental insurance is Cigna")  # her very words
        await expect(history).to_contain_text(re.compile("Delta Dental"))  # what took its place


class TestAnAdmin:
    async def test_corrects_a_fact_and_the_next_answer_uses_the_correction(
        self, visitor, staff_page, start_worker
    ):
        ada = await visitor()
        await replies(ada, "When do I like to come?")
        await replies(ada, "Early mornings, before work")
        start_worker()

        ben = await visitor()
        await replies(ben, "When do I like to come?")
        await replies(ben, "Late evenings, after work")

        admin = await staff_page("admin", password="admin-demo", path="/admin/memory/memory/")
        rows = admin.locator("#result_list tbody tr")
        his = rows.filter(has_text="Late evenings")
        await expect(his).to_have_count(1)
        who = await rows.filter(has_text="Early mornings").locator(".field-customer").inner_text()
        await admin.goto("/admin/memory/customer/")
        await admin.get_by_role("link", name=who, exact=True).click()
        await admin.get_by_role("link", name="Only these in the list of memories").click()
        await expect(his).to_have_count(0)
        await rows.get_by_role("link", name=re.compile("Early mornings")).click()
        await expect(admin.locator("#content")).to_contain_text("Early mornings, before work")
        value = admin.locator("[name=value]")
        await value.fill("afternoons")
        text = admin.locator("[name=text]")
        if await text.count():
            await text.fill("Likes afternoons.")
        await admin.locator("[name=_save]").click()
        await expect(admin.locator(".messagelist")).to_contain_text("Preferred times")
        await admin.goto(admin.url.split("?")[0] + "?status__exact=active")
        await admin.get_by_role("link", name=re.compile("afternoons", re.I)).first.click()
        history = admin.locator("#content")
        await expect(history).to_contain_text("Early mornings, before work")  # what she wrote
        await expect(history).to_contain_text("afternoons")

        used = await replies(ada, "When do I like to come?")
        await expect(used).to_contain_text(re.compile("afternoons", re.I))
        await expect(used).not_to_contain_text(re.compile("mornings", re.I))
