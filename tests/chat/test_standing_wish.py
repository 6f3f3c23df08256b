"""How she likes things done is noted, and nobody is fetched for it; an errand goes to a person."""

import pytest

from chat.llm.base import Noted, Situation
from chat.llm.intents import Kind, Reading
from chat.llm.verbatim import decide
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
