"""What is heard in mid-chat: the newest words alone, read with those before them."""

from datetime import timedelta

import pytest

from memory import services
from memory.types import Said, Transcript
from tests.factories import NOW, make_customer, make_topic

pytestmark = pytest.mark.django_db


@pytest.fixture
def phone():
    return make_topic(
        "phone",
        category="confirmed_fact",
        label="Phone number",
        description="The number the customer can be reached at.",
        examples=["my number is 555 0199", "you can reach me on 555 0123", "my phone is 555 0177"],
    )


def heard(*texts, since):
    """Customer and bot speak in turn; the customer begins."""
    speakers = ("customer", "bot")
    said = tuple(
        Said(n, speakers[(n - 1) % 2], text, NOW + timedelta(seconds=n))
        for n, text in enumerate(texts, 1)
    )
    ada = make_customer("Ada")
    told = services.listen(Transcript(said), customer_id=ada.pk, now=NOW, since=since)
    return [(c["seq"], c["value"]) for c in told]


def test_what_was_said_before_is_not_heard_again(phone):
    told = heard("My number is 555 0101.", "Noted.", "My number is 555 0110 now.", since=3)

    assert told == [(3, "555 0110")]


def test_a_correction_is_read_with_what_it_puts_right(phone):
    told = heard("My number is 555 0101.", "Noted.", "Sorry, it's 555 0110.", since=3)

    assert told == [(3, "555 0110")]


def test_a_question_after_a_statement_tells_nothing_anew(phone):
    assert heard("My number is 555 0101.", "Noted.", "Where can I park?", since=3) == []
