"""The desk in Chromium: live without reloading, first click wins, words and focus stay."""

import asyncio
import hashlib
import itertools

import pytest
from channels.db import database_sync_to_async as in_db_thread
from django.contrib.auth.models import User
from django.utils import timezone

from chat import conversations, handoff
from chat.models import Message
from escalations import broadcast, claim, reply
from escalations.models import Calendar, CannedReply, Draft, Escalation, Queue, StaffNote
from memory import services
from memory.models import Answer
from tests.browser.harness import PASSWORD, PHONE, WIDE, no_barriers
from tests.factories import make_conversation, make_customer, make_staff, make_topic

QUESTION = "How long should I wait before rinsing after an extraction?"
# An accent of its own, an invisible mark, emoji of several parts, spaces at both ends.
ODD = "  Wait 24 h – then salt water.\n\n½ tsp.\u00a0👩🏽‍⚕️ e\u0301 \u200fשלום "


@pytest.fixture
def practice(transactional_db):
    hours = {str(day): [["00:00", "24:00"]] for day in range(7)}
    calendar = Calendar.objects.create(name="Practice", weekly=hours)
    Queue.objects.create(name="Front desk", calendar=calendar, is_default=True)
    for name in ("sam", "kim"):
        user = make_staff(name)
        user.set_password(PASSWORD)
        user.save()


def _ask(name, text, conversation_id=None):
    now = timezone.now()
    conversation = (
        make_conversation(make_customer(name), started_at=now, last_message_at=now).pk
        if conversation_id is None
        else conversation_id
    )
    said = conversations.record_customer_message(
        conversation, client_id=f"{name}-{text}"[:60], text=text, now=now
    )
    handoff.hand_over(
        conversation,
        question=text,
        question_seq=said.message.seq,
        reason="no_answer",
        now=now,
    )
    return Escalation.objects.select_related("conversation").get(conversation_id=conversation)


def _say(escalation, text):
    conversations.record_customer_message(
        escalation.conversation_id, client_id=text[:60], text=text, now=timezone.now()
    )


ask, say = in_db_thread(_ask), in_db_thread(_say)


@pytest.fixture
def expect():
    from playwright.async_api import expect

    return expect


async def test_fills_up_live_and_keeps_the_focus(practice, staff_page, expect):
    await ask("Ada", "First?")
    page = await staff_page("sam")
    await page.get_by_role("link", name="First?").focus()
    await expect(page).to_have_title("(1) Inbox · Rapport")

    await ask("Ben", "Second?")

    await expect(page.get_by_role("link", name="Second?")).to_be_visible()
    await expect(page.get_by_role("link", name="First?")).to_be_focused()
    await expect(page).to_have_title("(2) Inbox · Rapport")


LISTEN = """() => {
  window.heard = [];
  window.beeps = 0;
  window.Notification = class {
    static permission = "granted";
    constructor(title, options) { window.heard.push(options.body); }
    addEventListener() {}
    close() {}
  };
  const still = () => {};
  window.AudioContext = class {
    currentTime = 0;
    createOscillator() {
      const start = () => { window.beeps++; };
      return { frequency: {}, connect: (to) => to, start, stop: still, addEventListener: still };
    }
    createGain() {
      const gain = { setValueAtTime: still, exponentialRampToValueAtTime: still };
      return { gain, connect: still };
    }
    close() {}
  };
  Object.defineProperty(document, "visibilityState", { get: () => "hidden", configurable: true });
}"""


