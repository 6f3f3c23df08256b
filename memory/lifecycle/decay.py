"""By the clock: what ended is relabelled, what faded is forgotten till somebody restores it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from memory import scoring
from memory.models import Memory, MemoryEvent
from memory.types import Category, MemoryType, Status

ACTOR = "nightly run"
BATCH = 500
Progress = Callable[[int, int], None]  # looked at so far, changed so far


def half_life(memory: Memory) -> timedelta | None:
    """None: never fades."""
    if memory.permanent or (memory.topic and memory.topic.permanent):
        return None
    if memory.topic and memory.topic.half_life_days:
        return timedelta(days=memory.topic.half_life_days)
    if memory.memory_type == MemoryType.EPISODIC:
        return timedelta(days=settings.MEMORY_EPISODE_DAYS)
    preference = memory.category == Category.PREFERENCE
    return timedelta(
        days=settings.MEMORY_PREFERENCE_DAYS if preference else settings.MEMORY_FACT_DAYS
    )


_FADES_BY = (
    *("permanent", "memory_type", "category", "confirmed_at", "usefulness"),
    *("topic__key", "topic__permanent", "topic__half_life_days"),
)


def strength_of(memory: Memory, *, now: datetime) -> float:
    return scoring.strength(
        confirmed_at=memory.confirmed_at,
        now=now,
        half_life=half_life(memory),
        usefulness=memory.usefulness,
    )


def expire(*, now: datetime) -> int:
    """Relabel what its end already keeps out of every answer; return how many.

    What was to give way on that day has given way: the newer value holds since.
    """
    ended = Memory.objects.filter(status=Status.ACTIVE, valid_until__lte=now)
    changed = 0
    for batch in _batches(ended.order_by("pk")):
        for m in batch:
            followed = m.superseded_by_id is not None
            m.status = Status.SUPERSEDED if followed else Status.EXPIRED
            m.ended_at = m.valid_until
        changed += _save(batch, "memory.expired", "its time is over", now)
    return changed


def fade(*, now: datetime, progress: Progress | None = None) -> int:
    """Let go of active memories below the threshold, in batches; return how many. Restorable."""
    threshold = settings.MEMORY_FORGET_BELOW
    rows = Memory.objects.filter(status=Status.ACTIVE, permanent=False).select_related("topic")
    rows = rows.only("customer_id", *_FADES_BY)  # without its vector, which is most of a row
    seen = changed = 0
    for batch in _batches(rows.order_by("pk")):
        faded = [m for m in batch if strength_of(m, now=now) < threshold]
        for m in faded:
            m.status, m.ended_at = Status.FORGOTTEN, now
        changed += _save(faded, "memory.faded", "not confirmed for long", now)
        seen += len(batch)
        if progress is not None:
            progress(seen, changed)
    return changed


def _batches(rows: Any) -> Iterator[list[Memory]]:
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        yield batch


def _save(batch: list[Memory], kind: str, reason: str, now: datetime) -> int:
    """Change only what is still active: somebody may have acted meanwhile."""
    done = [
        m
        for m in batch
        if Memory.objects.filter(pk=m.pk, status=Status.ACTIVE).update(
            status=m.status, ended_at=m.ended_at
        )
    ]
    MemoryEvent.objects.bulk_create(
        MemoryEvent(
            kind=kind,
            at=now,
            actor=ACTOR,
            customer_id=m.customer_id,
            memory_id=m.pk,
            topic_key=m.topic.key if m.topic else "",
            reason=reason,
        )
        for m in done
    )
    return len(done)
