"""What is said and not read yet is not contradicted: its topics are left alone."""

import pytest

from memory import pipeline, services
from memory.llm import base
from memory.services import withholding
from tests.memory.episodes import closed
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(ada, reads_plans, allergies):
    pipeline.run(closed(ada, "it is Acorn").pk, now=NOW)
    return ada


@pytest.fixture(autouse=True)
def does_not_wait(settings):
    settings.MEMORY_WAIT_MS = 0


def withheld(customer):
    return withholding.withheld(customer.pk, withholding.standing(customer.pk))


def test_nothing_is_withheld_when_all_is_read(told):
    assert withheld(told) == set()


def test_a_changed_plan_is_withheld_till_the_worker_has_read_it(told):
    episode = closed(told, "just so you know, we switched to Birch", at=NOW + DAY)
    assert "plan" in withheld(told)

    pipeline.run(episode.pk, now=NOW + DAY)
    assert withheld(told) == set()


def test_the_old_plan_is_never_said_while_the_worker_is_stopped(told):
    """A new chat comes before the last one is read: the bot asks rather than say what was."""
    closed(told, "just so you know, we switched to Birch", at=NOW + DAY)

    asked = services.recall(told.pk, "which plan do you have for me?", now=NOW + 2 * DAY)

    assert "Acorn" not in asked.context
    assert "plan" in asked.withheld
    services.nightly(now=NOW + 2 * DAY)
    asked = services.recall(told.pk, "which plan do you have for me?", now=NOW + 2 * DAY)
    assert "Birch" in asked.context
    assert "Acorn" not in asked.context


def test_a_worker_that_is_quick_is_waited_for(told, settings, monkeypatch):
    settings.MEMORY_WAIT_MS = 60_000
    episode = closed(told, "we switched to Birch", at=NOW + DAY)
    monkeypatch.setattr(
        withholding.time, "sleep", lambda seconds: pipeline.run(episode.pk, now=NOW + DAY)
    )

    asked = services.recall(told.pk, "which plan do you have for me?", now=NOW + 2 * DAY)

    assert "Birch" in asked.context


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

    monkeypatch.setattr(withholding, "embed", away)
    closed(told, "hello", at=NOW + DAY)

    assert withheld(told) == {"plan", "allergies"}


def test_a_topic_with_an_open_conflict_is_withheld(told):
    m = told.memories.get(kind="fact")
    services.correct(m.pk, value="Birch Plus", text="", by="staff:1", now=NOW + DAY)
    pipeline.run(closed(told, "it is Cedar", at=NOW + 2 * DAY).pk, now=NOW + 2 * DAY)

    assert withheld(told) == {"plan"}
