"""What one statement does to what is known: rows come in, a decision with its reason goes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory import values
from memory.types import Action, Candidate, Decision, Known, Status, TopicSpec
from memory.values import Alike

_OVER = (Status.SUPERSEDED, Status.RETRACTED, Status.FORGOTTEN, Status.EXPIRED)
_OLDER = "older than what is known"
_A_PERSON = "says otherwise than what staff corrected: a person decides"


def resolve(
    candidate: Candidate,
    known: Sequence[Known],
    *,
    topic: TopicSpec | None,
    alike: Alike | None = None,
    sure: float = 0.0,
) -> Decision:
    """Return the one change that `candidate`, a statement, makes.

    What would change something and is less certain than `sure` waits for a person instead.

    `known`: the customer's memories of every status, the history too. Older statements that come
    late replace nothing. What staff corrected away never comes back by chat; a later explicit
    change of a corrected value waits for a person. Without a topic every fact of the category that
    has none is compared by its value: likeness alone touches nothing.
    """
    rows = [k for k in known if k.topic == candidate.topic and k.category == candidate.category]
    decision = _resolve(candidate, rows, topic, alike)
    if candidate.confidence >= sure or decision.action in (Action.IGNORE, Action.REINFORCE):
        return decision
    waiting = (r for r in rows if r.status is Status.PENDING)
    if same := next((r for r in waiting if _same(candidate, r, alike)), None):
        return _ignore(candidate, same, "waits for a person already")
    return replace(_new(candidate, "not sure enough: a person decides"), needs_review=True)


def _resolve(
    candidate: Candidate, rows: list[Known], topic: TopicSpec | None, alike: Alike | None
) -> Decision:
    one = topic is not None and topic.single_valued
    refused = _refused(candidate, rows, one, alike)
    if refused is not None:
        return refused
    if one:
        return _one_valued(candidate, rows, alike)
    return _side_by_side(candidate, rows, alike)


def _refused(
    candidate: Candidate, rows: list[Known], one: bool, alike: Alike | None
) -> Decision | None:
    """What a person turned down or corrected away, and what was said before it was taken back."""
    for row in rows:
        if row.status is Status.REJECTED and _same(candidate, row, alike):
            return _ignore(candidate, row, "a reviewer turned this statement down")
        if any(_is_value(candidate, gone, alike) for gone in row.corrected_away):
            return _ignore(candidate, row, "staff corrected this value away")
        if (row.ended_at or row.stated_at) <= candidate.stated_at:
            continue
        if one and row.status is Status.FORGOTTEN and not row.value:
            return _ignore(candidate, row, "said before it was forgotten at the customer's request")
        if row.status is Status.RETRACTED and _says_no_more(candidate, row, alike):
            return _ignore(candidate, row, "said before it was taken back")
    return None


def _is_value(candidate: Candidate, value: str, alike: Alike | None) -> bool:
    return _denied(candidate) == values.denies(value) and values.same(candidate.value, value, alike)


def _one_valued(candidate: Candidate, rows: list[Known], alike: Alike | None) -> Decision:
    active = [r for r in rows if r.status is Status.ACTIVE]
    standing = next((r for r in active if r.valid_until is None), None)
    planned = standing if standing is not None and _to_come(standing, candidate) else None
    if planned is not None:
        standing = next((r for r in active if r.valid_until == planned.valid_from), None)
    if candidate.valid_until is not None:
        if standing is not None and _says_no_more(candidate, standing, alike):
            return _again(candidate, standing)
        return _exception(candidate, [r for r in active if r is not standing], alike)
    if planned is not None:
        if _to_come(candidate, candidate) or _says_no_more(candidate, planned, alike):
            return _plan_anew(candidate, planned, alike)
        candidate = replace(candidate, valid_until=planned.valid_from)  # till then
    if standing is not None and _says_no_more(candidate, standing, alike):
        return _again(candidate, standing)
    if standing is None:
        newer = [r for r in rows if r.status in _OVER and r.stated_at > candidate.stated_at]
        standing_once = next((r for r in newer if r.valid_until is None), None)
        return _ignore(candidate, standing_once, _OLDER) if standing_once else _new(candidate)
    if candidate.stated_at < standing.stated_at:
        return _ignore(candidate, standing, _OLDER)
    if standing.corrected:
        return _supersede(candidate, standing, _A_PERSON, needs_review=True)
    return _change(candidate, standing)


def _to_come(row: Known | Candidate, candidate: Candidate) -> bool:
    return row.valid_from is not None and row.valid_from > candidate.stated_at


def _plan_anew(candidate: Candidate, planned: Known, alike: Alike | None) -> Decision:
    """Something is to hold from a day on, and she speaks of that again: the same, or otherwise."""
    same = _says_no_more(candidate, planned, alike)
    one_breath = candidate.stated_at == planned.stated_at
    if same and (candidate.valid_from == planned.valid_from or one_breath):
        return _again(candidate, planned)
    if candidate.stated_at < planned.stated_at:
        return _ignore(candidate, planned, _OLDER)
    if planned.corrected and not same:
        return _supersede(candidate, planned, _A_PERSON, needs_review=True)
    if candidate.valid_from is None:
        return _supersede(candidate, planned, "holds already, before the day that was named")
    return _supersede(candidate, planned, "a newer statement says otherwise for that time")


def _exception(candidate: Candidate, active: list[Known], alike: Alike | None) -> Decision:
    """What has an end stands beside the standing value and changes nothing else."""
    start = candidate.valid_from or candidate.stated_at
    for row in active:
        if row.valid_until is None or row.valid_until <= start:
            continue
        if row.valid_from and candidate.valid_until and row.valid_from > candidate.valid_until:
            continue  # each has its own time
        if _same(candidate, row, alike) and row.valid_until == candidate.valid_until:
            return _again(candidate, row)
        if candidate.stated_at < row.stated_at:
            return _ignore(candidate, row, "older than the exception that holds")
        return _supersede(candidate, row, "a newer exception for the same time")
    return _new(candidate, "holds for a time only")


def _change(candidate: Candidate, standing: Known) -> Decision:
    """A newer, different statement: more exact, an addition, or the end of the old value."""
    denied = _denied(candidate)
    exact = values.more_exact(
        values.shown(candidate.value, candidate.negated),
        values.shown(standing.value, standing.negated),
    )
    if exact and not candidate.adds:
        return _update(candidate, standing, "the same, more exactly")
    parts = values.clauses(values.shown(standing.value, standing.negated))
    # Both in one message, unless the one ends where the other begins.
    one_breath = candidate.stated_at == standing.stated_at and not _to_come(candidate, candidate)
    only_refusals = all(map(values.denies, parts))
    if candidate.adds or denied or one_breath or only_refusals:
        return _merge(candidate, standing, parts)
    return _replace(candidate, standing, parts)


def _merge(candidate: Candidate, standing: Known, parts: list[str]) -> Decision:
    """Both clauses stay, but for one that the new words deny."""
    kept = _not_opposed(candidate, parts)
    if not kept:
        return _supersede(candidate, standing, "denies what was said before")
    before = [standing.text] if kept == parts else kept
    return _update(
        candidate,
        standing,
        "adds to what is known: both clauses stay",
        value=values.CLAUSE.join([*kept, values.shown(candidate.value, candidate.negated)]),
        text=values.sentences([*before, candidate.text]),
    )


def _replace(candidate: Candidate, standing: Known, parts: list[str]) -> Decision:
    """Another wish takes the old one's place; what was refused beside it stays refused."""
    decision = _supersede(candidate, standing, "a newer statement says otherwise")
    refused = [p for p in _not_opposed(candidate, parts) if values.denies(p)]
    if not refused:
        return decision
    return replace(
        decision,
        value=values.CLAUSE.join([candidate.value, *refused]),
        text=values.sentences([candidate.text, *refused]),
    )


