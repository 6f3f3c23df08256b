"""What is said and not read yet is not contradicted: its topics are left alone."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory import pipeline, services
from memory.langgraph import MemoryStore
from memory.llm import base
from memory.services import withholding
from tests.factories import make_staff
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
    return withholding.withheld(customer.pk).topics


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


def by_recall(customer, now):
    found = services.recall(customer.pk, "which plan do you have for me?", now=now)
    return found.context


def by_list(customer, now):
    return " ".join(f.text for f in services.known_about(customer.pk, now=now))


def by_api(customer, now):
    sam = User.objects.filter(username="sam").first() or make_staff("sam")
    _, raw = services.issue_key(
        "key", user_id=sam.pk, namespaces=(["customers"],), by="staff:1", now=now
    )
    address = f"/api/memory/{customer.pk}"
    return Client().get(address, headers={"Authorization": f"Bearer {raw}"}).content.decode()


def by_langgraph(customer, now):
    store = MemoryStore(customer_id=customer.pk, verified=True, clock=lambda: now)
    found = [i.value["text"] for i in store.search(("customers", str(customer.pk)))]
    keys = [str(m.pk) for m in customer.memories.all()]
    held = [store.get(("customers", str(customer.pk), "plan"), key) for key in keys]
    return " ".join([*found, *(item.value["text"] for item in held if item)])


def by_agent(customer, now):
    seen = services.seen_by("bot", "which plan?", customer_id=customer.pk, about="plans", now=now)
    return " ".join(f.text for f in seen.facts)


@pytest.mark.parametrize("read", [by_recall, by_list, by_api, by_langgraph, by_agent])
class TestNoReader:
    def test_says_what_unread_words_may_have_changed(self, told, read):
        assert "Acorn" in read(told, NOW + DAY)

        episode = closed(told, "just so you know, we switched to Birch", at=NOW + DAY)
        assert "Acorn" not in read(told, NOW + 2 * DAY)

        pipeline.run(episode.pk, now=NOW + 2 * DAY)
        assert "Birch" in read(told, NOW + 2 * DAY)

    def test_says_what_a_person_has_to_decide(self, told, read):
        m = told.memories.get(kind="fact")
        services.correct(m.pk, value="Birch Plus", text="", by="staff:1", now=NOW + DAY)
        pipeline.run(closed(told, "it is Cedar", at=NOW + 2 * DAY).pk, now=NOW + 2 * DAY)

        said = read(told, NOW + 3 * DAY)

        assert "Birch" not in said
        assert "Cedar" not in said


def test_what_she_says_now_is_newer_than_what_nobody_has_read(told):
    closed(told, "just so you know, we switched to Birch", at=NOW + DAY)
    said = {"topic": "plan", "value": "Cedar One", "text": "It's Cedar now", "intent": "state"}
    said |= {"category": "confirmed_fact", "stated_at": (NOW + 2 * DAY).isoformat()}

    found = services.recall(
        told.pk, "which plan do you have for me?", now=NOW + 2 * DAY, working=[said]
    )

    assert [f.text for f in found.facts] == ["It's Cedar now"]


def test_what_worked_for_her_is_for_the_next_answer_and_not_listed_to_her(told):
    services.feedback(
        told.pk,
        kind="corrected",
        tried="the pink leaflet",
        worked="SHE LIKES TO ARGUE",
        evidence={"staff": 1},
        now=NOW,
    )
    assert told.memories.filter(kind="experience").exists()

    for read in (by_list, by_api, by_langgraph):
        assert "ARGUE" not in read(told, NOW + DAY)
