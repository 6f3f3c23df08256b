"""A message that repeats itself is read by its other words, and holds nobody else up."""

import random
import re
import string

import pytest

from chat import conversations
from chat.llm import patterns
from chat.models import Conversation
from chat.turns import in_db_thread
from escalations.models import Escalation, Question
from memory import services
from memory.services import legible
from tests.chat.conftest import told
from tests.factories import NOW

MOST = 10_000


@pytest.mark.parametrize(
    "signs", [".", "?", " ", "\n", "\t\n", ",", "😀", "a", "1-", "x: ", "a,b;c.d!e?", ". . - "]
)
def test_what_is_read_of_one_thing_ten_thousand_times_is_short(signs):
    assert len(legible(signs * (MOST // len(signs)))) < 200


@pytest.mark.parametrize(
    "text",
    [
        "my number is 0000000000, call me!!!!!!!!!!",
        "no no no no no no no, nooooooooooo",
        "one\n\n\n\n\ntwo ............ three",
        "| a | b |\n|---|---|\n" + "-" * 30,
        "",
    ],
)
def test_what_people_write_is_read_as_it_is(text):
    assert legible(text) == text


def test_words_on_both_sides_of_a_run_are_read():
    assert legible("before" + "." * 5000 + "after") == "before...after"


@pytest.mark.parametrize("place", range(0, 3000, 170))
def test_a_cue_is_found_wherever_it_stands_in_a_long_text(place):
    rng = random.Random(place)
    noise = "".join(rng.choice(string.ascii_lowercase + "    ") for _ in range(3000))
    text = f"{noise[:place]} he cannot breathe any more {noise[place:]}"

    assert patterns.hits(text, [patterns.DANGER]) == [True]


def test_a_cue_of_the_beginning_is_none_in_the_middle():
    asking = "can you do that "
    at = patterns.PART - patterns.SHARED  # where the second part begins
    beginning = re.compile(r"^\W*can you")

    assert patterns.hits("x" * at + asking + "x" * at, [beginning]) == [False]


@pytest.mark.django_db(transaction=True)
async def test_an_emergency_after_a_long_run_is_one(chat):
    await told(chat.pk, "\n" * 9000 + "I can't breathe, my throat is swelling shut!")

    opened = await Escalation.objects.aget(conversation=chat.pk)
    assert opened.reason == "emergency"


@pytest.mark.django_db(transaction=True)
async def test_the_desk_reads_what_was_typed_letter_for_letter(chat):
    typed = "Do you repair antique clocks" + "?" * 9000

    await told(chat.pk, typed)

    question = await Question.objects.aget(escalation__conversation=chat.pk)
    assert question.text == typed
    assert await in_db_thread(first_row)(chat) == typed


def first_row(chat):
    return Conversation.objects.get(pk=chat.pk).messages.get(seq=1).text


def test_what_was_told_beside_a_run_is_forgotten_in_the_log_too(chat):
    typed = "My phone number is 555 0172" + "-" * 5000 + " and that is all."
    conversations.record_customer_message(chat.pk, client_id="a", text=typed, now=NOW)
    (said,) = conversations.transcript_of(chat).messages

    services.forget_words(chat.customer_id, [said.text], value="555 0172")

    assert "0172" not in first_row(chat)
