"""What came of the replies that rested on a memory: it fades later, and by mere use never."""

import pytest

from memory import services
from memory.lifecycle import locks, write
from memory.models import Memory, MemoryEvent
from memory.types import Action, Decision, TopicSpec
from tests.memory.statements import DAY, NOW, said

pytestmark = pytest.mark.django_db
TEN_YEARS = 3650 * DAY


@pytest.fixture
def fact(ada, plan):
    text = "I'm with Acorn"
    return services.remember(ada.pk, topic="plan", value="Acorn", text=text, by="staff:1", now=NOW)


def came(m, ref, outcome, *, customer=None):
    return services.record_outcome(
        customer or m.customer_id,
        [m.pk],
        ref=f"conversation:{ref}",
        outcome=outcome,
        by="customer",
        now=NOW,
    )


def usefulness(m):
    m.refresh_from_db()
    return m.usefulness


def status_in_ten_years(m):
    services.nightly(now=NOW + TEN_YEARS)
    m.refresh_from_db()
    return m.status


def test_a_fact_whose_replies_helped_fades_later(fact):
    for ref in range(4):
        came(fact, ref, "helped")

    assert status_in_ten_years(fact) == "active"


def test_one_that_was_merely_recalled_does_not(fact):
    for _ in range(100):
        found = services.recall(fact.customer_id, "which plan do you have for me?", now=NOW)
        assert [f.id for f in found.facts] == [fact.pk]

    assert usefulness(fact) == 0
    assert status_in_ten_years(fact) == "forgotten"


def test_a_button_pressed_a_hundred_times_counts_once(fact):
    assert came(fact, 1, "helped") == 1
    once = usefulness(fact)

    assert sum(came(fact, 1, "helped") for _ in range(99)) == 0

    assert 0 < usefulness(fact) == once
    assert MemoryEvent.objects.filter(kind__startswith="outcome.").count() == 1


def test_the_last_word_on_a_conversation_counts(fact):
    came(fact, 1, "helped")
    came(fact, 1, "not_helped")
    assert usefulness(fact) == 0

    came(fact, 1, "helped")
    assert usefulness(fact) == pytest.approx(1 / 3)
    assert MemoryEvent.objects.filter(memory=fact, kind__startswith="outcome.").count() == 3


def test_what_did_not_help_lowers_it(fact):
    came(fact, 1, "helped")
    high = usefulness(fact)

    came(fact, 2, "not_helped")

    assert 0 < usefulness(fact) < high


def test_silence_counts_less_than_a_word(ada, fact, allergies):
    other = services.remember(
        ada.pk, topic="allergies", value="nickel", text="", by="staff:1", now=NOW
    )
    came(fact, 1, "helped")
    came(other, 1, "assumed")

    assert 0 < usefulness(other) < usefulness(fact)


def test_a_corrected_fact_begins_anew(fact):
    came(fact, 1, "helped")

    new = services.correct(fact.pk, value="Birch", text="I'm with Birch", by="staff:1", now=NOW)

    assert usefulness(new) == 0


def test_a_fact_made_more_exact_keeps_what_came_of_it(ada, plan, fact):
    came(fact, 1, "helped")
    spec = TopicSpec("plan", plan.category, True, plan.label)
    exact = Decision(Action.UPDATE, said("Acorn Basic", topic=spec), fact.pk, "more exact")
    with locks.customer_locked(ada.pk):
        source = write.Source("knowledge agent", NOW)
        new = write.apply(exact, customer_id=ada.pk, topics={"plan": plan}, source=source)
    kept = usefulness(new)

    came(new, 2, "helped")

    assert kept == pytest.approx(1 / 3)
    assert usefulness(new) == pytest.approx(2 / 4)


def test_nobody_elses_memory_is_touched(ben, fact):
    assert came(fact, 1, "helped", customer=ben.pk) == 0

    assert usefulness(fact) == 0


def test_an_undo_at_the_desk_is_not_in_its_way(ada, plan, fact):
    """What came of replies says nothing new of the topic."""
    waiting = services.propose(
        ada.pk, topic="plan", value="Birch", text="Birch", category="confirmed_fact",
        evidence={}, by="agent:x", now=NOW,
    )  # fmt: skip
    services.review(waiting.pk, approve=False, by="staff:1", now=NOW)
    came(fact, 1, "helped")

    services.undo_review(waiting.pk, by="staff:1", now=NOW)

    assert Memory.objects.get(pk=waiting.pk).status == "pending"


def test_the_admin_says_in_words_what_came_of_it(fact, admin_client):
    page = f"/admin/memory/memory/{fact.pk}/change/"
    assert "nothing known yet" in admin_client.get(page).content.decode()

    came(fact, 1, "helped")
    came(fact, 2, "assumed")

    shown = admin_client.get(page).content.decode()
    assert "1 helped, 1 ended without a further question, 0 did not help" in shown
    assert "fades 43 % slower" in shown
    assert "a chat in which it was used helped" in shown
