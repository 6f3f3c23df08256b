"""The review queue by keyboard: one key decides, one undoes."""

import pytest
from channels.db import database_sync_to_async as in_db_thread
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import expect

from memory import services
from memory.models import Memory, Topic
from tests.browser.harness import PASSWORD, no_barriers
from tests.factories import make_customer, make_topic

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def a_proposal():
    User.objects.create_superuser("boss", password=PASSWORD)
    return services.propose(
        make_customer("Ada").pk,
        topic=make_topic("insurance_plan", label="Insurance plan").key,
        category="confirmed_fact",
        value="Aetna",
        text="Is with Aetna",
        evidence={},
        by="agent:scheduler",
        now=timezone.now(),
    )


async def test_one_key_decides_and_one_undoes(transactional_db, staff_page):
    proposal = await in_db_thread(a_proposal)()
    page = await staff_page("boss", path="/admin/memory/memory/review/")
    await expect(page.get_by_role("heading", name="Is this so?")).to_be_visible()
    await no_barriers(page)

    await page.keyboard.press("a")
    await expect(page.get_by_text("Decided: approve.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Nothing waits")).to_be_visible()
    assert (await in_db_thread(Memory.objects.get)(pk=proposal.pk)).status == "active"

    await page.keyboard.press("u")
    await expect(page.get_by_text("Undone.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Is this so?")).to_be_visible()
    assert (await in_db_thread(Memory.objects.get)(pk=proposal.pk)).status == "pending"


async def test_a_memorys_page_and_the_lists_have_no_barriers(transactional_db, staff_page):
    proposal = await in_db_thread(a_proposal)()
    # axe puts a style of its own into this page, which the policy would refuse.
    path = f"/admin/memory/memory/{proposal.pk}/change/"
    page = await staff_page("boss", path=path, bypass_csp=True)
    await expect(page.get_by_role("heading", name="The customer's exact words")).to_be_visible()
    await no_barriers(page)
    await page.goto(f"/admin/memory/customer/{proposal.customer_id}/as-of/")
    await expect(page.get_by_label("At the end of")).to_be_visible()
    await no_barriers(page)


async def test_the_desk_decides_by_key_shows_what_is_sensitive_and_undoes(
    transactional_db, staff_page
):
    proposal = await in_db_thread(a_proposal)()
    await Topic.objects.aupdate(sensitive=True)
    await Memory.objects.aupdate(sensitive=True)
    page = await staff_page("boss", path="/inbox/review/", bypass_csp=True)
    card = page.locator(f"#memory-{proposal.pk}")
    await expect(card).to_be_focused()
    await expect(card).not_to_contain_text("Is with Aetna")
    await no_barriers(page)

    await page.keyboard.press("s")
    await expect(card).to_contain_text("Is with Aetna")
    await expect(card).to_be_focused()

    await page.keyboard.press("r")
    await expect(page.get_by_text("Nothing to check.")).to_be_visible()
    assert (await Memory.objects.aget(pk=proposal.pk)).status == "rejected"

    await page.keyboard.press("u")
    await expect(card).to_be_visible()
    assert (await Memory.objects.aget(pk=proposal.pk)).status == "pending"
