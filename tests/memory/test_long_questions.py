"""A question of ten thousand characters is a question like any other."""

import random
import string

import pytest

from memory import services
from memory.models import AnswerMatch
from tests.factories import NOW, make_customer

pytestmark = pytest.mark.django_db

_rng = random.Random(1)
# No two stretches alike: what is packed well hides what is too long.
LONG = "".join(_rng.choice(string.ascii_letters + " ") for _ in range(9_990)) + "?"


@pytest.fixture
def answer():
    return services.add_answer(title="When?", parts=["At 8."], by="staff:1", now=NOW)


def test_it_is_looked_up_and_noted():
    services.answer_for(LONG, customer_id=make_customer("Ada").pk, now=NOW)

    assert AnswerMatch.objects.get().asked == LONG


def test_staff_confirm_it_for_an_answer_and_it_finds_that_answer(answer):
    services.confirm_wording(answer.pk, asked=LONG, now=NOW, staff_id=None)
    services.confirm_wording(answer.pk, asked=LONG, now=NOW, staff_id=None)

    assert AnswerMatch.objects.get(outcome="confirmed").answer == answer


def test_a_customers_vote_for_it_counts_once(answer):
    ada = make_customer("Ada")
    for _ in range(2):
        found = services.answer_for(LONG, customer_id=ada.pk, now=NOW)
        AnswerMatch.objects.filter(pk=found.match_id).update(offered=[answer.pk])
        services.confirm_match(
            found.match_id, outcome="chosen", answer_id=answer.pk, customer_id=ada.pk, now=NOW
        )

    assert AnswerMatch.objects.filter(outcome="chosen", answer=answer).count() == 1
