"""Every page there is, small and zoomed, by day and by night: no barriers, no scrolling sideways.

Pages are counted by the addresses and the admin's models: a new one is looked at, or it is left out
here with a reason.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_db_thread
from django.contrib import admin
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from memory import services
from memory.models import Answer, Customer, Memory
from tests.browser.harness import PHONE, no_barriers
from tests.browser.test_chat_page import rows, say

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.slow]

ZOOMED = {"width": 640, "height": 400}  # a window of 1280 at 200 %
UNKNOWN = "How long should I wait before rinsing after an extraction?"
TEMPLATES = Path(__file__).parents[2] / "templates"

ACT = "takes a form and leads on to a page"
PART = "a part of a page, or a file"
LEFT_OUT = {
    **dict.fromkeys(
        [
            *(f"chat:{name}" for name in ("send", "choose", "person", "end", "rate", "email")),
            *("chat:new", "chat:not_me", "logout"),
            *(
                f"escalations:{name}"
                for name in (
                    *("mail_again", "claim", "release", "assign", "return", "send", "draft"),
                    *("send_answer", "look_at_request", "take_over", "note", "write_first", "look"),
                    *("customer_note", "add_fact", "correct", "confirm", "forget", "looked"),
                    *("decide", "look_at_card"),
                )
            ),
            *("admin:memory_review_decide", "admin:logout", "admin:view_on_site"),
        ],
        ACT,
    ),
    **dict.fromkeys(
        [
            *("escalations:live", "escalations:alerts", "escalations:csv", "theme"),
            *("admin:jsi18n", "admin:autocomplete", "admin:memory_customer_export"),
        ],
        PART,
    ),
    "admin:login": "leads to the one page for signing in",
}


def names(patterns: URLResolver | None = None, space: str = "") -> Iterator[str]:
    for one in (patterns or get_resolver()).url_patterns:
        if isinstance(one, URLResolver):
            yield from names(one, f"{one.namespace}:" if one.namespace else space)
        elif one.name and not space.startswith("api"):
            yield f"{space}{one.name}"


def pages() -> dict[str, list[str]]:
    """By name of the address, where it is with what there is to see."""
    from chat.models import Conversation, Turn
    from escalations.models import Escalation, Gap

    her = Memory.objects.latest("pk").customer_id
    answer = Answer.objects.filter(status="active").earliest("pk").pk
    mine = Escalation.objects.get(claimed_by__username="admin").pk
    services.propose_procedure(
        title="How do I clean it?", steps=["Rinse.", "Brush."], by="system", now=timezone.now()
    )
    how_to = Answer.objects.filter(status="pending").latest("pk")
    given: dict[str, list[Any]] = {
        "chat:back": ["no-such-link"],
        "escalations:detail": [mine],
        "escalations:keep": [mine],
        "escalations:chat": [Conversation.objects.latest("pk").pk],
        "escalations:customer": [her],
        "escalations:approve_how_to": [how_to.pk],
        "escalations:answer": [answer],
        "escalations:waiting": [Gap.objects.latest("pk").pk],
        "escalations:receipt": [Turn.objects.latest("pk").pk],
        "admin:memory_customer_as_of": [her],
        "admin:app_list": ["memory"],
        "admin:auth_user_password_change": [User.objects.earliest("pk").pk],
    }
    query = {
        "escalations:search": "?q=parking",
        "admin:memory_customer_erase": f"?pk={her}",
        "admin:memory_customer_merge": f"?visitor={_visitor()}&into={her}",
    }
    found: dict[str, list[str]] = {}
    assert set(LEFT_OUT) <= set(names()), "left out, and not there"
    for name in set(names()) - set(LEFT_OUT):
        model = re.fullmatch(r"admin:([a-z]+_[a-z]+)_(changelist|add|change|history|delete)", name)
        if model is None:  # those of models follow; history and deletion are Django's own
            found[name] = [reverse(name, args=given.get(name, [])) + query.get(name, "")]
    return found | dict(_of_models())


def _visitor() -> int:
    return int(Customer.objects.filter(kind="visitor").latest("pk").pk)


def _of_models() -> Iterator[tuple[str, list[str]]]:
    """The lists of the admin, an empty form of each and one of the newest row."""
    for model in admin.site._registry:
        start = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield f"{start}_changelist", [reverse(f"{start}_changelist")]
        yield f"{start}_add", [reverse(f"{start}_add")]
        newest = model._base_manager.order_by("pk").last()
        if newest is not None:
            pages_of = [reverse(f"{start}_{page}", args=[newest.pk]) for page in ("change",)]
            yield f"{start}_change", pages_of


def _remembered() -> None:
    admin_user = User.objects.get(username="admin")
    her = Customer.objects.filter(kind="identified").earliest("pk").pk
    services.propose(
        her, topic="insurance_plan", category="confirmed_fact", value="Acorn",
        text="Is with Acorn", evidence={}, by="agent:walk", now=timezone.now(),
    )  # fmt: skip
    services.remember(
        her, topic="appointment_times", value="mornings", text="Likes mornings", by="staff:1",
        now=timezone.now(),
    )  # fmt: skip
    services.issue_key("walk", user_id=admin_user.pk, by="staff:1", now=timezone.now())


def _claimed() -> None:
    from escalations import claim, reply
    from escalations.models import Escalation

    admin_user = User.objects.get(username="admin")
    pk = Escalation.objects.open().earliest("pk").pk
    claim.claim(pk, staff=admin_user, now=timezone.now())
    for text in ("1. Wait a day.\n2. Rinse gently.", "Your crown is ready on Tuesday."):
        reply.send(pk, staff=admin_user, text=text, seen_seq=None, now=timezone.now())


async def something_of_everything(visitor) -> Any:
    """Two who ask the same, one of whom ends her chat; a claim; what waits to be checked."""
    left, stays = await visitor(), await visitor()
    for page in (left, stays):
        page.set_default_timeout(60_000)  # a busy machine is no fault
        await say(page, "Where can I park?")
        await rows(page).nth(1).wait_for()
        await say(page, UNKNOWN)
        await page.locator("li.turn--state[data-seq]").first.wait_for()
    await in_db_thread(_claimed)()
    await in_db_thread(_remembered)()
    await left.get_by_label("More", exact=True).click()
    await left.get_by_role("button", name="End this conversation").click()
    await left.get_by_text("This conversation has ended.").wait_for()
    return left


async def answer_with_the_template(route) -> None:
    body = await in_db_thread(render_to_string)(route.request.url.rpartition("/")[2])
    await route.fulfill(body=body, content_type="text/html")


async def faults(page, what: str) -> list[str]:
    """What is wrong with the page as it stands, everything unfolded that can be."""
    for closed in await page.locator("main details:not([open]) > summary:visible").all():
        if await closed.is_visible():
            await closed.click()
    found = []
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    if (over := await page.evaluate(wide)) > 0:
        found.append(f"{what}: {over} px wider than the window")
    try:
        await no_barriers(page)
    except AssertionError as barriers:
        found.append(f"{what}: {barriers}")
    return found


# Each size and each scheme once: all four took ten minutes and differ by colours alone.
@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "dark"), (ZOOMED, "light")], ids=["360px, dark", "200%, light"]
)
@pytest.mark.timeout(900)
async def test_has_no_barriers_and_fits(visitor, staff_page, tab, size, scheme):
    look = {"viewport": size, "color_scheme": scheme, "bypass_csp": True}
    left = await something_of_everything(lambda: visitor(**look))
    found = await faults(left, "the chat that has ended")
    stranger = await tab("/login/", **look)
    stranger.set_default_timeout(60_000)
    await stranger.get_by_label("Name").fill("nobody")
    await stranger.get_by_label("Password").fill("nothing")
    await stranger.get_by_role("button", name="Sign in").click()
    found += await faults(stranger, "signing in, refused")
    for path in ("/login/", "/chat/", "/chat/as/", "/chat/privacy/", "/chat/back/none/"):
        await stranger.goto(path)
        found += await faults(stranger, path)
    await stranger.route("**/an-error/*.html", answer_with_the_template)
    for template in sorted(TEMPLATES.glob("[45]*.html")):
        await stranger.goto(f"/an-error/{template.name}")
        found += await faults(stranger, template.name)

    boss = await staff_page("admin", password="admin-demo", **look)
    boss.set_default_timeout(60_000)
    for name, paths in sorted((await in_db_thread(pages)()).items()):
        for path in paths:
            response = await boss.goto(path)
            if response.status == 403 and name.endswith("_add"):
                continue  # nobody adds such a row by hand
            assert response.status in (200, 410), f"{path} is {response.status}"
            found += await faults(boss, f"{name} {path}")
    assert not found, "\n\n".join(found)
