"""What the review queue decides changes what is proposed from then on, in other words too."""

import pytest

from memory import pipeline, services
from memory.models import Memory, MemoryEvent, Topic
from tests.memory.episodes import transcript
from tests.memory.statements import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def drink(db):
    services.save_topic(
        "drink",
        by="staff:1",
        now=NOW,
        category="preference",
        cardinality="one",
        label="Drink",
        description="What the guest likes to drink while waiting.",
        examples=["black coffee, no sugar", "just water for me", "I'd love a green tea"],
    )
    return Topic.objects.get(key="drink")


def proposed(text):
    return pipeline.consider(transcript(text)).candidates


def decide(customer, topic, quote, *, approve):
    waiting = Memory.objects.create(
        customer=customer,
        topic=topic,
        category=topic.category,
        status="pending",
        quote=quote,
        text=quote,
        value=quote,
        stated_at=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
    )
    services.review(waiting.pk, approve=approve, by="staff:1", now=NOW)
    return waiting


def odds(candidate):
    return candidate.confidence / (1 - candidate.confidence)


def test_what_was_turned_down_is_not_proposed_in_other_words_either(ada, drink):
    assert proposed("we usually have wine with dinner at home")

    decide(ada, drink, "I always drink wine with my dinner", approve=False)

    assert not proposed("we usually have wine with dinner at home")
    assert proposed("an oat milk latte for me please")


def test_what_was_approved_is_surer_in_other_words(ada, drink):
    (before,) = proposed("make mine a decaf")

    decide(ada, drink, "decaf only these days", approve=True)

    (after,) = proposed("make mine a decaf")
    assert odds(after) > 2 * odds(before)


def test_an_undone_decision_is_no_longer_learnt(ada, drink):
    waiting = decide(ada, drink, "I always drink wine with my dinner", approve=False)

    services.undo_review(waiting.pk, by="staff:1", now=NOW)

    assert proposed("we usually have wine with dinner at home")


def test_the_layer_names_the_version_of_the_topic_it_was_fitted_to(ada, drink):
    decide(ada, drink, "I always drink wine with my dinner", approve=False)

    drink.refresh_from_db()
    assert drink.fit["version"] == drink.version == 2
    assert MemoryEvent.objects.filter(kind="topic.refitted", topic_key="drink").exists()


def test_edited_examples_make_it_stale_until_the_night(ada, drink):
    decide(ada, drink, "I always drink wine with my dinner", approve=False)
    services.save_topic("drink", by="staff:1", now=NOW, examples=["tea", "a beer, please"])
    drink.refresh_from_db()
    assert not drink.lean

    services.nightly(now=NOW)

    drink.refresh_from_db()
    assert drink.lean


def test_a_topic_on_which_nobody_decided_has_none(drink):
    services.nightly(now=NOW)

    drink.refresh_from_db()
    assert not drink.lean
