"""What a customer asks to forget is gone from the log too: her rows stay, and say so."""

import json

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.core import serializers
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat import conversations, feed, identity
from chat.models import Message
from escalations.models import Escalation, Question
from escalations.search import search
from memory import pipeline, services
from memory.models import Episode, Memory, Topic
from memory.types import GONE
from tests.chat.conftest import told
from tests.chat.test_door import Tab, of, texts, token_of
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)

PLAN = "My insurance plan is Acorn Health."


@pytest.fixture(autouse=True)
def topics(db, settings):
    settings.CHAT_BURST_MS = 0
    Topic.objects.create(
        key="insurance_plan",
        category="confirmed_fact",
        cardinality="one",
        label="Insurance plan",
        description="The plan that pays for this customer now.",
        examples=["My insurance plan is Birch", "I'm with Cedar now", "we switched to Elm"],
    )


def say(chat, *messages):
    for text in messages:
        async_to_sync(told)(chat.pk, text)


def remembered(ada, *messages):
    """Have a chat, end it, and let memory read it."""
    chat = conversations.start(ada.pk, now=NOW, verified=True)
    say(chat, *messages)
    conversations.close(chat.pk, reason="ended", now=NOW)
    for episode in Episode.objects.filter(processed_at=None):
        pipeline.run(episode.pk, now=NOW)
    return chat


def everything(but=()):
    """All rows of all apps, as text."""
    apps_with_words = (apps.get_app_config(app) for app in ("chat", "memory", "escalations"))
    models = [m for app in apps_with_words for m in app.get_models() if m not in but]
    rows = [o for m in models for o in m._default_manager.all()]
    return serializers.serialize("json", rows)


@pytest.mark.parametrize(
    "request_to_forget",
    ["Forget my insurance plan", "Please forget that my insurance plan is Acorn Health."],
)
def test_the_words_of_an_earlier_chat_are_gone_from_every_copy(ada, request_to_forget):
    before = remembered(ada, PLAN, "Does it cover implants?")
    assert Memory.objects.get(kind="fact").value
    chat = conversations.start(ada.pk, now=NOW, verified=True)

    say(chat, request_to_forget)

    assert "Acorn" not in everything()
    assert before.messages.get(seq=1).text.rstrip(".") == GONE
    assert before.messages.filter(text="Does it cover implants?").exists()
    assert GONE in json.dumps(services.export(ada.pk, now=NOW), default=str)
    assert search("Acorn").nothing


def test_what_was_told_a_minute_ago_goes_too(chat):
    say(chat, PLAN, "Forget my insurance plan, please")
    conversations.close(chat.pk, reason="ended", now=NOW)
    for episode in Episode.objects.all():
        pipeline.run(episode.pk, now=NOW)

    assert "Acorn" not in everything()
    assert not Memory.objects.filter(status="active", kind="fact").exists()


def test_what_else_stands_in_the_message_stays(chat):
    say(chat, "Where can I park? My insurance plan is Acorn Health.", "Forget my insurance plan")

    assert chat.messages.get(seq=1).text.startswith("Where can I park? [removed")


def test_another_customer_and_the_words_of_staff_are_left_alone(ada, ben, sam, chat):
    other = conversations.start(ben.pk, now=NOW, verified=True)
    say(other, PLAN)
    say(chat, PLAN)
    conversations.post_staff_reply(chat.pk, text="Acorn Health pays for that.", staff=sam, now=NOW)
    conversations.release(chat.pk, state="returned", now=NOW)

    say(chat, "Forget my insurance plan")

    assert other.messages.get(seq=1).text == PLAN
    assert chat.messages.filter(sender="staff", text="Acorn Health pays for that.").exists()
    assert not chat.messages.filter(sender="customer", text__contains="Acorn").exists()


def test_the_desk_no_longer_reads_it_either(chat):
    say(chat, PLAN, "Can somebody call me about Acorn Health? I want to talk to a person")
    assert "Acorn" in everything(but=(Message,))

    say(chat, "Forget my insurance plan")

    assert Question.objects.exists()
    assert "Acorn" not in everything(but=())
    assert Escalation.objects.get().questions.filter(text__contains=GONE).exists()


def test_a_request_that_was_carried_out_is_not_carried_out_again(ada, chat):
    """What is left of its words might mean another topic."""
    Topic.objects.create(
        key="visit_times",
        category="preference",
        cardinality="one",
        label="Visit times",
        examples=["I like mornings best", "late afternoons suit me"],
    )
    remembered(ada, PLAN, "I always come in the mornings.")
    kept = Memory.objects.filter(status="active", kind="fact").count()
    again = conversations.start(ada.pk, now=NOW, verified=True)

    say(again, "Forget that my insurance plan is Acorn Health.")
    conversations.close(again.pk, reason="ended", now=NOW)
    for episode in Episode.objects.filter(processed_at=None):
        pipeline.run(episode.pk, now=NOW)

    assert Memory.objects.filter(status="active", kind="fact").count() == kept - 1


async def test_every_open_tab_shows_it_at_once(ada):
    token = await token_of(ada)
    async with Tab(token) as one, Tab(token) as two:
        await one.say(PLAN)
        await two.heard(2)
        mine = await one.say("Forget my insurance plan", rows=4)
        others = await two.heard(4)

    for heard in (mine, others):
        changed = {f["row"]["seq"]: f["row"]["text"] for f in of(heard, "row")}
        assert changed[1].rstrip(".") == GONE
        assert "Acorn" not in "".join(texts(heard))


async def test_a_tab_that_was_away_gets_the_row_as_it_is_now(ada, chat):
    await told(chat.pk, PLAN)
    await told(chat.pk, "Forget my insurance plan")

    async with Tab(await token_of(ada), after=2, conversation=chat.pk) as tab:
        seqs = [f["row"]["seq"] for f in of(tab.greeting, "row")]

    assert seqs[0] == 1
    assert seqs[-1] == 4


def test_without_a_script_the_page_shows_it(ada, chat):
    say(chat, PLAN, "Forget my insurance plan")
    page = Client()
    page.cookies[identity.COOKIE] = identity.issue(ada.pk, address="", now=timezone.now())

    shown = page.get(reverse("chat:page")).content.decode()

    assert GONE in shown
    assert "Acorn" not in shown
    assert feed.since(ada.pk, conversation_id=chat.pk, after=99).rows == []


def test_the_questions_that_her_own_answers_stand_under_lose_them_too(ada, sam, chat):
    services.capture_answer(
        title="Is my Acorn Health bridge ready?", parts=["On Monday."], scope="customer",
        customer_id=ada.pk, staff_id=sam.pk, role="receptionist", now=NOW,
    )  # fmt: skip
    say(chat, PLAN, "Is my Acorn Health bridge ready?", "is my bridge ready by now?")
    assert {m.kind for m in chat.messages.filter(kind__in=("answer", "offer"))} == {
        "answer",
        "offer",
    }
    shown = feed.since(ada.pk, conversation_id=chat.pk)

    say(chat, "Forget my insurance plan")

    assert "Acorn" not in everything()
    card = chat.messages.filter(kind="answer").first()
    assert card.text == card.meta["parts"][0] == "On Monday."
    again = feed.since(ada.pk, conversation_id=chat.pk, after=shown.rows[-1]["seq"])
    assert {"answer", "offer"} <= {row["kind"] for row in again.rows}  # an open tab has them anew
