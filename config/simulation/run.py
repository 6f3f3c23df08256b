"""The simulated time: what happens when, by a clock of its own, through the real front doors."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from chat import conversations
from chat.models import Business, Conversation
from escalations.models import Escalation
from memory import services
from memory.models import Episode, MemoryEvent

from . import ahead
from .desk import Desk
from .practice import Coming, Practice, coming
from .tally import Outcome, Tally
from .topics import lay_down
from .truth import Truth
from .visit import Visitors

START = date(2026, 1, 5)  # a Monday
NIGHTLY = time(3, 10)
ENDS = 0.5  # of the chats that the bot settled are ended by the customer, the others fall idle
LINGERS = timedelta(minutes=2)
IDLE = timedelta(minutes=31)

Do = Callable[[datetime], None]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    weeks: int = 26
    customers: int = 800
    seed: int = 1


def simulate(practice: Practice, chosen: Settings, *, progress: Progress) -> dict[str, Any]:
    """Run the whole time in the present, empty database; return weeks and totals."""
    with services.without_bell(), asyncio.Runner() as runner:
        run = _Run(practice, chosen, runner.get_loop())
        run.open()
        run.play(progress)
    return {
        "practice": practice.name,
        "timezone": practice.timezone,
        "start": START.isoformat(),
        "customers": chosen.customers,
        "seed": chosen.seed,
        **run.tally.as_json(),
    }


class _Run:
    def __init__(
        self, practice: Practice, chosen: Settings, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.practice, self.chosen = practice, chosen
        # The messages have dice of their own: whatever the product does, the same ones come.
        dice = random.Random(f"reactions {chosen.seed}")  # noqa: S311
        self.dice, self.tally = dice, Tally()
        self.truth = Truth(practice)
        self.desk = Desk(self.truth, dice)
        self.visitors = Visitors(self.truth, dice, loop)
        self.waiting: dict[int, list[tuple[int, Coming]]] = defaultdict(list)  # by conversation
        self._due: list[tuple[datetime, int, Do]] = []
        self._put = 0

    def open(self) -> None:
        zone = ZoneInfo(self.practice.timezone)
        begin = datetime.combine(START, time(0), tzinfo=zone).astimezone(UTC)
        conversations.business()
        Business.objects.update(name=self.practice.name, timezone=self.practice.timezone)
        lay_down(self.practice, now=begin)
        self.desk.open()
        for day in range(self.chosen.weeks * 7):
            night = datetime.combine(START + timedelta(days=day), NIGHTLY, tzinfo=UTC)
            self._at(night, _nightly)

    def play(self, progress: Progress) -> None:
        messages = coming(
            self.practice,
            weeks=self.chosen.weeks,
            customers=self.chosen.customers,
            start=START,
            seed=self.chosen.seed,
        )
        for message in messages:
            self._at(message.at, partial(self._message, message))
        for number in range(self.chosen.weeks):
            self.tally.week(number)
        with ahead.embedding([m.text for m in messages]) as used:
            while self._due:
                now, _, do = heapq.heappop(self._due)
                do(now)
                done = sum(w.messages for w in self.tally.weeks)
                used.up_to(done)
                progress(done, len(messages))
        self._count_memory()

    def _at(self, when: datetime, do: Do) -> None:
        self._put += 1
        heapq.heappush(self._due, (when, self._put, do))

    def _message(self, message: Coming, now: datetime) -> None:
        repeat = message.key in self.truth.answered
        wording = (message.key, message.text)
        unseen = wording not in self.truth.asked
        self.truth.asked.add(wording)
        outcome = self.visitors.write(message)
        week = self.tally.week(message.week)
        week.count(message, outcome, repeat=repeat, unseen=unseen)
        self._after(message, outcome, now)

    def _after(self, message: Coming, outcome: Outcome, now: datetime) -> None:
        if outcome.waits is not None:
            self.waiting[outcome.chat].append((outcome.waits, message))
            self._at(self.desk.next_free(now), self._staff_take_one)
        elif self.dice.random() < ENDS:
            self._at(now + LINGERS, partial(self._end, outcome.chat, now))
        self._at(now + IDLE, self._tidy)

    def _staff_take_one(self, now: datetime) -> None:
        taken = self.desk.take_oldest(now)
        if taken is not None:
            escalation, when = taken
            self._at(when, partial(self._staff_answer, escalation))

    def _staff_answer(self, escalation: Escalation, now: datetime) -> None:
        heard = self.waiting.pop(escalation.conversation_id, [])
        self.desk.answer(escalation, heard, now)
        self._at(now + IDLE, self._tidy)

    def _end(self, chat: int, said: datetime, now: datetime) -> None:
        """She closes the chat, unless she wrote again or a person is to come."""
        row = Conversation.objects.get(pk=chat)
        if row.handler == Conversation.Handler.BOT and row.last_message_at < said + LINGERS:
            conversations.close(chat, reason="ended", now=now)
            self._read(now)

    def _tidy(self, now: datetime) -> None:
        conversations.close_idle(now=now)
        self._read(now)

    def _read(self, now: datetime) -> None:
        """What the bell would have the worker do."""
        waiting = Episode.objects.filter(processed_at=None).order_by("pk")
        for pk in list(waiting.values_list("pk", flat=True)):
            services.run_agent(pk, now=now)

    def _count_memory(self) -> None:
        zone = ZoneInfo(self.practice.timezone)
        done = MemoryEvent.objects.filter(kind__startswith="memory.").values_list("at", flat=True)
        for at in done:
            number = (at.astimezone(zone).date() - START).days // 7
            if 0 <= number < self.chosen.weeks:
                self.tally.week(number).memory_operations += 1


def _nightly(now: datetime) -> None:
    services.nightly(now=now)
