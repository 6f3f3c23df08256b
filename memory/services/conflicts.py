"""Conflict cards: the customer says otherwise than staff corrected, and a person decides."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.lifecycle import locks, write
from memory.models import Conflict, Memory, MemoryEvent
from memory.types import Status

from . import superseding
from .review import Touched, Verdict


def decide_conflict(
    conflict_id: int, *, decision: Verdict, now: datetime, staff_id: int | None = None
) -> Conflict:
    """Keep the old value, replace it, or let both stand, each in its time.

    The first decision counts: raises Touched if the card is closed already.
    """
    customer_id = Conflict.objects.values_list("customer_id", flat=True).get(pk=conflict_id)
    with locks.customer_locked(customer_id):
        card = Conflict.objects.select_related("old", "new", "topic").get(pk=conflict_id)
        if card.decided_at is not None:
            raise Touched("somebody decided already")
        old = superseding.gives_way(card.new)
        before = {"rows": superseding.states(card.new, old)}
        {"keep": _keep, "replace": _replace, "both": _both}[decision](card.new, old, now)
        card.decision, card.decided_at, card.decided_by_id = decision, now, staff_id
        card.save(update_fields=["decision", "decided_at", "decided_by"])
        _record("memory.conflict_decided", card, staff_id, now, reason=decision, before=before)
    return card


def _keep(new: Memory, old: Memory | None, now: datetime) -> None:
    _set(new, status=Status.REJECTED, ended_at=now)


def _replace(new: Memory, old: Memory | None, now: datetime) -> None:
    if old is not None:
        superseding.make_room(new, old, now=now)
        _set(old)
    _set(new, status=Status.ACTIVE)


def _both(new: Memory, old: Memory | None, now: datetime) -> None:
    """Both were right: of one value the old one held until the new one was said."""
    if old is not None and old.single_valued:
        since = new.valid_from or new.stated_at
        over = {"status": Status.EXPIRED, "ended_at": since} if since <= now else {}
        _set(old, valid_until=since, **over)
        _set(new, status=Status.ACTIVE, valid_from=since)
    else:
        _set(new, status=Status.ACTIVE)


def _set(m: Memory, **fields: Any) -> None:
    Memory.objects.filter(pk=m.pk).update(needs_review=False, **fields)


def undo_conflict(conflict_id: int, *, now: datetime, staff_id: int | None = None) -> Conflict:
    """Open the card again, while nothing newer touched the topic. Raises Touched otherwise."""
    customer_id = Conflict.objects.values_list("customer_id", flat=True).get(pk=conflict_id)
    with locks.customer_locked(customer_id):
        card = Conflict.objects.select_related("old", "new", "topic").get(pk=conflict_id)
        superseding.put_back(superseding.kept(_decided(card)))
        card.decision, card.decided_at, card.decided_by = "", None, None
        card.save(update_fields=["decision", "decided_at", "decided_by"])
        _record("memory.conflict_reopened", card, staff_id, now)
    return card


def _decided(card: Conflict) -> MemoryEvent:
    events = MemoryEvent.objects.filter(customer_id=card.customer_id, topic_key=card.topic.key)
    mine = events.filter(kind="memory.conflict_decided", memory=card.old)
    event = mine.order_by("-pk").first()
    if card.decided_at is None or event is None or not superseding.kept(event):
        raise Touched("there is nothing to undo")
    newer = events.filter(pk__gt=event.pk, kind__startswith="memory.")
    if newer.exclude(kind="memory.ignored").exists():
        raise Touched("something newer happened to this topic")
    return event


def _record(
    kind: str,
    card: Conflict,
    staff_id: int | None,
    now: datetime,
    *,
    reason: str = "",
    before: dict[str, Any] | None = None,
) -> None:
    write.record_event(
        kind,
        at=now,
        actor=f"staff:{staff_id}" if staff_id else "staff",
        customer_id=card.customer_id,
        memory_id=card.old_id,
        topic_key=card.topic.key,
        reason=reason,
        before=before,
    )
