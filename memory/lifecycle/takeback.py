"""Which rows a request to take something back, or to forget it, is about."""

from __future__ import annotations

from collections.abc import Sequence

from memory import values
from memory.types import Action, Candidate, Decision, Intent, Known, Status, TopicSpec

_DISTINCT = 4  # letters


def take_back(
    candidate: Candidate, known: Sequence[Known], *, topic: TopicSpec | None
) -> tuple[Decision, ...]:
    """Return one decision for each row meant: active ones are taken back, all versions forgotten.

    Without a topic every row that names the value is meant; without a value, all of the topic;
    a request with neither means everything.
    """
    forget = candidate.intent is Intent.FORGET
    alive = [r for r in known if r.status is Status.ACTIVE or (forget and (r.value or r.text))]
    mine = [r for r in alive if candidate.topic in (None, r.topic)]
    if forget and topic is not None and topic.single_valued:
        meant = mine  # an earlier value of the topic would tell what was forgotten
    elif topic is not None and topic.single_valued:
        meant = [r for r in mine if _names(candidate.value, r) or _touches(candidate.value, r)]
    else:
        meant = [r for r in mine if _names(candidate.value, r)]
    # Said under another heading, it is still the value that she takes back by its name.
    meant = meant or [r for r in alive if _is_named(candidate.value, r)]
    due = [r for r in meant if r.stated_at <= candidate.stated_at]
    if not due:
        return (Decision(Action.IGNORE, candidate, reason="nothing of the kind is known"),)
    return tuple(_without(candidate, row) for row in due)


def _names(value: str, row: Known) -> bool:
    if not value.strip():
        return True
    asked, told = values.words(value), values.words(row.value)
    return bool(asked) and (
        asked <= told | values.words(row.text) or (bool(told) and told <= asked)
    )


def _is_named(value: str, row: Known) -> bool:
    told = values.words(row.value)
    return bool(told) and told <= values.words(value)


def _touches(value: str, row: Known) -> bool:
    """One distinctive word is enough where only one value can be meant."""
    told = values.words(row.value) | values.words(row.text)
    return any(len(w) >= _DISTINCT for w in values.words(value) & told)


def _without(candidate: Candidate, row: Known) -> Decision:
    """One clause of a merged value goes and the others stay, unless all is to be forgotten."""
    forget = candidate.intent is Intent.FORGET
    reason = "forgotten at the customer's request" if forget else "taken back by the customer"
    evidence = (candidate.quote,)
    asked, parts = values.words(candidate.value), values.clauses(row.value)
    kept = [p for p in parts if not (asked and asked <= values.words(p))]
    if forget or not asked or not 0 < len(kept) < len(parts):
        return Decision(Action.DELETE, candidate, row.id, reason, evidence)
    return Decision(
        Action.UPDATE,
        candidate,
        row.id,
        f"one clause {reason}",
        evidence,
        value=values.CLAUSE.join(kept),
        text=values.sentences(kept),
    )
