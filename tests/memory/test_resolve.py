"""What a statement does to what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.lifecycle.resolve import resolve
from memory.lifecycle.takeback import take_back
from memory.types import Action, Intent, Status
from tests.memory.statements import ALLERGIES, CODE, CONTACT, DAY, NOW, known, said


def action(candidate, *rows, topic=CONTACT, alike=None):
    return resolve(candidate, rows, topic=topic, alike=alike).action


def test_creates_what_nobody_said_before():
    assert action(said("email")) is Action.CREATE


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("email", "E-mail please"),
        ("mornings", "the morning"),
        ("607-555-0188", "(607) 555 0188"),
        ("Delta Dental PPO", "Delta Dental"),
        ("penicillin", "penicilin"),
        ("email; not by phone", "email"),
    ],
)
def test_reinforces_what_is_said_again_in_other_words(first, again):
    assert action(said(again), known(first)) is Action.REINFORCE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("607-555-0188", "607-555-0189"),
        ("email", "text message"),
        ("prednisone", "prednisolone"),
        ("Dr. Marta Lind", "Dr. Maria Lind"),
        ("mornings", "evenings"),
    ],
)
def test_supersedes_by_another_value_however_alike_the_two_are(first, second):
    assert action(said(second), known(first), alike=lambda a, b: 0.91) is Action.SUPERSEDE


def test_likeness_alone_never_makes_two_facts_one():
    fact = known("plays tennis on grass", topic=None)

    assert action(said("swims at noon", topic=None), fact, topic=None, alike=lambda a, b: 0.99) is (
        Action.CREATE
    )


def test_makes_a_value_more_exact():
    decision = resolve(said("Delta Dental PPO"), [known("Delta Dental")], topic=CONTACT)

    assert (decision.action, decision.value) == (Action.UPDATE, "Delta Dental PPO")


def test_keeps_both_clauses_and_both_quotes_of_an_addition():
    decision = resolve(
        said("after 6 pm", adds=True, quote="only after 6 pm"), [known("text")], topic=CONTACT
    )

    assert decision.action is Action.UPDATE
    assert decision.value == "text; after 6 pm"
    assert "text" in decision.text
    assert "after 6 pm" in decision.text
    assert decision.evidence == ("text", "only after 6 pm")


def test_another_wish_leaves_the_refusal_beside_the_old_one():
    decision = resolve(said("text message"), [known("email; not phone calls")], topic=CONTACT)

    assert (decision.action, decision.value) == (
        Action.SUPERSEDE,
        "text message; not phone calls",
    )


def test_a_refusal_in_the_same_sentence_does_not_keep_the_old_wish():
    first = known("mornings, but not Mondays")
    decision = resolve(said("evenings"), [first], topic=CONTACT)

    assert (decision.action, decision.value) == (Action.SUPERSEDE, "evenings; not Mondays")


def test_a_wish_stands_beside_an_earlier_refusal_of_something_else():
    decision = resolve(said("email"), [known("phone calls", negated=True)], topic=CONTACT)

    assert (decision.action, decision.value) == (Action.UPDATE, "not phone calls; email")


def test_two_values_in_one_message_both_stay():
    first = known("Dr. Okafor for fillings", at=NOW)
    decision = resolve(said("Priya for cleanings"), [first], topic=CONTACT)

    assert decision.value == "Dr. Okafor for fillings; Priya for cleanings"


def test_a_refusal_of_something_else_stands_beside_the_wish():
    decision = resolve(said("phone calls", negated=True), [known("email")], topic=CONTACT)

    assert (decision.action, decision.value) == (Action.UPDATE, "email; not phone calls")


def test_a_refusal_of_the_wish_itself_ends_it():
    assert action(said("email", negated=True), known("email")) is Action.SUPERSEDE


def test_goes_back_to_an_earlier_value():
    once = known("email", id=1, at=NOW - 2 * DAY, status=Status.SUPERSEDED, ended_at=NOW - DAY)
    decision = resolve(said("email"), [once, known("text", id=2)], topic=CONTACT)

    assert (decision.action, decision.replaces_id) == (Action.SUPERSEDE, 2)


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.SUPERSEDED, Status.RETRACTED])
def test_a_late_older_statement_replaces_nothing(status):
    later = known("text", at=NOW, status=status, ended_at=None if status == "active" else NOW + DAY)

    assert action(said("email", at=NOW - DAY), later) is Action.IGNORE


def test_an_exception_stands_beside_the_standing_value():
    until_friday = said("text", valid_until=NOW + 4 * DAY)
    decision = resolve(until_friday, [known("email")], topic=CONTACT)

    assert (decision.action, decision.replaces_id) == (Action.CREATE, None)


def test_a_new_standing_value_leaves_the_exception_alone():
    exception = known("text", id=2, valid_until=NOW + 4 * DAY)
    decision = resolve(said("letters"), [known("email"), exception], topic=CONTACT)

    assert (decision.action, decision.replaces_id) == (Action.SUPERSEDE, 1)


def test_a_newer_exception_replaces_the_one_that_holds():
    exception = known("text", id=2, valid_until=NOW + 4 * DAY)
    decision = resolve(
        said("letters", valid_until=NOW + 2 * DAY), [known("email"), exception], topic=CONTACT
    )

    assert (decision.action, decision.replaces_id) == (Action.SUPERSEDE, 2)


def test_never_brings_back_what_staff_corrected_away():
    corrected = known("email", corrected=True, corrected_away=("sms",))

    assert action(said("SMS"), corrected) is Action.IGNORE


def test_never_brings_back_what_staff_corrected_away_after_a_later_change():
    corrected = known(
        "email", corrected=True, corrected_away=("sms",), status=Status.SUPERSEDED, ended_at=NOW
    )

    assert action(said("SMS", at=NOW + DAY), corrected, known("letters", id=2, at=NOW)) is (
        Action.IGNORE
    )


def test_another_value_than_the_corrected_one_waits_for_a_person():
    decision = resolve(
        said("letters"), [known("email", corrected=True, corrected_away=("sms",))], topic=CONTACT
    )

    assert decision.action is Action.SUPERSEDE
    assert decision.needs_review


def test_what_a_reviewer_turned_down_is_not_proposed_again():
    assert action(said("email"), known("email", status=Status.REJECTED)) is Action.IGNORE


def test_several_values_stand_side_by_side():
    penicillin = known("penicillin", topic=ALLERGIES)

    assert action(said("latex", topic=ALLERGIES), penicillin, topic=ALLERGIES) is Action.CREATE
    assert (
        action(said("Penicillin", topic=ALLERGIES), penicillin, topic=ALLERGIES) is Action.REINFORCE
    )


def test_takes_back_one_of_several_values():
    rows = [
        known("penicillin", id=1, topic=ALLERGIES),
        known("latex", id=2, topic=ALLERGIES),
    ]
    decisions = take_back(
        said("penicillin", topic=ALLERGIES, intent=Intent.RETRACT), rows, topic=ALLERGIES
    )

    assert [(d.action, d.replaces_id) for d in decisions] == [(Action.DELETE, 1)]


def test_takes_back_one_clause_and_leaves_the_other():
    (decision,) = take_back(
        said("after 6 pm", intent=Intent.RETRACT), [known("text; after 6 pm")], topic=CONTACT
    )

    assert (decision.action, decision.value) == (Action.UPDATE, "text")


def test_what_is_taken_back_in_other_words_is_found_by_one_of_them():
    (decision,) = take_back(
        said("reminders by fax no longer needed", intent=Intent.RETRACT),
        [known("fax at the office")],
        topic=CONTACT,
    )
    assert decision.action is Action.IGNORE  # "fax" alone is too short to be sure

    (decision,) = take_back(
        said("letters no longer needed", intent=Intent.RETRACT),
        [known("letters to the office")],
        topic=CONTACT,
    )
    assert decision.action is Action.DELETE


def test_a_value_is_taken_back_by_its_name_under_whatever_topic_it_was_kept():
    (decision,) = take_back(
        said("lost Acorn last week", intent=Intent.RETRACT),
        [known("Acorn", topic=CODE)],
        topic=CONTACT,
    )

    assert decision.action is Action.DELETE


def test_what_is_not_known_cannot_be_taken_back():
    (decision,) = take_back(said("fax", intent=Intent.RETRACT), [known("email")], topic=CONTACT)

    assert decision.action is Action.IGNORE


def test_forgets_every_version_of_a_topic():
    rows = [
        known("email", id=1, status=Status.SUPERSEDED),
        known("text", id=2),
        known("latex", id=3, topic=ALLERGIES),
    ]
    decisions = take_back(said("", intent=Intent.FORGET), rows, topic=CONTACT)

    assert {d.replaces_id for d in decisions} == {1, 2}


def test_nothing_said_before_a_request_to_forget_comes_back():
    gone = known("", quote="", text="", status=Status.FORGOTTEN, ended_at=NOW)

    assert action(said("email", at=NOW - DAY), gone) is Action.IGNORE
    assert action(said("email", at=NOW + DAY), gone) is Action.CREATE


def test_forgetting_one_of_several_values_keeps_the_others_welcome():
    gone = known("", topic=ALLERGIES, quote="", text="", status=Status.FORGOTTEN, ended_at=NOW)

    assert action(said("latex", topic=ALLERGIES, at=NOW - DAY), gone, topic=ALLERGIES) is (
        Action.CREATE
    )


@pytest.mark.parametrize("rows", [[], [known("email")]])
def test_what_is_not_sure_enough_waits_and_changes_nothing(rows):
    decision = resolve(said("letters", confidence=0.4), rows, topic=CONTACT, sure=0.5)

    assert (decision.action, decision.needs_review, decision.replaces_id) == (
        Action.CREATE,
        True,
        None,
    )


def test_what_waits_already_is_not_asked_twice():
    rows = [known("letters", status=Status.PENDING)]

    decision = resolve(said("letters", confidence=0.4), rows, topic=CONTACT, sure=0.5)

    assert decision.action is Action.IGNORE


VALUES = st.sampled_from(["email", "text", "phone", "letters", "not by phone", "text after 6"])
STATEMENTS = st.lists(st.tuples(VALUES, st.integers(0, 30), st.booleans()), max_size=12)


def play(statements):
    """Apply each decision to a list of rows as the store would."""
    rows = []
    for value, day, adds in statements:
        candidate = said(value, at=NOW + day * DAY, adds=adds)
        decision = resolve(candidate, rows, topic=CONTACT)
        assert decision.reason
        if decision.action in (Action.UPDATE, Action.SUPERSEDE):
            i = next(i for i, r in enumerate(rows) if r.id == decision.replaces_id)
            assert rows[i].status is Status.ACTIVE
            rows[i] = known(
                rows[i].value, id=rows[i].id, at=rows[i].stated_at,
                status=Status.SUPERSEDED, ended_at=candidate.stated_at,
            )  # fmt: skip
        if decision.action in (Action.CREATE, Action.UPDATE, Action.SUPERSEDE):
            rows.append(known(decision.value or value, id=len(rows) + 1, at=candidate.stated_at))
    return rows


@given(STATEMENTS)
def test_one_value_stands_whatever_is_said_in_whatever_order(statements):
    rows = play(statements)

    active = [r for r in rows if r.status is Status.ACTIVE]
    assert len(active) == bool(statements)
    assert all(r.stated_at <= active[0].stated_at for r in rows)


@given(STATEMENTS)
def test_saying_the_standing_value_again_changes_nothing(statements):
    rows = play([*statements, ("email", 31, False)])
    standing = next(r for r in rows if r.status is Status.ACTIVE)

    assert action(said(standing.value, at=NOW + 40 * DAY), *rows) is Action.REINFORCE


@given(STATEMENTS, VALUES)
def test_what_is_older_than_all_that_is_known_never_becomes_current(statements, value):
    rows = play([(v, d, False) for v, d, _ in statements])

    expected = {Action.IGNORE, Action.REINFORCE} if rows else {Action.CREATE}
    assert action(said(value, at=NOW - DAY), *rows) in expected
