"""A secret that a customer types is hidden at every door; an ordinary number is not."""

import json

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.core import serializers
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat import conversations, identity, turns
from chat.frames import Person, Say
from chat.llm.base import Remark
from chat.llm.scripted import Scripted
from chat.models import Conversation, Message
from escalations.models import Question
from memory import services
from tests.chat.conftest import run, told
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)

SECRETS = [
    ("Can you charge 4111 1111 1111 1111 today?", "4111 1111 1111 1111", "a card number"),
    ("it is 5500005555555559, cvv 737, ok?", "5500005555555559", "a card number"),
    ("amex 3782-822463-10005 works too", "3782-822463-10005", "a card number"),
    ("my password is hunter2! why is it refused?", "hunter2!", "a password"),
    ("The PIN is 4821, does that help?", "4821", "a password"),
    ("they texted me the code 482913, what now?", "482913", "a one-time code"),
    ("My verification code is 482 913. Is it enough?", "482 913", "a one-time code"),
    ("use sk-proj-a8f3k2l9d0s7f6g5h4 for our shop", "sk-proj-a8f3k2l9d0s7f6g5h4", "a key"),
]
ORDINARY = [
    "My number is +49 151 2345 6789 01, call after 3.",
    "call me at (607) 555-0188",
    "My member ID is DDX-0049317-02.",
    "member id: 4539578763621486",
    "order 4539578763621486 has not come",
    "tracking 9400 1000 0000 0000 0000 00",
    "Order 123e4567-e89b-12d3-a456-426614174000 is late",
    "I can't log in, my order is 123456",
    "the security deposit was 1200",
    "please verify my member number 4821377",
    "born 12.03.1984, file 20391",
    "the zip code is 13820",
    "My password is wrong again",
]


def everything():
    """All rows of all apps, as text."""
    rows = [
        o
        for app in ("chat", "memory", "escalations")
        for model in apps.get_app_config(app).get_models()
        for o in model._default_manager.all()
    ]
    return serializers.serialize("json", rows)


def notices(chat):
    return list(chat.messages.filter(meta__state="hidden").values_list("text", flat=True))


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_a_secret_is_stored_nowhere_and_she_is_told_plainly(chat, text, secret, kind):
    async_to_sync(told)(chat.pk, text)
    conversations.close(chat.pk, reason="ended", now=NOW)

    said = chat.messages.get(seq=1).text
    assert secret not in everything()
    assert secret not in json.dumps(services.export(chat.customer_id, now=NOW), default=str)
    assert said.replace("[removed: ", "") != said
    assert said.split()[0] == text.split()[0]  # the rest of it stands
    [notice] = notices(chat)
    assert kind in notice


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_number_stays_as_it_was_typed(chat, text):
    async_to_sync(told)(chat.pk, text)

    assert chat.messages.get(seq=1).text == text
    assert notices(chat) == []


def test_the_engine_and_the_desk_get_the_masked_words(chat):
    engine = Scripted([Remark("ok")])

    async_to_sync(told)(chat.pk, SECRETS[0][0], engine=engine)
    async_to_sync(run)(
        turns.take_turn(chat.pk, Person("p", "my card 4111 1111 1111 1111"), now=NOW)
    )

    assert engine.seen[0].text == "Can you charge [removed: card number] today?"
    assert not Question.objects.filter(text__contains="4111").exists()


def test_nothing_but_a_secret_asks_nobody_anything(chat):
    async_to_sync(told)(chat.pk, "4111 1111 1111 1111")

    chat.refresh_from_db()
    assert (chat.handler, chat.answer_due_at) == ("bot", None)
    assert [m.sender for m in chat.messages.order_by("seq")] == ["customer", "system"]


def test_the_button_for_a_person_counts_whatever_stands_beside_it(chat):
    async_to_sync(run)(turns.take_turn(chat.pk, Person("p", "4111 1111 1111 1111"), now=NOW))

    chat.refresh_from_db()
    assert chat.handler == "waiting"


def test_it_is_hidden_while_a_person_has_the_conversation(chat, sam):
    conversations.take_over(chat.pk, staff=sam, now=NOW)

    async_to_sync(told)(chat.pk, "4111 1111 1111 1111 is my card")

    assert "4111" not in everything()
    assert len(notices(chat)) == 1


def test_what_was_sent_twice_is_said_once(chat):
    for _ in range(2):
        async_to_sync(run)(turns.take_turn(chat.pk, Say("c", "pin is 4821, ok?"), now=NOW))

    assert len(notices(chat)) == 1


def test_through_the_form_too(ada, db):
    page = Client()
    page.cookies[identity.COOKIE] = identity.issue(ada.pk, address="", now=timezone.now())
    page.post(reverse("chat:send"), {"text": "my card is 4111 1111 1111 1111", "client_id": "f1"})

    chat = Conversation.objects.get()
    assert Message.objects.get(seq=1).text == "my card is [removed: card number]"
    shown = page.get(reverse("chat:page")).content.decode()
    assert "a card number" in shown
    assert "4111" not in shown
    assert len(notices(chat)) == 1


def test_words_beside_a_rating_are_masked(chat):
    conversations.rate(chat.pk, score=-1, words="my password is hunter2!", now=NOW)

    assert "hunter2" not in everything()


def test_a_question_that_waits_is_answered_though_a_secret_alone_comes_after_it(chat):
    record = conversations.record_customer_message
    first = record(chat.pk, client_id="1", text="How do I pay with a new card?", now=NOW)
    then = record(chat.pk, client_id="2", text="4111 1111 1111 1111", now=NOW)

    assert (first.may_answer, then.may_answer) == (True, True)  # the newest answers for both
    asked = turns.Turn(chat.pk, then.message, NOW).gather()
    assert asked is not None
    assert asked.text == "How do I pay with a new card?"


def test_a_secret_alone_asks_for_nothing_and_is_no_part_of_the_next_question(chat):
    record = conversations.record_customer_message
    alone = record(chat.pk, client_id="1", text="4111 1111 1111 1111", now=NOW)
    then = record(chat.pk, client_id="2", text="When do you open?", now=NOW)

    assert alone.may_answer is False
    assert notices(chat)
    asked = turns.Turn(chat.pk, then.message, NOW).gather()
    assert asked is not None
    assert asked.text == "When do you open?"


def test_the_button_right_after_a_secret_hands_over_what_was_asked(chat):
    async_to_sync(told)(chat.pk, "Is there a lift for a piano?")
    record = conversations.record_customer_message
    record(chat.pk, client_id="s", text="4111 1111 1111 1111", now=NOW)
    async_to_sync(run)(turns.take_turn(chat.pk, Person("p"), now=NOW))

    assert not Question.objects.filter(text__contains="removed: card").exists()