def _not_opposed(candidate: Candidate, parts: list[str]) -> list[str]:
    denied = _denied(candidate)
    return [p for p in parts if not values.opposed(p, values.denies(p), candidate.value, denied)]


def _side_by_side(candidate: Candidate, rows: list[Known], alike: Alike | None) -> Decision:
    """Many-valued topics, and facts without one: only a row about the same value is touched."""
    active = [r for r in rows if r.status is Status.ACTIVE]
    for row in active:
        if _says_no_more(candidate, row, alike):
            return _again(candidate, row)
    denied = _denied(candidate)
    for row in active:
        contrary = values.opposed(candidate.value, denied, row.value, _denied(row))
        exact = denied == _denied(row) and values.more_exact(candidate.value, row.value)
        if not contrary and not exact:
            continue
        if candidate.stated_at < row.stated_at:
            return _ignore(candidate, row, _OLDER)
        if row.corrected:
            return _supersede(candidate, row, _A_PERSON, needs_review=True)
        if contrary:
            return _supersede(candidate, row, "cannot be true beside what was said before")
        return _update(candidate, row, "the same, more exactly")
    return _new(candidate, "new beside the others" if active else "new")


def _same(candidate: Candidate, row: Known, alike: Alike | None) -> bool:
    return _denied(candidate) == _denied(row) and values.same(
        values.shown(candidate.value, candidate.negated),
        values.shown(row.value, row.negated),
        alike,
    )


def _says_no_more(candidate: Candidate, row: Known, alike: Alike | None) -> bool:
    """The same value, a less exact one, or one clause of it."""
    said, stands = (values.shown(x.value, x.negated) for x in (candidate, row))
    if len(values.clauses(stands)) > 1:
        return all(values.covers(stands, part) for part in values.clauses(said))
    return _same(candidate, row, alike) or values.more_exact(stands, said)


def _denied(row: Candidate | Known) -> bool:
    return row.negated or values.denies(row.value)


def _new(candidate: Candidate, reason: str = "new") -> Decision:
    return Decision(Action.CREATE, candidate, reason=reason, evidence=(candidate.quote,))


def _again(candidate: Candidate, row: Known) -> Decision:
    return Decision(Action.REINFORCE, candidate, row.id, "said again", _evidence(candidate, row))


def _ignore(candidate: Candidate, row: Known, reason: str) -> Decision:
    return Decision(Action.IGNORE, candidate, row.id, reason, _evidence(candidate, row))


def _supersede(
    candidate: Candidate, row: Known, reason: str, *, needs_review: bool = False
) -> Decision:
    evidence = _evidence(candidate, row)
    return Decision(Action.SUPERSEDE, candidate, row.id, reason, evidence, needs_review)


def _update(
    candidate: Candidate, row: Known, reason: str, *, value: str = "", text: str = ""
) -> Decision:
    return Decision(
        Action.UPDATE,
        candidate,
        row.id,
        reason,
        _evidence(candidate, row),
        value=value or candidate.value,
        text=text or candidate.text,
    )


def _evidence(candidate: Candidate, row: Known) -> tuple[str, ...]:
    return tuple(dict.fromkeys(q for q in (row.quote, candidate.quote) if q))
