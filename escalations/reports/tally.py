"""What was counted once, for all charts: turns, matches and events by week."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from chat.models import Turn
from memory.models import AnswerMatch, MemoryEvent

from .weekly import Period, Weekly, summed, weekly_by, within

# What the bot settled without a person, as chat's turns name it.
ANSWERED = ("answered", "note", "recalled", "noted", "forgot")
MEMORY_EVENTS = ("memory.created", "memory.reinforced", "memory.superseded", "memory.forgotten")


@dataclass
class Tally:
    period: Period
    turns: dict[tuple[Any, ...], Weekly] = field(init=False)  # outcome, generated, past skipped
    matches: dict[tuple[Any, ...], Weekly] = field(init=False)  # outcome
    events: dict[tuple[Any, ...], Weekly] = field(init=False)  # kind

    def __post_init__(self) -> None:
        period = self.period
        turns = Turn.objects.filter(within("created_at", period))
        self.turns = weekly_by(turns, "created_at", period, "outcome", "generated", "past_skipped")
        matches = AnswerMatch.objects.filter(within("created_at", period))
        self.matches = weekly_by(matches, "created_at", period, "outcome")
        events = MemoryEvent.objects.filter(within("at", period), kind__in=MEMORY_EVENTS)
        self.events = weekly_by(events, "at", period, "kind")

    def with_outcome(self, outcomes: Iterable[str]) -> Weekly:
        wanted = set(outcomes)
        return summed((w for key, w in self.turns.items() if key[0] in wanted), self.period)

    def generated(self) -> Weekly:
        return summed((w for key, w in self.turns.items() if key[1]), self.period)

    def skipped(self) -> Weekly:
        return summed((w for key, w in self.turns.items() if key[2]), self.period)

    def all_turns(self) -> Weekly:
        return summed(self.turns.values(), self.period)

    def matched(self, *outcomes: str) -> Weekly:
        return summed((self.matches.get((o,), {}) for o in outcomes), self.period)

    def event(self, kind: str) -> Weekly:
        return self.events.get((kind,), self.period.empty())
