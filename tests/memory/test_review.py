"""What people decide about memories, and how they take it back."""

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError

from memory import pipeline, services
from memory.models import Conflict, Instruction, Memory, MemoryEvent, Topic
from tests.memory.episodes import closed
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db
LATER = NOW + 5 * DAY


@pytest.fixture
def sam(db):
    return get_user_model().objects.create_user("sam")


def tell(customer, text, at=NOW):
    pipeline.run(closed(customer, text, at=at).pk, now=at)


def standing(customer):
    rows = Memory.objects.filter(customer=customer, kind="fact", status="active")
    return [m.value for m in rows.order_by("pk")]


@pytest.fixture
def acorn(ada, reads_plans):
    tell(ada, "it is Acorn")
    return Memory.objects.get(kind="fact")


@pytest.fixture
def card(ada, acorn):
    """Staff corrected Acorn to Birch; the customer says Cedar."""
    services.correct(
        acorn.pk, value="Birch Plus", text="Plan: Birch Plus", by="staff:1", now=NOW + DAY
    )
    tell(ada, "it is Cedar", at=NOW + 2 * DAY)
    return Conflict.objects.get()


def test_a_correction_keeps_the_old_value_as_history(ada, acorn):
    made = services.correct(
        acorn.pk, value="Birch Plus", text="Plan: Birch Plus", by="staff:1", now=LATER, why="card"
    )

    acorn.refresh_from_db()
    assert (acorn.status, acorn.superseded_by) == ("superseded", made)
    assert (made.corrected_by_staff, made.corrected_away) == (True, ["Acorn Basic"])
    made.refresh_from_db()
    assert made.embedding is not None


def test_what_was_corrected_away_never_comes_back(ada, acorn):
    services.correct(acorn.pk, value="Birch Plus", text="", by="staff:1", now=NOW + DAY)

    tell(ada, "it is Acorn", at=LATER)

    assert standing(ada) == ["Birch Plus"]
    assert not Conflict.objects.exists()


def test_a_later_change_opens_one_card_and_changes_nothing(ada, card):
    assert standing(ada) == ["Birch Plus"]
    assert (card.old.value, card.new.value, card.new.status) == (
        "Birch Plus",
        "Cedar One",
        "pending",
    )
    assert card.due_at > card.opened_at


def test_a_still_newer_statement_takes_the_place_of_the_one_that_waits(
    ada, card, reads_plans, monkeypatch
):
    from tests.memory.episodes import reading

    monkeypatch.setattr(pipeline, "consider", reading(reads_plans, {"Dogwood": "Dogwood"}))
    tell(ada, "it is Dogwood", at=NOW + 3 * DAY)

    card.refresh_from_db()
    assert Conflict.objects.count() == 1
    assert card.new.value == "Dogwood"


@pytest.mark.parametrize(
    ("decision", "expected", "statuses"),
    [
        ("keep", ["Birch Plus"], ("active", "rejected")),
        ("replace", ["Cedar One"], ("superseded", "active")),
        ("both", ["Cedar One"], ("expired", "active")),
    ],
)
def test_a_card_is_decided_and_reopened(ada, card, decision, expected, statuses):
    sam = get_user_model().objects.create_user("sam")
    services.decide_conflict(card.pk, decision=decision, staff_id=sam.pk, now=LATER)
    card.refresh_from_db()
    assert standing(ada) == expected
    assert (card.old.status, card.new.status) == statuses
    assert card.decided_by == sam

    services.undo_conflict(card.pk, staff_id=sam.pk, now=LATER)
    card.refresh_from_db()
    assert standing(ada) == ["Birch Plus"]
    assert (card.decided_at, card.new.status) == (None, "pending")


def test_both_are_true_each_in_its_time(ada, card):
    services.decide_conflict(card.pk, decision="both", now=LATER)

    card.old.refresh_from_db()
    card.new.refresh_from_db()
    assert card.old.valid_until == card.new.valid_from == card.new.stated_at


