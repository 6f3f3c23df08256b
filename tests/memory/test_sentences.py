"""History reads as somebody would tell it."""

from datetime import UTC, datetime

import pytest

from memory.admin.sentences import replaced_by, sentence
from memory.models import Memory, MemoryEvent

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def event(kind, **fields):
    return MemoryEvent(kind=kind, at=NOW, **{"actor": "knowledge agent"} | fields)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            event("memory.created", after={"value": "Cigna"}, reason="new"),
            "The knowledge agent noted it as “Cigna”: new.",
        ),
        (
            event("memory.superseded", before={"value": "Cigna"}, after={"value": "Aetna"}),
            "The knowledge agent noted it as “Aetna”, in place of “Cigna”.",
        ),
        (event("memory.confirmed", actor="staff:3"), "Kim confirmed it."),
        (event("memory.confirmed", actor="staff:4"), "Staff member 4 confirmed it."),
        (
            event("memory.proposed", actor="api:Billing"),
            "A program with the key “Billing” proposed it.",
        ),
        (event("memory.forgotten"), "It was forgotten at the customer's request."),
        (event("topic.learnt_more", actor="bot"), "The bot: topic learnt more."),
    ],
)
def test_an_event_is_a_sentence(told, expected):
    assert sentence(told, staff={3: "Kim"}) == expected


def test_what_replaced_it_is_told_in_the_customers_words():
    assert replaced_by(Memory(quote="I moved to Delta", text="x")) == (
        "Superseded because the customer said: “I moved to Delta”"
    )
    assert replaced_by(Memory(text="Is with Delta")) == (
        "Superseded: a person wrote “Is with Delta”."
    )
