"""What both gates say of one message, as recall and the knowledge agent ask them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory import pipeline
from memory.types import GateResult, Said

from . import reading


@dataclass(frozen=True, slots=True)
class Gated:
    """`retrieve`: does a reply need the past; `save`: may the message hold something lasting."""

    retrieve: GateResult
    save: GateResult


def gated(message: str, *, before: Sequence[str] = (), now: datetime) -> Gated:
    """One embedding of the message serves both, as in a turn."""
    return Gated(
        retrieve=reading.needs_past(message, before),
        save=pipeline.worth_saving(Said(1, "customer", message, now), before=before),
    )
