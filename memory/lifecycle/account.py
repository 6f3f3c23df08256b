"""What a run leaves beside the facts: its counts, a summary, and which instructions led it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from memory.models import Episode, Instruction, Memory, MemoryEvent
from memory.prepared import Prepared
from memory.types import Category, GateResult, MemoryType


def newest_instructions() -> Instruction | None:
    return next(iter(_NEWEST.instances()), None)


_NEWEST = Prepared(
    lambda: Instruction.objects.filter(kind=Instruction.Kind.KNOWLEDGE).order_by("-version")[:1]
)


def made_by(engine: str) -> str:
    """Engine and version of the instructions; each row adds its topic's version."""
    newest = newest_instructions()
    return f"{engine}, instructions v{newest.version if newest else 0}"


def count(
    episode: Episode,
    *,
    gate: Iterable[GateResult],
    refused: Iterable[str],
    actor: str,
    now: datetime,
) -> None:
    """Every decision of gate and validation, without a word of what was said."""
    gated = Counter(f"{'passed' if r.passed else 'skipped'} by {r.by}" for r in gate)
    MemoryEvent.objects.create(
        kind="gate.save",
        at=now,
        actor=actor,
        customer_id=episode.customer_id,
        episode=episode,
        evidence={"messages": dict(gated), "refused": dict(Counter(refused))},
    )


def summarise(episode: Episode, text: str, *, engine: str, now: datetime) -> None:
    Memory.objects.create(
        customer_id=episode.customer_id,
        category=Category.CONFIRMED_FACT,
        memory_type=MemoryType.EPISODIC,
        kind="summary",
        text=text,
        stated_at=episode.ended_at,
        recorded_at=now,
        confirmed_at=episode.ended_at,
        episode=episode,
        made_by=engine,
    )
