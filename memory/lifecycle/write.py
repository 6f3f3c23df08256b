"""Decisions become rows, with their history: under the customer's lock, each with its event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from memory.models import Conflict, Episode, Memory, MemoryEvent, Topic
from memory.types import Action, Candidate, Decision, Status

FACT = "fact"


@dataclass(frozen=True, slots=True)
class Source:
    """Who changes what is known, when, and what it was made from."""

    actor: str
    now: datetime
    made_by: str = ""
    episode: Episode | None = None
    corrected: bool = False


def record_event(
    kind: str,
    *,
    at: datetime,
    actor: str,
    customer_id: int | None = None,
    memory_id: int | None = None,
    answer_id: int | None = None,
    episode_id: int | None = None,
    topic_key: str = "",
    reason: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    evidence: dict[str, Any] | None = None,
) -> MemoryEvent:
    """One line of history. `before`, `after` and `evidence` go when the customer asks to forget."""
    return MemoryEvent.objects.create(
        kind=kind,
        at=at,
        actor=actor,
        customer_id=customer_id,
        memory_id=memory_id,
        answer_id=answer_id,
        episode_id=episode_id,
        topic_key=topic_key,
        reason=reason[:400],
        before=before,
        after=after,
        evidence=evidence,
    )


def snapshot(m: Memory) -> dict[str, Any]:
    return {
        "status": m.status,
        "text": m.text,
        "value": m.value,
        "valid_until": m.valid_until.isoformat() if m.valid_until else None,
        "ended_at": m.ended_at.isoformat() if m.ended_at else None,
    }


def apply(
    decision: Decision, *, customer_id: int, topics: Mapping[str, Topic], source: Source
) -> Memory | None:
    """Write one decision and its event; return the row that now stands, if there is one.

    Call it inside `customer_locked`. A request to forget is blanked elsewhere; here a fact is at
    most taken back, and keeps its history.
    """
    old = Memory.objects.filter(pk=decision.replaces_id).first() if decision.replaces_id else None
    before = snapshot(old) if old else None
    made = _write(decision, old, customer_id, topics, source)
    told = {} if decision.action is Action.IGNORE else {"quotes": list(decision.evidence)}
    stands = made or old
    record_event(
        _KINDS[decision.action],
        at=source.now,
        actor=source.actor,
        customer_id=customer_id,
        memory_id=stands.pk if stands else None,
        episode_id=source.episode.pk if source.episode else None,
        topic_key=decision.candidate.topic or "",
        reason=decision.reason,
        before=before if decision.action is not Action.IGNORE else None,
        after=snapshot(made) if made else None,
        evidence={"seq": decision.candidate.seq, **told},
    )
    return made


_KINDS = {
    Action.CREATE: "memory.created",
    Action.REINFORCE: "memory.reinforced",
    Action.UPDATE: "memory.updated",
    Action.SUPERSEDE: "memory.superseded",
    Action.DELETE: "memory.retracted",
    Action.IGNORE: "memory.ignored",
}


def _write(
    decision: Decision,
    old: Memory | None,
    customer_id: int,
    topics: Mapping[str, Topic],
    source: Source,
) -> Memory | None:
    c = decision.candidate
    if decision.action is Action.IGNORE:
        return None
    if decision.action is Action.CREATE:
        return _new_row(decision, customer_id, topics, source)
    if old is None:
        raise LookupError(f"no memory {decision.replaces_id} to {decision.action.lower()}")
    if decision.action is Action.REINFORCE:
        return _reinforced(old, c, source)
    if decision.action is Action.DELETE:
        if starts := _later(c):
            _ends(old, at=starts)
        else:
            _close(old, Status.RETRACTED, at=c.stated_at)
        return old
    if decision.needs_review:
        return _open_conflict(decision, old, customer_id, topics, source)
    # The old row first: the partial unique constraint allows one active row without an end.
    give_way(old, at=c.stated_at, starts=_later(c))
    made = _new_row(decision, customer_id, topics, source, old=old)
    follow(old, made)
    return made


def _later(c: Candidate) -> datetime | None:
    """The day from which on a standing value is to hold, where that was still to come."""
    ahead = c.valid_from is not None and c.valid_from > c.stated_at
    return c.valid_from if ahead and c.valid_until is None else None


def give_way(old: Memory, *, at: datetime, starts: datetime | None) -> None:
    """End what stood: at once, or when the new value `starts`, if it holds today."""
    holds_today = old.valid_from is None or old.valid_from <= at
    if starts and holds_today:
        _ends(old, at=starts)
    else:
        _close(old, Status.SUPERSEDED, at=at)


def follow(old: Memory, new: Memory) -> None:
    """Link the rows; what was to hold till `old` takes over now holds till `new` does."""
    Memory.objects.filter(pk=old.pk).update(superseded_by=new)
    before = Memory.objects.filter(superseded_by=old, status=Status.ACTIVE)
    if new.valid_from and new.valid_from > new.stated_at:
        before.update(valid_until=new.valid_from, superseded_by=new)
    else:
        before.update(status=Status.SUPERSEDED, ended_at=new.stated_at, superseded_by=new)
    if new.valid_until and new.topic_id:  # it stands till a value that is to come already
        to_come = Memory.objects.filter(
            customer_id=new.customer_id, topic_id=new.topic_id, status=Status.ACTIVE
        )
        plan = to_come.filter(valid_from=new.valid_until, valid_until=None).first()
        Memory.objects.filter(pk=new.pk).update(superseded_by=plan)


def _ends(old: Memory, *, at: datetime) -> None:
    old.valid_until = min(old.valid_until, at) if old.valid_until else at
    old.save(update_fields=["valid_until"])


def _close(old: Memory, status: Status, *, at: datetime) -> None:
    old.status, old.ended_at = status, max(at, old.stated_at)
    old.save(update_fields=["status", "ended_at"])


def _reinforced(old: Memory, c: Candidate, source: Source) -> Memory:
    quote = _quote(c, source)
    heard = {(q.get("quote"), q.get("seq"), q.get("at")) for q in old.quotes}
    if (quote["quote"], quote["seq"], quote["at"]) not in heard:  # noted at once, read at close
        old.quotes = [*old.quotes, quote]
        old.times_stated += 1
    old.confirmed_at = max(old.confirmed_at, c.stated_at)
    old.confidence = max(old.confidence, c.confidence)
    old.save(update_fields=["quotes", "times_stated", "confirmed_at", "confidence"])
    return old


def _quote(c: Candidate, source: Source) -> dict[str, Any]:
    episode_id = source.episode.pk if source.episode else None
    return {"quote": c.quote, "seq": c.seq, "episode": episode_id, "at": c.stated_at.isoformat()}


def _new_row(
    decision: Decision,
    customer_id: int,
    topics: Mapping[str, Topic],
    source: Source,
    *,
    old: Memory | None = None,
) -> Memory:
    c = decision.candidate
    topic = topics[c.topic] if c.topic else None
    same_fact = old is not None and decision.action is Action.UPDATE
    merged = decision.value is not None and decision.value != c.value
    return Memory.objects.create(
        customer_id=customer_id,
        topic=topic,
        category=c.category,
        kind=FACT,
        status=Status.PENDING if decision.needs_review else Status.ACTIVE,
        single_valued=topic is not None and topic.cardinality == Topic.Cardinality.ONE,
        permanent=topic is not None and topic.permanent,
        sensitive=topic is not None and topic.sensitive,
        text=decision.text or c.text,
        value=decision.value or c.value,
        quote=c.quote,
        quotes=[*(old.quotes if old and same_fact else ()), _quote(c, source)],
        negated=(old is not None and old.negated and c.negated) if merged else c.negated,
        corrected_by_staff=source.corrected,
        corrected_away=old.corrected_away if old else [],
        corrected_away_why=old.corrected_away_why if old else "",
        stated_at=c.stated_at,
        valid_from=c.valid_from,
        valid_until=c.valid_until,
        recorded_at=source.now,
        confirmed_at=c.stated_at,
        confidence=min(max(c.confidence, 0.0), 1.0),
        importance=min(max(c.importance, 0.0), 1.0),
        usefulness=old.usefulness if old and same_fact else 0.0,
        times_stated=old.times_stated + 1 if old and same_fact else 1,
        needs_review=decision.needs_review,
        review_reason=decision.reason[:200] if decision.needs_review else "",
        episode=source.episode,
        source_seq=c.seq,
        made_by=f"{source.made_by}, topic v{topic.version}" if topic else source.made_by,
    )


def _open_conflict(
    decision: Decision,
    old: Memory,
    customer_id: int,
    topics: Mapping[str, Topic],
    source: Source,
) -> Memory:
    """One card per customer and topic: a still newer statement takes the waiting one's place."""
    made = _new_row(decision, customer_id, topics, source)
    if old.topic_id is None:
        return made  # waits in the review queue: a card is about a topic
    card = Conflict.objects.filter(
        customer_id=customer_id, topic_id=old.topic_id, decided_at=None
    ).first()
    if card is None:
        Conflict.objects.create(
            customer_id=customer_id,
            topic_id=old.topic_id,
            old=old,
            new=made,
            opened_at=source.now,
            due_at=source.now + timedelta(hours=settings.MEMORY_CONFLICT_HOURS),
        )
        return made
    Memory.objects.filter(pk=card.new_id).update(
        status=Status.SUPERSEDED, ended_at=made.stated_at, superseded_by=made, needs_review=False
    )
    Conflict.objects.filter(pk=card.pk).update(new=made)
    return made
