"""What is said and not read yet is not contradicted: its topics are left alone."""

import pytest

from memory import pipeline, services
from memory.llm import base
from memory.services import waiting
from tests.memory.episodes import closed
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(ada, reads_plans, allergies):
    pipeline.run(closed(ada, "it is Acorn").pk, now=NOW)
    return ada


def withheld(customer):
    return waiting.withheld_topics(customer.pk, now=NOW)


def test_nothing_is_withheld_when_all_is_read(told):
    assert withheld(told) == set()


def test_a_changed_plan_is_withheld_till_the_worker_has_read_it(told):
    episode = closed(told, "just so you know, we switched to Birch", at=NOW + DAY)
    assert waiting.waits(told.pk)
    assert "plan" in withheld(told)

    pipeline.run(episode.pk, now=NOW + DAY)
    assert not waiting.waits(told.pk)
    assert withheld(told) == set()


def test_what_the_agent_would_find_is_withheld_however_it_is_worded(told):
    closed(told, "Cedar, hooray", at=NOW + DAY)

    assert "plan" in withheld(told)


def test_another_customers_unread_words_withhold_nothing(told, ben):
    closed(ben, "we switched to Birch", at=NOW + DAY)

    assert withheld(told) == set()


def test_what_the_worker_cannot_read_is_withheld_and_breaks_nothing(told, monkeypatch):
    monkeypatch.setattr(pipeline, "consider", lambda said: 1 / 0)
    closed(told, "we switched to Birch", at=NOW + DAY)

    assert "plan" in withheld(told)


def test_without_vectors_every_topic_is_withheld(told, monkeypatch):
    def away(texts):
        raise base.Unavailable("no model")

    monkeypatch.setattr(waiting, "embed", away)
    closed(told, "hello", at=NOW + DAY)

    assert withheld(told) == {"plan", "allergies"}


def test_a_topic_with_an_open_conflict_is_withheld(told):
    m = told.memories.get(kind="fact")
    services.correct(m.pk, value="Birch Plus", text="", by="staff:1", now=NOW + DAY)
    pipeline.run(closed(told, "it is Cedar", at=NOW + 2 * DAY).pk, now=NOW + 2 * DAY)

    assert withheld(told) == {"plan"}