async def test_rings_for_what_is_mine_only_after_consent(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    sam, kim = await User.objects.aget(username="sam"), await User.objects.aget(username="kim")
    now = timezone.now()
    await in_db_thread(claim.claim)(escalation.pk, staff=sam, now=now)
    # Whichever page is open; the test's own questions to it would break the policy.
    page = await staff_page("sam", path="/inbox/reports/", bypass_csp=True)
    await page.evaluate(LISTEN)

    await say(escalation, "Are you there?")
    await expect(page).to_have_title("(1) Reports · Rapport")
    assert await page.evaluate("window.beeps") == 0

    await page.get_by_label("You, sounds and help").click()
    await page.get_by_role("button", name="Tell me with a sound and a notice").click()
    await say(escalation, "Hello?")
    await page.wait_for_function("window.heard.includes('There is a new message for you')")

    other = await ask("Ben", "Second?")
    await page.wait_for_function("window.heard.includes('Somebody is waiting')")
    await expect(page).to_have_title("(2) Reports · Rapport")
    again = {"alert_step": 2, "alerted_at": timezone.now()}
    await Escalation.objects.filter(pk=other.pk).aupdate(**again)
    await in_db_thread(broadcast.changed)()
    await page.wait_for_function("window.heard.includes('Still waiting, and nobody has it')")
    await in_db_thread(claim.assign)(other.pk, to=sam, expected=None, by=kim, now=timezone.now())
    await page.wait_for_function("window.heard.includes('A colleague gave you a conversation')")
    await in_db_thread(handoff.hand_over)(
        other.conversation_id, question="I cannot breathe", question_seq=1, reason="emergency",
        now=timezone.now(), awaited=False,
    )  # fmt: skip
    words = "Something urgent in a conversation of yours"
    await page.wait_for_function(f"window.heard.includes('{words}')")
    assert not any("breathe" in heard for heard in await page.evaluate("window.heard"))


async def test_does_not_ring_for_what_is_on_the_screen(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    sam = await User.objects.aget(username="sam")
    await in_db_thread(claim.claim)(escalation.pk, staff=sam, now=timezone.now())
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")

    await say(escalation, "Are you there?")

    await expect(page.get_by_role("log")).to_contain_text("Are you there?")
    await expect(page).to_have_title("Inbox · Rapport")


async def test_keeps_the_place_in_a_long_list(practice, staff_page, expect):
    for n in range(30):
        await ask(f"C{n}", f"Question number {n}?")
    page = await staff_page("sam")
    scroller = page.locator("#list-scroll")
    await scroller.evaluate("e => { e.scrollTop = 400 }")

    await ask("Ben", "One more?")

    await expect(page.get_by_role("link", name="One more?")).to_be_attached()
    assert await scroller.evaluate("e => e.scrollTop") == 400


async def test_tells_the_slower_of_two_who_is_on_it(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    path = f"/inbox/{escalation.pk}/"
    one, two = await staff_page("sam", path=path), await staff_page("kim", path=path)
    # Neither page may hear of the other before it clicks.
    for page in (one, two):
        await page.get_by_role("button", name="Claim", exact=True).wait_for()

    await asyncio.gather(
        *(p.locator("#claim").evaluate("e => e.form.requestSubmit(e)") for p in (one, two))
    )

    await expect(one.locator("#state")).not_to_contain_text("Nobody has it")
    won = await Escalation.objects.select_related("claimed_by").aget(pk=escalation.pk)
    winner, loser = (one, two) if won.claimed_by.username == "sam" else (two, one)
    await expect(winner.locator("#state")).to_contain_text("You have it")
    name = won.claimed_by.first_name
    await expect(loser.locator("#state")).to_contain_text(f"{name} is on it")
    claimed = await Message.objects.filter(meta__state="claimed").acount()
    assert claimed == 1


async def test_asks_back_answers_and_keeps(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam")

    await page.get_by_role("link", name=QUESTION).click()
    await page.get_by_role("button", name="Claim", exact=True).click()
    box = page.get_by_role("textbox", name="Reply to Ada")
    await box.fill("Upper or lower?")
    await page.get_by_role("button", name="Send", exact=True).click()
    await expect(page.get_by_role("log")).to_contain_text("Upper or lower?")
    await expect(box).to_have_value("")
    await expect(page.locator("#state")).to_contain_text("You have it")
    assert not await Answer.objects.aexists()

    await say(escalation, "An upper one")
    await expect(page.get_by_role("log")).to_contain_text("An upper one")

    await box.fill(ODD)
    typed = hashlib.sha256((await box.input_value()).encode()).hexdigest()
    await page.get_by_role("button", name="Send and resolve").click()
    await page.get_by_role("heading", name="Resolve: what of this is kept?").wait_for()
    first = page.get_by_role("group", name="Message 1")
    await first.get_by_role("radio", name="Do not keep").check()
    second = page.get_by_role("group", name="Message 2")
    await second.get_by_role("radio", name="Keep for everyone").check()
    title = page.get_by_label("The question, as others will see it")
    await expect(title).to_have_value(QUESTION)
    await title.fill("When may I rinse after an extraction?")
    await no_barriers(page)
    await page.get_by_role("button", name="Keep and resolve").click()

    await expect(page.get_by_role("status")).to_contain_text("these very words")
    answer = await Answer.objects.aget()
    assert answer.title == "When may I rinse after an extraction?"
    assert [hashlib.sha256(p.encode()).hexdigest() for p in answer.parts] == [typed]


async def test_says_what_stays_unanswered_and_shows_what_is_unfolded(practice, staff_page, expect):
    escalation = await ask("Ada", "I can only come after work")
    for text in ("Do you have parking?", "Are you open on Saturdays?"):
        await ask("Ada", text, escalation.conversation_id)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    await page.get_by_role("textbox", name="Reply to Ada").fill("There is a garage to park in.")
    await page.get_by_role("button", name="Send and resolve").click()
    await page.get_by_role("heading", name="Resolve: what of this is kept?").wait_for()

    unanswered = page.locator("#unanswered")
    await expect(unanswered).to_contain_text("2 questions have no answer yet")
    await expect(unanswered.get_by_text("Do you have parking?")).to_be_hidden()
    await page.get_by_role("radio", name="Are you open on Saturdays?").check()
    await expect(unanswered.get_by_text("Do you have parking?")).to_be_visible()
    await expect(unanswered.get_by_text("Are you open on Saturdays?")).to_be_hidden()

    await page.get_by_text("Look at it again").click()
    await expect(page.get_by_label("Who does that")).to_be_in_viewport()


async def test_a_menu_closes_when_the_reply_is_begun(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    await page.get_by_text("Hand on").click()
    await expect(page.get_by_role("button", name="Give to Kim")).to_be_visible()

    await page.get_by_role("textbox", name="Reply to Ada").focus()

    await expect(page.get_by_role("button", name="Give to Kim")).to_be_hidden()


async def test_what_comes_in_while_another_chat_is_opened_stays_in_its_own(
    practice, staff_page, expect
):
    first, second = await ask("Ada", "First?"), await ask("Ben", "Second?")
    page = await staff_page("sam", path=f"/inbox/{first.pk}/")
    await page.get_by_role("log").wait_for()
    late = asyncio.Event()

    async def slow(route):
        await late.wait()
        await route.continue_()

    await page.route(f"**/inbox/live/*open={first.pk}*", slow)
    async with page.expect_request("**/inbox/live/*"):
        await say(first, "More of mine")
    await page.get_by_role("link", name="Second?").click()
    await expect(page.locator("#main-pane")).to_have_attribute("data-open", str(second.pk))
    async with page.expect_response(f"**/inbox/live/*open={second.pk}*"):
        late.set()

    await expect(page.get_by_role("log")).to_contain_text("Second?")
    await expect(page.get_by_role("log")).not_to_contain_text("More of mine")
    await expect(page.get_by_role("list", name="Questions")).to_have_text("Second?")


async def test_shows_what_came_in_before_a_reply_is_sent(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    box = page.get_by_role("textbox", name="Reply to Ada")
    await box.fill("Upper or lower")

    await say(escalation, "By the way, it is a lower one")

    notice = page.locator("#arrived")
    await expect(notice).to_contain_text("it is a lower one")
    await expect(box).to_have_value("Upper or lower")

    await page.get_by_role("button", name="Claim and send").click()
    await expect(notice).to_contain_text("Not sent yet")
    await expect(box).to_have_value("Upper or lower")

    await notice.get_by_role("button", name="I have read it").click()
    await box.fill("Then wait a day")
    await page.get_by_role("button", name="send", exact=False).first.click()
    await expect(page.get_by_role("log")).to_contain_text("Then wait a day")


async def test_keeps_half_written_words_through_updates_and_a_reload(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    box = page.get_by_role("textbox", name="Reply to Ada")
    await box.press_sequentially("Please wa")

    await ask("Ben", "Another one?")
    await in_db_thread(claim.claim)(escalation.pk, staff=await _user("sam"), now=timezone.now())
    await expect(page.locator("#state")).to_contain_text("You have it")
    await expect(box).to_be_focused()
    await box.press_sequentially("it")
    await expect(box).to_have_value("Please wait")

    await expect(page.locator("#saved")).to_have_text("✓")
    await page.reload()
    await expect(box).to_have_value("Please wait")
    assert (await Draft.objects.aget()).text == "Please wait"


async def test_says_saved_of_the_newest_words_alone_and_keeps_them(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    box = page.get_by_role("textbox", name="Reply to Ada")
    late, first = asyncio.Event(), asyncio.Event()

    async def hold_the_first(route):
        if not first.is_set():
            first.set()
            await late.wait()
        await route.continue_()

    await page.route("**/draft/", hold_the_first)
    async with page.expect_request("**/draft/"):
        await box.press_sequentially("Please wa")
    await box.press_sequentially("it")
    async with page.expect_response("**/draft/"):
        late.set()

    await expect(page.locator("#saved")).to_have_text("✓")
    assert (await Draft.objects.aget()).text == "Please wait"


async def test_what_was_read_while_a_draft_is_saved_is_known_as_read(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    box = page.get_by_role("textbox", name="Reply to Ada")
    late, first = asyncio.Event(), asyncio.Event()

    async def hold_the_first(route):
        if not first.is_set():
            first.set()
            await late.wait()
        await route.continue_()

    await page.route("**/draft/", hold_the_first)
    async with page.expect_request("**/draft/"):
        await box.press_sequentially("Please wait")
    await say(escalation, "It is a lower one")
    async with page.expect_response("**/inbox/*/send/"):
        await page.get_by_role("button", name="Claim and send").click()
    await page.get_by_role("button", name="I have read it").click()
    late.set()
    await expect(page.locator("#saved")).to_have_text("✓")

    await page.reload()
    await expect(box).to_have_value("Please wait")
    await expect(page.locator("#arrived")).not_to_contain_text("It is a lower one")


async def test_saves_what_could_not_be_saved_with_the_next_key(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    box = page.get_by_role("textbox", name="Reply to Ada")
    await page.route("**/draft/", lambda route: route.abort())
    async with page.expect_event("requestfailed"):
        await box.press_sequentially("Please wait")
    await expect(page.locator("#saved")).to_have_text("")
    await page.unroute("**/draft/")

    await box.press_sequentially(" ")
    await box.press("Backspace")

    await expect(page.locator("#saved")).to_have_text("✓")
    assert (await Draft.objects.aget()).text == "Please wait"


async def test_offers_ready_made_replies_by_a_slash(practice, staff_page, expect):
    await CannedReply.objects.acreate(shortcut="hours", text="We open at 8:00, {customer}.")
    await CannedReply.objects.acreate(shortcut="parking", text="Park behind the house.")
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    box = page.get_by_role("textbox", name="Reply to Ada")

    await box.press_sequentially("Hello. /ho")
    await expect(page.get_by_role("option")).to_have_count(1)
    await no_barriers(page)
    await box.press("Enter")

    await expect(box).to_have_value("Hello. We open at 8:00, Ada.")
    await expect(page.get_by_role("option")).to_have_count(0)


async def test_is_worked_by_keys_alone(practice, staff_page, expect):
    await ask("Ada", "First?")
    second = await ask("Ben", "Second?")
    page = await staff_page("sam")
    await page.locator("#panes").wait_for()

    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.locator("#work-title")).to_have_text("Ben")
    await page.keyboard.press("c")
    await expect(page.locator("#state")).to_contain_text("You have it")
    await page.keyboard.press("n")
    await page.keyboard.type("Call her brother.")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("log")).to_contain_text("Call her brother.")
    assert (await StaffNote.objects.aget()).conversation_id == second.conversation_id
    await page.keyboard.press("Escape")
    await page.keyboard.press("r")
    await page.keyboard.type("Yes, we do.")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("log")).to_contain_text("Yes, we do.")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await no_barriers(page)
    await page.keyboard.press("Escape")
    await page.keyboard.press("e")
    await expect(page.get_by_role("heading", name="Resolve: what of this is kept?")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("brother")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Search")).to_be_visible()


async def test_shows_colleagues_who_look_and_type(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    path = f"/inbox/{escalation.pk}/"
    one, two = await staff_page("sam", path=path), await staff_page("kim", path=path)

    await expect(one.locator("#state")).to_contain_text("Kim is looking")
    await two.get_by_role("textbox", name="Reply to Ada").press_sequentially("Hel")
    await expect(one.locator("#state")).to_contain_text("Kim is typing")
    await two.goto("/inbox/gaps/")
    await expect(one.locator("#state")).not_to_contain_text("Kim is")


async def test_this_answers_it_sends_the_very_words(practice, staff_page, expect):
    await Answer.objects.acreate(
        title=QUESTION, parts=[ODD], status="active", role="dental hygienist",
        said_at=timezone.now(), recorded_at=timezone.now(),
    )  # fmt: skip
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", path=f"/inbox/{escalation.pk}/")
    await no_barriers(page)

    await page.get_by_role("button", name="This answers it").click()

    await expect(page.get_by_role("log").locator(".answer")).to_be_visible()
    sent = await Message.objects.aget(kind="answer")
    assert hashlib.sha256(sent.text.encode()).digest() == hashlib.sha256(ODD.encode()).digest()


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_what_is_to_be_compared_can_be_read(practice, staff_page, viewport):
    def told():
        allergies = make_topic(
            "allergies", label="Allergies", permanent=True, sensitive=True,
            examples=["I'm allergic to ibuprofen"],
        )  # fmt: skip
        asked = _ask("Ada", "Which painkiller may I take?")
        now = timezone.now()
        services.remember(
            asked.conversation.customer_id, topic=allergies.key, value="ibuprofen",
            text="Allergic to ibuprofen", by="staff:1", now=now,
        )  # fmt: skip
        services.add_answer(
            title="Which painkiller may I take?",
            parts=["Ibuprofen, with food."],
            by="import",
            now=now,
        )
        services.embed_answers()
        return asked.pk

    page = await staff_page("sam", path=f"/inbox/{await in_db_thread(told)()}/", viewport=viewport)

    card = page.locator(".card--suggest")
    parts = [await part.bounding_box() for part in await card.locator(":scope > *").all()]
    room = (await card.bounding_box())["width"]
    assert len(parts) == 4  # the warning, the two sides, the answer's title, what to do
    for above, below in itertools.pairwise(parts):
        assert above["y"] + above["height"] <= below["y"] + 1
    assert all(part["width"] > 0.8 * room for part in parts)


async def test_works_without_javascript(practice, staff_page, expect):
    escalation = await ask("Ada", QUESTION)
    page = await staff_page("sam", java_script_enabled=False)

    await page.get_by_role("link", name=QUESTION).click()
    await page.get_by_role("button", name="Claim", exact=True).click()
    await page.get_by_role("textbox", name="Reply to Ada").fill("24 hours.")
    await page.get_by_role("button", name="Send and resolve").click()
    await page.get_by_role("button", name="Keep and resolve").click()

    done = await Escalation.objects.aget(pk=escalation.pk)
    assert done.resolution == "resolved"


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
async def test_has_no_barriers(practice, staff_page, viewport, scheme):
    escalation = await ask("Ada", QUESTION)
    await ask("Ada", "And tea?", escalation.conversation_id)
    await in_db_thread(make_topic)("preferred_time", label="Preferred time")
    page = await staff_page("sam", viewport=viewport, color_scheme=scheme)
    customer = escalation.conversation.customer_id
    for path in (
        "", "?list=resolved", f"{escalation.pk}/", f"chat/{escalation.conversation_id}/",
        f"customer/{customer}/", "gaps/", "search/?q=rinsing", "reports/", "answers/add/",
        "review/", "replay/", "mails/",
    ):  # fmt: skip
        await page.goto(f"/inbox/{path}")
        await no_barriers(page)


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
async def test_has_no_barriers_where_words_are_kept(practice, staff_page, viewport, scheme):
    escalation = await ask("Ada", QUESTION)
    sam = await _user("sam")
    await in_db_thread(claim.claim)(escalation.pk, staff=sam, now=timezone.now())
    for text in ("1. Rinse.\n2. Spit.", "We are closed today, all counters of ours are."):
        await in_db_thread(reply.send)(
            escalation.pk, staff=sam, text=text, seen_seq=None, now=timezone.now()
        )
    told = {"title": "Rinsing?", "parts": ["1. Rinse.\n2. Spit."], "by": "staff:1"}
    kept = await in_db_thread(services.add_answer)(**told, now=timezone.now())
    waits = await in_db_thread(services.propose_from_answer)(
        kept.pk, by="system", now=timezone.now()
    )
    page = await staff_page("sam", viewport=viewport, color_scheme=scheme)
    for path in (
        f"{escalation.pk}/keep/", f"answers/{kept.pk}/", f"answers/how-to/?answer={kept.pk}",
        f"answers/how-to/{waits.pk}/", "review/", "search/?q=rinsing",
    ):  # fmt: skip
        await page.goto(f"/inbox/{path}")
        for closed in await page.locator("main details:not([open]) > summary").all():
            await closed.click()
        await no_barriers(page)
        wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, path


async def _user(name):
    from django.contrib.auth.models import User

    return await User.objects.aget(username=name)
