"""What a conversation leaves behind: at its close, at once, or only while it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings

from memory import pipeline, secrets, tasks, values
from memory.lifecycle import episode, locks, write
from memory.models import Episode, Memory, MemoryEvent, Topic
from memory.types import Action, Candidate, Category, Decision, Intent, Status, Transcript

from . import bell
from .agents import NotValidated

run_agent = pipeline.run
nightly = pipeline.nightly
sweep = pipeline.sweep
embed_memories = pipeline.embed_missing  # for bulk loads; the agent does it after each run


def remember_later(
    transcript: Transcript, *, customer_id: int, ref: str, now: datetime
) -> Episode | None:
    """Store what was said since the last flush and ring the bell when the transaction is through.

    The same `ref` is stored once. None if the customer said nothing. The row is the queue: a dead
    broker delays memory and breaks nothing.
    """
    if not any(m.text.strip() and not m.offered for m in transcript.by("customer")):
        return None
    row, made = Episode.objects.get_or_create(
        customer_id=customer_id,
        ref=ref,
        defaults={
            "transcript": episode.dump(transcript),
            "ended_at": transcript.messages[-1].at,
            "recorded_at": now,
        },
    )
    if made:
        bell.ring_on_commit(lambda: tasks.run_agent.delay(episode_id=row.pk))
    return row


def listen(
    transcript: Transcript, *, customer_id: int, now: datetime, since: int = 0
) -> list[dict[str, Any]]:
    """Return what the customer's words say, for `Conversation.working_memory`; writes no row.

    `since`: the seq of the first words that are asked about; those before are their context.
    """
    heard = pipeline.consider(transcript, since=since).candidates
    limit = settings.MEMORY_SURE
    sure = [c for c in heard if c.intent is not Intent.STATE or c.confidence >= limit]
    return [working(c) for c in sure]


def working(c: Candidate) -> dict[str, Any]:
    """A candidate as plain JSON, its times in ISO 8601."""
    return {
        "intent": c.intent.value,
        "category": c.category.value,
        "topic": c.topic,
        "value": c.value,
        "text": c.text,
        "quote": c.quote,
        "seq": c.seq,
        "negated": c.negated,
        "adds": c.adds,
        "sure": round(c.confidence, 3),
        "stated_at": c.stated_at.isoformat(),
        "valid_from": c.valid_from.isoformat() if c.valid_from else None,
        "valid_until": c.valid_until.isoformat() if c.valid_until else None,
    }


def note_now(
    customer_id: int,
    transcript: Transcript,
    *,
    topic: str,
    now: datetime,
    ref: str,
    since: int = 0,
) -> list[Memory]:
    """Store at once the reply to our question about `topic`; the close finds it said already."""
    heard = pipeline.consider(transcript, since=since).candidates
    found = [c for c in heard if c.topic == topic]
    if not found:
        return []
    source = write.Source("customer", now, pipeline.made_by())
    with locks.customer_locked(customer_id) as customer:
        decisions = pipeline.settle(customer, found, source=source)
    pipeline.embed_missing(customer_id)
    if not any(d.action is not Action.IGNORE for d in decisions):
        return []
    facts = Memory.objects.for_customer(customer_id).filter(topic__key=topic, kind="fact")
    to_come = facts.filter(status=Status.ACTIVE, valid_from__gt=now, stated_at__in=_times(found))
    return list(to_come) or list(facts.active(now))


def _times(found: Iterable[Candidate]) -> list[datetime]:
    return [c.stated_at for c in found]


def remember(
    customer_id: int,
    *,
    topic: str,
    value: str,
    text: str,
    by: str,
    now: datetime,
    staff_id: int | None = None,
) -> Memory:
    """Staff add a fact. Of a one-valued topic it takes the place of what stood there."""
    topics = {topic: Topic.objects.get(key=topic)}
    candidate = _by_staff(topics[topic], value=value, text=text, now=now)
    with locks.customer_locked(customer_id):
        rows = Memory.objects.for_customer(customer_id).filter(
            topic__key=topic, status=Status.ACTIVE, valid_until=None
        )
        old = rows.first() if topics[topic].cardinality == Topic.Cardinality.ONE else None
        action = Action.SUPERSEDE if old else Action.CREATE
        decision = Decision(action, candidate, old.pk if old else None, "added by staff")
        source = write.Source(by, now, by, corrected=True)
        made = write.apply(decision, customer_id=customer_id, topics=topics, source=source)
    pipeline.embed_missing(customer_id)
    if made is None:
        raise LookupError(topic)
    return made


def _by_staff(topic: Topic, *, value: str, text: str, now: datetime) -> Candidate:
    return Candidate(
        category=Category(topic.category),
        topic=topic.key,
        value=value,
        text=text or value,
        quote="",
        seq=0,
        stated_at=now,
        intent=Intent.STATE,
        confidence=1.0,
    )


def propose(
    customer_id: int,
    *,
    topic: str | None,
    category: str,
    value: str,
    text: str,
    evidence: dict[str, Any],
    by: str,
    now: datetime,
) -> Memory:
    """An agent's proposal: waits for a person, and is used by nobody till then.

    Raises NotValidated if it holds a secret. What a person turned down is not proposed again: the
    row that says so is returned.
    """
    if found := secrets.find("\n".join((text, value, json.dumps(evidence, default=str)))):
        raise NotValidated(f"It holds a {found[0].kind}, which is kept nowhere.")
    row = Topic.objects.get(key=topic) if topic else None
    with locks.customer_locked(customer_id):
        told = Memory.objects.for_customer(customer_id).filter(topic=row, status=Status.REJECTED)
        if refused := next((m for m in told if values.same(m.value, value)), None):
            return refused
        made = _pending(
            customer_id,
            row,
            category,
            value=value,
            text=text,
            quote=str(evidence.get("quote") or ""),
            by=by,
            now=now,
        )
        write.record_event(
            "memory.proposed",
            at=now,
            actor=by,
            customer_id=customer_id,
            memory_id=made.pk,
            topic_key=topic or "",
            after=write.snapshot(made),
            evidence=evidence,
        )
    return made


def _pending(
    customer_id: int,
    topic: Topic | None,
    category: str,
    *,
    value: str,
    text: str,
    quote: str,
    by: str,
    now: datetime,
) -> Memory:
    made: Memory = Memory.objects.create(
        customer_id=customer_id,
        topic=topic,
        category=topic.category if topic else Category(category),
        single_valued=topic is not None and topic.cardinality == Topic.Cardinality.ONE,
        permanent=topic is not None and topic.permanent,
        sensitive=topic is not None and topic.sensitive,
        status=Status.PENDING,
        needs_review=True,
        review_reason=f"proposed by {by}"[:200],
        text=text,
        value=value,
        quote=quote,
        stated_at=now,
        recorded_at=now,
        confirmed_at=now,
        made_by=by[:80],
    )
    return made


def history(memory_id: int) -> list[MemoryEvent]:
    return list(MemoryEvent.objects.filter(memory_id=memory_id).order_by("pk"))
