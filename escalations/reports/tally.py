"""What was counted once, for all charts: turns, matches and events by week."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from chat.models import Turn
from escalations.hours import OpenClock
from memory.models import AnswerMatch, MemoryEvent

from .weekly import Period, Weekly, counted, summed, week_of, weekly_by, within

# What the bot settled without a person, as chat's turns name it.
ANSWERED = ("answered", "note", "recalled", "noted", "forgot")
# … and of it what a person would else have had to write: nobody asks a desk to take a note.
SPARED = ("answered", "note", "recalled")
HANDED_OVER = ("handed_over", "emergency")
MEMORY_EVENTS = ("memory.created", "memory.reinforced", "memory.superseded", "memory.forgotten")


@dataclass
class Tally:
    period: Period
    clock: OpenClock | None  # without one, the door counts as shut
    turns: dict[tuple[Any, ...], Weekly] = field(init=False)  # outcome, generated, past skipped
    while_shut: dict[str, Weekly] = field(init=False)  # outcome
    matches: dict[tuple[Any, ...], Weekly] = field(init=False)  # outcome
    events: dict[tuple[Any, ...], Weekly] = field(init=False)  # kind

    def __post_init__(self) -> None:
        period = self.period
        self._count_turns()
        matches = AnswerMatch.objects.filter(within("created_at", period))
        self.matches = weekly_by(matches, "created_at", period, "outcome")
        events = MemoryEvent.objects.filter(within("at", period), kind__in=MEMORY_EVENTS)
        self.events = weekly_by(events, "at", period, "kind")

    def _count_turns(self) -> None:
        """One pass over the most rows that there are: between two edges no week ends, and the door
        neither opens nor shuts."""
        self.turns, self.while_shut = defaultdict(self.period.empty), defaultdict(self.period.empty)
        edges = self._edges()
        weeks = [*map(week_of(self.period), edges)]
        shut = [self.clock is None or not self.clock.is_open_at(edge) for edge in edges]
        rows = Turn.objects.filter(within("created_at", self.period))
        for n, *key, number in counted(
            rows, "created_at", edges, "outcome", "generated", "past_skipped"
        ):
            self.turns[tuple(key)][weeks[n - 1]] += number
            if shut[n - 1]:
                self.while_shut[key[0]][weeks[n - 1]] += number

    def _edges(self) -> list[float]:
        weeks = self.period.starts()
        doors = self.clock.edges() if self.clock else []
        return sorted({*weeks, *(edge for edge in doors if edge > weeks[0])})

    def out_of_hours(self, outcomes: Iterable[str]) -> Weekly:
        return summed((self.while_shut.get(o, {}) for o in outcomes), self.period)

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
