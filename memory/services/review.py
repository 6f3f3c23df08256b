"""What people decide about a memory: correct, confirm, approve, reject, settle a conflict; undo."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from memory import pipeline, site_layer
from memory.lifecycle import locks, write
from memory.models import Conflict, Memory, MemoryEvent, Topic
from memory.types import Action, Candidate, Category, Decision, Status

from . import superseding

KEPT_EXAMPLES = 60  # of one topic: more adds little and slows every start

Verdict = Literal["keep", "replace", "both"]


class Touched(Exception):
    """Something newer happened: undoing the older step would overwrite it."""


def correct(
    memory_id: int,
    *,
    value: str,
    text: str,
    by: str,
    now: datetime,
    staff_id: int | None = None,
    why: str = "",
) -> Memory:
    """Put another value in its place. The old one stays as history and never comes back by chat."""
    customer_id = Memory.objects.values_list("customer_id", flat=True).get(pk=memory_id)
    with locks.customer_locked(customer_id):
        old = Memory.objects.select_related("topic").get(pk=memory_id)
        if old.status not in (Status.ACTIVE, Status.PENDING):
            raise Touched(f"memory {memory_id} is {old.status}")
        _settle_card(old, staff_id, now)
        if standing := superseding.stands(old):
            superseding.make_room(old, standing, now=now)
        topics = {old.topic.key: old.topic} if old.topic else {}
        decision = Decision(
            Action.SUPERSEDE, _like(old, value, text, now), old.pk, why or "corrected by staff"
        )
        source = write.Source(by, now, by, corrected=True)
        made = write.apply(decision, customer_id=customer_id, topics=topics, source=source)
        if made is None:
            raise Touched(f"memory {memory_id} could not be corrected")
        made.corrected_away = [*old.corrected_away, old.value]
        made.corrected_away_why = why
        made.save(update_fields=["corrected_away", "corrected_away_why"])
    pipeline.embed_missing(customer_id)
    return made


def _like(old: Memory, value: str, text: str, now: datetime) -> Candidate:
    return Candidate(
        category=Category(old.category),
        topic=old.topic.key if old.topic else None,
        value=value,
        text=text or value,
        quote="",
        seq=old.source_seq or 0,
        stated_at=now,
        valid_from=old.valid_from,
        valid_until=old.valid_until,
        confidence=1.0,
        importance=old.importance,
    )


def _settle_card(m: Memory, staff_id: int | None, now: datetime) -> None:
    """A correction decides an open card too: the value that waited is not used."""
    card = Conflict.objects.filter(customer=m.customer, topic=m.topic, decided_at=None).first()
    if card is None:
        return
    if card.new_id != m.pk:
        Memory.objects.filter(pk=card.new_id, status=Status.PENDING).update(
            status=Status.REJECTED, ended_at=now, needs_review=False
        )
    Conflict.objects.filter(pk=card.pk).update(
        decision="keep", decided_at=now, decided_by_id=staff_id
    )


def confirm(memory_id: int, *, by: str, now: datetime) -> Memory:
    """It is still so: fresh again, and back if it had merely faded.

    Raises Touched where something newer stands in its place by now.
    """
    customer_id = Memory.objects.values_list("customer_id", flat=True).get(pk=memory_id)
    with locks.customer_locked(customer_id):
        m: Memory = Memory.objects.get(pk=memory_id)
        before = write.snapshot(m)
        faded = m.status == Status.FORGOTTEN and bool(m.text)
        if faded and superseding.stands(m):
            raise Touched("something newer stands in its place")
        if faded:
            m.status, m.ended_at = Status.ACTIVE, None
        m.confirmed_at, m.needs_review = now, False
        m.save(update_fields=["status", "ended_at", "confirmed_at", "needs_review"])
        kind = "memory.restored" if faded else "memory.confirmed"
        _record(kind, m, by=by, now=now, before=before)
    return m


def review(
    memory_id: int, *, approve: bool, by: str, now: datetime, staff_id: int | None = None
) -> Memory:
    """Decide about a memory that waits, or that stands in doubt.

    Its topic learns an example or a counter-example.
    """
    customer_id = Memory.objects.values_list("customer_id", flat=True).get(pk=memory_id)
    with locks.customer_locked(customer_id):
        m: Memory = Memory.objects.select_related("topic").get(pk=memory_id)
        locks.hold_topics([m.topic_id])
        doubted = m.status == Status.ACTIVE and m.needs_review
        if m.status != Status.PENDING and not doubted:
            raise Touched(f"memory {memory_id} is {m.status}")
        standing = superseding.gives_way(m) if approve else None
        before = write.snapshot(m) | {"rows": superseding.states(m, standing)}
        if standing is not None:
            superseding.make_room(m, standing, now=now)
        card = Conflict.objects.filter(new=m, decided_at=None)
        card.update(
            decision="replace" if approve else "keep", decided_at=now, decided_by_id=staff_id
        )
        m.status = Status.ACTIVE if approve else Status.REJECTED
        m.ended_at = None if approve else now
        m.needs_review = False
        if doubted and approve:
            m.confirmed_at = now
        m.save(update_fields=["status", "ended_at", "needs_review", "confirmed_at"])
        _record(
            "memory.approved" if approve else "memory.rejected", m, by=by, now=now, before=before
        )
        if m.topic and m.quote:
            _teach(m.topic, m.quote, example=approve, by=by, now=now)
    if m.topic and m.quote:
        site_layer.refit(m.topic.pk, by=by, now=now)
    return m


def _teach(topic: Topic, quote: str, *, example: bool, by: str, now: datetime) -> None:
    """The examples feed the gate and the extraction of this site from the next run on."""
    name, other = ("examples", "not_examples") if example else ("not_examples", "examples")
    topic = Topic.objects.get(pk=topic.pk)  # as it is under the lock
    mine = [q for q in getattr(topic, name) if q != quote]
    setattr(topic, name, [*mine, quote][-KEPT_EXAMPLES:])
    setattr(topic, other, [q for q in getattr(topic, other) if q != quote])
    topic.version += 1
    topic.save(update_fields=["examples", "not_examples", "version"])
    write.record_event(
        "topic.learnt", at=now, actor=by, topic_key=topic.key, reason=f"{name}, v{topic.version}"
    )


def undo_review(memory_id: int, *, by: str, now: datetime) -> Memory:
    """Back to waiting or to its doubt, while nothing newer happened to the topic."""
    customer_id = Memory.objects.values_list("customer_id", flat=True).get(pk=memory_id)
    with locks.customer_locked(customer_id):
        m: Memory = Memory.objects.select_related("topic").get(pk=memory_id)
        locks.hold_topics([m.topic_id])
        superseding.put_back(superseding.kept(_last(m, ("memory.approved", "memory.rejected"))))
        m.refresh_from_db()
        Conflict.objects.filter(new=m).update(decision="", decided_at=None, decided_by=None)
        if m.topic and m.quote:
            _unteach(m.topic, m.quote)
        _record("memory.review_undone", m, by=by, now=now)
    if m.topic and m.quote:
        site_layer.refit(m.topic.pk, by=by, now=now)
    return m


def _unteach(topic: Topic, quote: str) -> None:
    topic = Topic.objects.get(pk=topic.pk)  # as it is under the lock
    topic.examples = [q for q in topic.examples if q != quote]
    topic.not_examples = [q for q in topic.not_examples if q != quote]
    topic.version += 1
    topic.save(update_fields=["examples", "not_examples", "version"])


def _last(m: Memory, kinds: tuple[str, ...]) -> MemoryEvent:
    """The step to undo. Raises Touched if the topic changed after it."""
    event = MemoryEvent.objects.filter(memory=m, kind__in=kinds).order_by("-pk").first()
    if event is None or not superseding.kept(event):
        raise Touched(f"nothing to undo for memory {m.pk}")
    newer = MemoryEvent.objects.filter(customer_id=m.customer_id, pk__gt=event.pk)
    newer = newer.filter(kind__startswith="memory.").exclude(kind="memory.ignored")
    same = newer.filter(topic_key=m.topic.key) if m.topic else newer.filter(memory=m)
    if same.exists():
        raise Touched("something newer happened to this topic")
    return event


def _record(
    kind: str, m: Memory, *, by: str, now: datetime, before: dict[str, Any] | None = None
) -> None:
    write.record_event(
        kind,
        at=now,
        actor=by,
        customer_id=m.customer_id,
        memory_id=m.pk,
        topic_key=m.topic.key if m.topic else "",
        before=before,
        after=write.snapshot(m),
    )
