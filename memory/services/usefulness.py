"""What became of replies that rested on a memory. It fades later for it; mere use does nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal, get_args

from memory import scoring
from memory.lifecycle import locks, write
from memory.models import Memory, MemoryEvent
from memory.types import Status

Outcome = Literal["helped", "assumed", "not_helped"]
_KINDS = {f"outcome.{outcome}": outcome for outcome in get_args(Outcome)}


def record_outcome(
    customer_id: int,
    memory_ids: Iterable[int],
    *,
    ref: str,
    outcome: Outcome,
    by: str,
    now: datetime,
) -> int:
    """Say what came of the replies of one conversation (`ref`) that rested on these memories.

    A conversation counts once, by the last word on it: the same word again changes nothing.
    Return how many memories changed.
    """
    ids = list(memory_ids)
    if not ids or not _news(_said_of(ids), ids, ref, outcome):
        return 0
    with locks.customer_locked(customer_id):
        rows = Memory.objects.for_customer(customer_id).filter(pk__in=ids, status=Status.ACTIVE)
        standing = {m.pk: m for m in rows.select_related("topic")}
        said = _said_of(standing)
        news = _news(said, standing, ref, outcome)
        for pk in news:
            m, now_said = standing[pk], said.get(pk, {}) | {ref: outcome}
            before, m.usefulness = m.usefulness, _useful(now_said)
            m.save(update_fields=["usefulness"])
            write.record_event(
                f"outcome.{outcome}",
                at=now,
                actor=by,
                customer_id=customer_id,
                memory_id=pk,
                topic_key=m.topic.key if m.topic else "",
                before={"usefulness": before},
                after={"usefulness": m.usefulness},
                evidence={"ref": ref},
            )
    return len(news)


def outcomes_of(memory_id: int) -> dict[Outcome, int]:
    """Return in how many conversations replies that rested on it helped, or did not."""
    said = list(_said_of([memory_id]).get(memory_id, {}).values())
    return {outcome: said.count(outcome) for outcome in get_args(Outcome)}


def _news(
    said: Mapping[int, Mapping[str, Outcome]], ids: Iterable[int], ref: str, outcome: Outcome
) -> list[int]:
    return sorted(pk for pk in ids if said.get(pk, {}).get(ref) != outcome)


def _useful(said: Mapping[str, Outcome]) -> float:
    words = list(said.values())
    return scoring.usefulness(
        helped=words.count("helped"),
        assumed=words.count("assumed"),
        not_helped=words.count("not_helped"),
    )


def _said_of(ids: Iterable[int]) -> dict[int, dict[str, Outcome]]:
    """Return the last word on each conversation, by memory; what a fact was before it was made
    more exact counts for it."""
    was = _earlier(ids)
    rows = MemoryEvent.objects.filter(memory_id__in=was, kind__in=_KINDS).order_by("pk")
    said: dict[int, dict[str, Outcome]] = {}
    for earlier, kind, evidence in rows.values_list("memory_id", "kind", "evidence"):
        if ref := (evidence or {}).get("ref"):
            said.setdefault(was[earlier], {})[ref] = _KINDS[kind]
    return said


def _earlier(ids: Iterable[int]) -> dict[int, int]:
    """Return each version of these facts, and the fact that it became."""
    found = {pk: pk for pk in ids}
    looked: set[int] = set()
    while new := found.keys() - looked:
        looked |= new
        exact = MemoryEvent.objects.filter(memory_id__in=new, kind="memory.updated")
        pairs = Memory.objects.filter(superseded_by__in=exact.values("memory_id"))
        for pk, became in pairs.values_list("pk", "superseded_by_id"):
            found.setdefault(pk, found[became])
    return found
