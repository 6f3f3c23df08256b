"""How she likes things done is noted, and nobody is fetched for it; an errand goes to a person."""

import pytest

from chat.llm import intents
from chat.llm.base import Noted, Situation
from chat.llm.intents import Kind, Reading
from chat.llm.verbatim import decide
from memory.llm.embeddings import embed_one
from memory.types import AnswerFor

GAP = AnswerFor("gap")


def wished(text, *quotes, category="preference"):
    told = tuple({"quote": q, "text": q, "topic": "contact", "category": category} for q in quotes)
    reading = Reading(Kind.REQUEST, "", {Kind.REQUEST.value: 0.9})
    return decide(Situation(text, reading, told=told, answer=GAP))


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("Please e-mail me, don't call.", ["e-mail me, don't call"]),
        ("Please always post me the bill, thanks", ["always post me the bill"]),
        ("Hi! Never ring before nine please.", ["Never ring before nine"]),
        ("Please only book me with Kim", ["only book me with Kim"]),
    ],
)
def test_a_standing_wish_is_noted_and_nobody_is_fetched(text, quotes):
    moves, need = wished(text, *quotes)

    assert [type(m) for m in moves] == [Noted]
    assert need is None


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        # One of two wishes is an errand.
        (
            "Never ring before nine, and cancel my Friday visit",
            ["Never ring before nine", "cancel my Friday visit"],
        ),
        # More is said than was noted.
        ("Please never ring before nine. Move my cleaning to May.", ["never ring before nine"]),
        ("Please send me the pictures by e-mail", ["send me the pictures by e-mail"]),
    ],
)
def test_an_errand_goes_to_a_person_whatever_was_noted_beside_it(text, quotes):
    moves, need = wished(text, *quotes)

    assert [type(m) for m in moves] == [Noted]
    assert need.reason == "request"


def test_what_is_no_preference_is_not_taken_for_one():
    _, need = wished("Please never give me latex", "never give me latex", category="confirmed_fact")

    assert need.reason == "request"


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Please call me on 555 0144 when the wheel is in", "call me on 555 0144"),
        ("text me as soon as it has arrived please", "text me"),
        ("please ring me tomorrow", "ring me"),
    ],
)
def test_who_wants_to_hear_on_an_occasion_gets_a_person_whatever_was_noted(text, quote):
    _, need = wished(text, quote)

    assert need.reason == "request"


@pytest.mark.parametrize(
    "text",
    [
        "call me tomorrow at noon please",
        "let my wife know at 607 555 0101 when I'm done",
        "give us a ring once the results are back",
        "Ruf mich bitte an, wenn die Pumpe da ist",
        "can you text me?",
        "could somebody phone me please",
    ],
)
def test_a_wish_to_be_contacted_is_something_to_be_done(text):
    assert intents.read(text, embed=embed_one).kind in {Kind.REQUEST, Kind.PERSON}


@pytest.mark.parametrize(
    "text",
    [
        "Could you always text me, please?",
        "can you please only call me in the evening from now on?",
        "would you mail me instead of ringing in future?",
    ],
)
def test_a_wish_for_good_in_the_form_of_a_question_asks_nothing(text):
    reading = intents.read(text, embed=embed_one)

    assert (reading.kind, reading.asks) == (Kind.REQUEST, False)


@pytest.mark.parametrize(
    "text",
    ["do you always text people?", "would you text me or call me?", "remind me what I chose"],
)
def test_a_question_about_contact_stays_one(text):
    assert intents.read(text, embed=embed_one).asks or text.startswith("remind")
    assert intents.read(text, embed=embed_one).kind is not Kind.REQUEST