@pytest.mark.parametrize(
    ("decision", "expected"), [("keep", "Elm"), ("replace", "Cedar One"), ("both", "Cedar One")]
)
def test_a_card_is_decided_against_what_staff_wrote_since(ada, card, decision, expected):
    services.remember(ada.pk, topic="plan", value="Elm", text="", by="staff:1", now=NOW + 3 * DAY)

    services.decide_conflict(card.pk, decision=decision, now=LATER)
    assert standing(ada) == [expected]

    services.undo_conflict(card.pk, now=LATER)
    assert standing(ada) == ["Elm"]


def test_the_first_decision_counts(card):
    services.decide_conflict(card.pk, decision="keep", now=LATER)

    with pytest.raises(services.Touched):
        services.decide_conflict(card.pk, decision="replace", now=LATER)


def test_a_decision_is_not_undone_over_something_newer(ada, card):
    services.decide_conflict(card.pk, decision="replace", now=LATER)
    tell(ada, "it is Birch", at=LATER + DAY)

    with pytest.raises(services.Touched):
        services.undo_conflict(card.pk, now=LATER + 2 * DAY)


def test_the_review_queue_decides_the_card_as_well(ada, card):
    services.review(card.new.pk, approve=True, by="staff:1", now=LATER)
    card.refresh_from_db()
    assert standing(ada) == ["Cedar One"]
    assert card.decision == "replace"

    services.undo_review(card.new.pk, by="staff:1", now=LATER)
    card.refresh_from_db()
    assert standing(ada) == ["Birch Plus"]
    assert card.decided_at is None


@pytest.mark.parametrize("which", ["old", "new"])
def test_a_correction_decides_the_card_as_well(ada, card, which):
    services.correct(getattr(card, which).pk, value="Dogwood", text="", by="staff:1", now=LATER)

    card.refresh_from_db()
    assert standing(ada) == ["Dogwood"]
    assert card.decided_at == LATER
    assert not Memory.objects.filter(status="pending").exists()


def test_a_value_that_staff_accepted_is_the_customers_own_again(ada, card):
    services.decide_conflict(card.pk, decision="replace", now=LATER)

    tell(ada, "it is Birch", at=LATER + DAY)

    assert standing(ada) == ["Birch Plus"]


def test_conflict_one_open_per_topic(ada, card):
    with pytest.raises(IntegrityError, match="conflict_one_open_per_topic"):
        Conflict.objects.create(
            customer=ada, topic=card.topic, old=card.old, new=card.new,
            opened_at=NOW, due_at=NOW,
        )  # fmt: skip


@pytest.fixture
def waiting(ada, plan):
    return services.propose(
        ada.pk, topic="plan", category="confirmed_fact", value="Acorn Basic", text="Plan: Acorn",
        evidence={"order": 12}, by="api:shop", now=NOW,
    )  # fmt: skip


def test_an_agents_proposal_waits_for_a_person(waiting):
    assert (waiting.status, waiting.needs_review) == ("pending", True)


def test_a_proposal_with_a_secret_is_refused(ada, plan):
    with pytest.raises(services.NotValidated, match="password"):
        services.propose(
            ada.pk, topic="plan", category="confirmed_fact", value="Acorn", text="Plan: Acorn",
            evidence={"quote": "my password is hunter22"}, by="api:shop", now=NOW,
        )  # fmt: skip


def test_an_agent_cannot_propose_again_what_was_turned_down(ada, waiting):
    services.review(waiting.pk, approve=False, by="staff:1", now=LATER)

    again = services.propose(
        ada.pk, topic="plan", category="confirmed_fact", value="acorn basic", text="Acorn",
        evidence={}, by="api:shop", now=LATER,
    )  # fmt: skip

    assert (again.pk, again.status) == (waiting.pk, "rejected")


