"""A value that a person accepted takes the place of what stood, and gives it back when undone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.lifecycle import write
from memory.models import Conflict, Memory, MemoryEvent
from memory.types import Status

States = list[dict[str, Any]]


def stands(m: Memory) -> Memory | None:
    """The row that the constraint lets nobody stand beside."""
    if not m.single_valued or m.valid_until is not None:
        return None
    rows = Memory.objects.filter(customer_id=m.customer_id, topic=m.topic)
    return rows.filter(status=Status.ACTIVE, valid_until=None).exclude(pk=m.pk).first()


def gives_way(m: Memory) -> Memory | None:
    """What `m` takes the place of once it is accepted: else what its card says it contradicts."""
    if standing := stands(m):
        return standing
    card = Conflict.objects.filter(new=m, old__status=Status.ACTIVE).select_related("old").first()
    return card.old if card else None


def make_room(m: Memory, standing: Memory, *, now: datetime) -> None:
    """Call it before `m` becomes active, inside `customer_locked`."""
    starts = m.valid_from if m.valid_from and m.valid_from > now else None
    write.give_way(standing, at=min(m.stated_at, now), starts=starts)
    write.follow(standing, m)


def states(m: Memory, standing: Memory | None) -> States:
    """Return what `put_back` needs: `m` first, what stood, and what held till that took over."""
    rows = [m]
    if standing is not None:
        rows += [standing, *Memory.objects.filter(superseded_by=standing, status=Status.ACTIVE)]
    return [_state(row) for row in rows]


def put_back(was: States) -> None:
    """In that order: the partial unique constraint allows one active row without an end."""
    for state in was:
        Memory.objects.filter(pk=state["id"]).update(**state)


def kept(event: MemoryEvent) -> States:
    """The states before a decision, from its event's `before`."""
    found: States = (event.before or {}).get("rows", [])
    return found


def _state(m: Memory) -> dict[str, Any]:
    return {
        "id": m.pk,
        "status": m.status,
        "ended_at": _iso(m.ended_at),
        "valid_from": _iso(m.valid_from),
        "valid_until": _iso(m.valid_until),
        "confirmed_at": _iso(m.confirmed_at),
        "superseded_by_id": m.superseded_by_id,
        "needs_review": m.needs_review,
    }


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
