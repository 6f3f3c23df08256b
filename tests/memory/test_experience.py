"""What was tried with one customer before something worked, and where that comes up again."""

from datetime import timedelta

import pytest

from memory import services
from memory.models import AnswerMatch, Memory, MemoryEvent
from memory.types import Said, Transcript
from tests.memory.statements import NOW

pytestmark = pytest.mark.django_db

FIRST = "the heating will not start, what do I do?"
AGAIN = "what can I do when the heating does not start?"
LIKE = "my heating won't start, what should I do"
OTHER = "do you sell garden chairs?"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def answer():
    def add(title):
        return services.add_answer(title=title, parts=["Like this."], by="staff:1", now=NOW)

    return add


@pytest.fixture
def bleed(answer):
    return answer("How do I bleed a radiator?")


@pytest.fixture
def fuse(answer):
    return answer("Which fuse is for the heating?")


def asks(customer, text, *, shown, minute, way="offer"):
    """She asks, and is shown these answers."""
    at = NOW + minute * MINUTE
    asked = services.answer_for(text, customer_id=customer.pk, now=at)
    met = {"outcome": "delivered", "answer": shown[0]} if way == "deliver" else {"outcome": "open"}
    ids = [a.pk for a in shown]
    AnswerMatch.objects.filter(pk=asked.match_id).update(offered=ids, **met)
    return asked.match_id


def says(customer, match, outcome, answer=None, *, minute):
    services.confirm_match(
        match,
        outcome=outcome,
        answer_id=answer and answer.pk,
        customer_id=customer.pk,
        now=NOW + minute * MINUTE,
    )


def is_read(customer, *, minutes=10):
    """The conversation ends, or has become long, and memory reads it."""
    said = (Said(1, "customer", FIRST, NOW), Said(2, "customer", AGAIN, NOW + 5 * MINUTE))
    now = NOW + minutes * MINUTE
    episode = services.remember_later(
        Transcript(said), customer_id=customer.pk, ref="conversation:1:1-2", now=now
    )
    services.run_agent(episode.pk, now=now)


def experiences(customer):
    rows = Memory.objects.filter(customer=customer, kind="experience")
    return list(rows.values_list("text", flat=True))


def test_rephrased_and_then_chosen(ada, bleed, fuse):
    first = asks(ada, FIRST, shown=[bleed], minute=0)
    says(ada, first, "something_else", minute=1)
    again = asks(ada, AGAIN, shown=[fuse], minute=2)
    says(ada, again, "chosen", fuse, minute=3)
    assert experiences(ada) == []  # not in her way

    is_read(ada)

    [text] = experiences(ada)
    assert text == (
        "Tried: the answer to “How do I bleed a radiator?”\n"
        "What worked: the answer to “Which fuse is for the heating?”"
    )
    event = MemoryEvent.objects.get(kind="memory.experience")
    assert event.evidence["match"] == again
    assert event.reason == "close"


def test_read_twice_it_is_one(ada, bleed, fuse):
    says(ada, asks(ada, FIRST, shown=[bleed], minute=0), "something_else", minute=1)
    says(ada, asks(ada, AGAIN, shown=[fuse], minute=2), "chosen", fuse, minute=3)
    is_read(ada)
    services.helped(AnswerMatch.objects.latest("pk").pk, event="accepted", now=NOW)

    assert len(experiences(ada)) == 1


def test_a_card_that_was_given_and_asked_about_again(ada, bleed, fuse):
    asks(ada, FIRST, shown=[bleed], minute=0, way="deliver")
    again = asks(ada, AGAIN, shown=[fuse], minute=2, way="deliver")

    assert services.helped(again, event="accepted", now=NOW + 3 * MINUTE)

    assert "bleed a radiator" in experiences(ada)[0]


def test_a_person_settles_what_the_bot_had_not(ada, bleed, answer):
    first = asks(ada, FIRST, shown=[bleed], minute=0)
    says(ada, first, "something_else", minute=1)
    new = answer("What if the heating does not start?")

    services.helped(first, event="milestone", answer_id=new.pk, now=NOW + 9 * MINUTE)

    assert experiences(ada) == [
        "Tried: the answer to “How do I bleed a radiator?”\n"
        "What worked: the answer to “What if the heating does not start?”"
    ]


@pytest.mark.parametrize("text", [OTHER, "when are you open on Sundays?"])
def test_another_question_before_was_no_try(ada, bleed, fuse, text):
    asks(ada, text, shown=[bleed], minute=0, way="deliver")
    again = asks(ada, AGAIN, shown=[fuse], minute=2, way="deliver")

    assert not services.helped(again, event="accepted", now=NOW + 3 * MINUTE)
    assert experiences(ada) == []


def test_what_was_right_at_once_is_none(ada, fuse):
    again = asks(ada, AGAIN, shown=[fuse], minute=2, way="deliver")

    assert not services.helped(again, event="accepted", now=NOW + 3 * MINUTE)


def test_what_was_tried_with_another_customer_is_none_of_hers(ada, ben, bleed, fuse):
    says(ben, asks(ben, FIRST, shown=[bleed], minute=0), "something_else", minute=1)
    says(ada, asks(ada, AGAIN, shown=[fuse], minute=2), "chosen", fuse, minute=3)
    is_read(ada)

    assert experiences(ada) == experiences(ben) == []


class TestTheNextLikeQuestion:
    @pytest.fixture
    def learnt(self, ada, bleed, fuse):
        says(ada, asks(ada, FIRST, shown=[bleed], minute=0), "something_else", minute=1)
        says(ada, asks(ada, AGAIN, shown=[fuse], minute=2), "chosen", fuse, minute=3)
        is_read(ada)

    @pytest.mark.parametrize(("text", "found"), [(LIKE, True), (OTHER, False)])
    def test_is_known_by_its_likeness(self, ada, learnt, text, found):
        hers = services.Hers(ada.pk, now=NOW + 60 * MINUTE, message=text)

        assert services.tried_with(hers) is found

    def test_has_it_among_its_facts(self, ada, learnt):
        got = services.recall(ada.pk, LIKE, now=NOW + 60 * MINUTE, gate=False)

        assert "What worked: the answer to “Which fuse" in got.context

    def test_of_another_customer_has_not(self, ben, learnt):
        hers = services.Hers(ben.pk, now=NOW + 60 * MINUTE, message=LIKE)

        assert not services.tried_with(hers)