def test_approving_replaces_what_stood_and_can_be_undone(ada, waiting):
    old = services.remember(
        ada.pk, topic="plan", value="Birch Plus", text="", by="staff:1", now=NOW
    )

    services.review(waiting.pk, approve=True, by="staff:1", now=LATER)
    assert standing(ada) == ["Acorn Basic"]
    old.refresh_from_db()
    assert (old.status, old.superseded_by_id) == ("superseded", waiting.pk)

    services.undo_review(waiting.pk, by="staff:1", now=LATER)
    assert standing(ada) == ["Birch Plus"]


def test_a_review_is_not_undone_over_something_newer(ada, waiting):
    services.review(waiting.pk, approve=True, by="staff:1", now=LATER)
    services.correct(waiting.pk, value="Birch Plus", text="", by="staff:1", now=LATER)

    with pytest.raises(services.Touched):
        services.undo_review(waiting.pk, by="staff:1", now=LATER)


@pytest.mark.parametrize(("approve", "field"), [(True, "examples"), (False, "not_examples")])
def test_the_queue_teaches_the_topic(card, approve, field):
    pending = card.new
    before = pending.topic.version

    services.review(pending.pk, approve=approve, by="staff:1", now=LATER)

    topic = Topic.objects.get(key="plan")
    assert "it is Cedar" in getattr(topic, field)
    assert topic.version == before + 1


@pytest.mark.parametrize("how", ["forget", "erase"])
def test_what_she_taught_goes_with_her_from_the_topic_and_from_its_history(ada, card, how):
    services.review(card.new.pk, approve=True, by="staff:1", now=LATER)
    taught = Topic.objects.get(key="plan").examples
    assert "it is Cedar" in taught
    examples = [*taught, "mine is another one"]
    services.save_topic("plan", by="staff:1", now=LATER, examples=examples)

    if how == "forget":
        services.forget(ada.pk, topic="plan", by="customer", now=LATER)
    else:
        services.erase(ada.pk, by="staff:1", now=LATER)

    assert Topic.objects.get(key="plan").examples == [q for q in examples if q != "it is Cedar"]
    changed = MemoryEvent.objects.get(kind="topic.changed")
    assert "it is Cedar" not in f"{changed.before} {changed.after}"
    assert changed.after["examples"][-1] == "mine is another one"


def test_what_was_turned_down_is_not_proposed_again(ada, card):
    services.decide_conflict(card.pk, decision="keep", now=LATER)

    tell(ada, "it is Cedar", at=LATER + DAY)

    assert not Conflict.objects.filter(decided_at=None).exists()
    assert not Memory.objects.filter(status="pending").exists()


def test_confirming_makes_it_fresh_and_brings_back_what_faded(acorn):
    Memory.objects.filter(pk=acorn.pk).update(status="forgotten", ended_at=NOW)

    services.confirm(acorn.pk, by="staff:1", now=LATER)

    acorn.refresh_from_db()
    assert (acorn.status, acorn.confirmed_at, acorn.ended_at) == ("active", LATER, None)


def test_each_change_of_a_topic_is_a_version(plan):
    services.save_topic("plan", by="staff:1", now=NOW, label="Your plan")
    services.save_topic("plan", by="staff:1", now=NOW, label="Your plan")

    plan.refresh_from_db()
    assert (plan.label, plan.version) == ("Your plan", 2)
    assert MemoryEvent.objects.get(kind="topic.changed").before == {"label": "Plan"}


def test_a_topic_does_not_become_one_valued_over_several_values(ada, allergies):
    for value in ("latex", "nickel"):
        services.remember(ada.pk, topic="allergies", value=value, text="", by="staff:1", now=NOW)

    with pytest.raises(services.StillSeveral, match="1 customers"):
        services.save_topic("allergies", by="staff:1", now=NOW, cardinality="one")
    allergies.refresh_from_db()
    assert allergies.cardinality == "many"


def test_instructions_are_versioned_and_memories_name_them(ada, reads_plans, sam):
    for text in ("Be strict.", "Be strict.", "Be kind."):
        services.save_instruction("knowledge", text, staff_id=sam.pk, now=NOW)
    tell(ada, "it is Acorn")

    assert Instruction.objects.count() == 2
    assert "instructions v2" in Memory.objects.get(kind="fact").made_by
