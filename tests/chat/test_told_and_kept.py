"""What the bot says it has noted is kept, corrected and forgotten as it says."""

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync

from chat import conversations, turns
from chat.frames import Person
from chat.llm.base import Noted, Situation
from chat.llm.intents import Kind, Reading
from chat.llm.verbatim import decide
from chat.models import Message
from memory import services, tasks
from memory.models import Memory, Topic
from memory.types import AnswerFor
from tests.chat.conftest import run, told
from tests.factories import NOW, make_customer, make_topic

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def topics(db, settings):
    settings.CHAT_BURST_MS = 0
    make_topic(
        "allergies",
        label="Allergies",
        description="What the customer is allergic to.",
        examples=["I'm allergic to penicillin", "I can't have nuts, I swell up"],
        sensitive=True,
        cardinality="many",
    )
    make_topic(
        "times",
        category="preference",
        label="Preferred times",
        description="When the customer likes to come.",
        examples=["I only come in the mornings", "evenings suit me", "Mondays are best"],
    )


def say(chat, text, *, after=0):
    async_to_sync(told)(chat.pk, text, now=NOW + timedelta(minutes=after), client_id=text)
    return chat.messages.filter(sender="bot").order_by("seq").last().text


def close(chat):
    conversations.close(chat.pk, reason="ended", now=NOW + timedelta(hours=1))
    tasks.sweep()


def rows(chat):
    return " ".join(Message.objects.filter(conversation=chat).values_list("text", flat=True))


@pytest.fixture
def visitor_chat(db):
    return conversations.start(
        make_customer("visitor 1", kind="visitor").pk, now=NOW, verified=False
    )


def test_a_visitor_is_told_that_what_is_sensitive_is_kept_for_this_chat_alone(visitor_chat, chat):
    assert "in this chat" in say(visitor_chat, "I'm allergic to latex")
    assert "in this chat" not in say(visitor_chat, "I only ever come in the mornings", after=1)
    assert "in this chat" not in say(chat, "I'm allergic to latex")


def test_the_words_of_a_request_to_forget_are_removed_with_what_they_name(chat, ada):
    told_once = {"text": "Latex makes me swell up.", "value": "swells up from latex"}
    Memory.objects.create(
        customer=ada,
        topic=Topic.objects.get(key="allergies"),
        category="confirmed_fact",
        stated_at=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
        **told_once,
    )

    say(chat, "please forget that I am allergic to latex")

    assert "latex" not in rows(chat)


def test_a_request_that_says_nothing_of_her_stays_as_it_is(chat):
    say(chat, "I only ever come in the mornings")

    say(chat, "please forget my preferred times", after=1)

    assert "mornings" not in rows(chat)
    assert "please forget my preferred times" in rows(chat)


def test_a_correction_by_staff_is_not_talked_over_by_what_was_said_before_it(chat, ada):
    say(chat, "I only ever come in the mornings")
    close(chat)
    memory = Memory.objects.get(customer=ada, topic__key="times", status="active")
    newer = conversations.start(ada.pk, now=NOW + timedelta(hours=2), verified=True)
    say(newer, "evenings suit me better now", after=121)
    services.correct(
        memory.pk,
        value="Mondays",
        text="Only Mondays, after three.",
        by="staff:1",
        now=NOW + timedelta(minutes=125),
    )

    reply = say(newer, "when do I like to come?", after=130)

    assert "Only Mondays, after three" in reply
    assert "evenings" not in reply
    newer.refresh_from_db()
    recalled = services.recall(
        ada.pk,
        "when do I like to come?",
        now=NOW + timedelta(minutes=130),
        working=newer.working_memory,
    )
    assert [f.text for f in recalled.facts if f.topic == "times"] == ["Only Mondays, after three."]


def test_the_buttons_words_are_nothing_that_a_customer_told(chat, ada):
    make_topic(
        "contact",
        category="preference",
        label="Preferred way to be reached",
        description="How the customer wants to be contacted.",
        examples=["please write to me", "I would like to talk on the phone", "call me"],
    )
    async_to_sync(run)(turns.take_turn(chat.pk, Person("p"), now=NOW))
    close(chat)

    assert not Memory.objects.filter(customer=ada, kind="fact").exists()


@pytest.mark.parametrize(("likely", "passed_on"), [(0.38, False), (0.97, True)])
def test_what_is_noted_is_passed_on_too_only_if_it_clearly_reports_something(likely, passed_on):
    reading = Reading(Kind.REPORT, "", {Kind.REPORT.value: likely})
    said = "I cannot come on Thursday"
    fact = {"topic": "times", "text": said, "quote": said, "category": "preference"}

    moves, need = decide(Situation(said, reading, told=(fact,), answer=AnswerFor("gap")))

    assert [type(m) for m in moves] == [Noted]
    assert (need is not None) == passed_on


def test_a_question_that_leans_on_what_was_told_is_asked_with_it(chat):
    for title in ("Do you take cash?", "Do you take Acorn Health?", "Can I take it with me?"):
        services.add_answer(
            title=title, parts=["Yes."], by="staff:1", author_name="Kim", role="desk", now=NOW
        )
    make_topic(
        "plan",
        label="Insurance plan",
        description="Which insurance the customer has.",
        examples=["I have Birch insurance", "my plan is Acorn Health"],
    )

    say(chat, "I have Acorn Health insurance. Do you take it?")

    shown = chat.messages.filter(kind__in=("offer", "answer")).last().meta
    first = shown.get("title") or shown["choices"][0]["title"]
    assert first == "Do you take Acorn Health?"
