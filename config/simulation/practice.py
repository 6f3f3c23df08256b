"""The practice that is simulated: what is asked, when, by whom, in which words. Pure, by seed.

The file's form is the `practice` of the evaluation files: questions with weights, wordings and an
expert's answer, personal questions, statements by topic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

Kind = Literal["question", "personal", "statement", "small_talk"]
KINDS: tuple[tuple[Kind, float], ...] = (
    ("question", 0.55),
    ("personal", 0.10),
    ("statement", 0.20),
    ("small_talk", 0.15),
)
OUT_OF_HOURS = 0.40
PER_WEEK = (40, 60)  # messages
OPEN, CLOSE = time(8), time(17)
WORKDAYS = 5
EARLIEST, LATEST = time(6), time(23)  # nobody writes at night
SMALL_TALK = (
    "hi there",
    "good morning",
    "thanks!",
    "thank you so much, you are all lovely",
    "ok great",
    "have a nice weekend",
    "hello",
    "perfect, thanks",
    "bye for now",
    "haha fair enough",
    "cheers",
    "good evening :)",
)


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    weight: float
    role: str
    answer: str
    wordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Personal:
    id: str
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Practice:
    name: str
    timezone: str
    questions: tuple[Question, ...]
    personal: tuple[Personal, ...]
    statements: tuple[tuple[str, tuple[str, ...]], ...]  # (topic, what customers say of it)


@dataclass(frozen=True, slots=True)
class Coming:
    """One message that will be written. `key`: the question's or personal question's id."""

    at: datetime
    customer: int
    kind: Kind
    text: str
    key: str = ""
    week: int = 0
    out_of_hours: bool = False


@dataclass
class _Decks:
    """No wording is used twice before all of them were used once."""

    dice: random.Random
    decks: dict[str, list[str]] = field(default_factory=dict)

    def draw(self, question: Question) -> str:
        deck = self.decks.get(question.id)
        if not deck:
            deck = self.dice.sample(question.wordings, len(question.wordings))
            self.decks[question.id] = deck
        return deck.pop()


@dataclass
class _Maker:
    practice: Practice
    customers: int
    dice: random.Random
    decks: _Decks

    def week(self, number: int, monday: date) -> Iterator[Coming]:
        kinds, shares = zip(*_possible(self.practice), strict=True)
        for _ in range(self.dice.randint(*PER_WEEK)):
            late = self.dice.random() < OUT_OF_HOURS
            [kind] = self.dice.choices(kinds, shares)
            text, key = self._words(kind)
            yield Coming(
                at=_moment(monday, ZoneInfo(self.practice.timezone), self.dice, late=late),
                customer=self.dice.randrange(self.customers),
                kind=kind,
                text=text,
                key=key,
                week=number,
                out_of_hours=late,
            )

    def _words(self, kind: Kind) -> tuple[str, str]:
        p = self.practice
        if kind == "question":
            [asked] = self.dice.choices(p.questions, [q.weight for q in p.questions])
            return self.decks.draw(asked), asked.id
        if kind == "personal":
            personal = self.dice.choice(p.personal)
            return personal.text, personal.id
        if kind == "statement":
            return self.dice.choice([t for _, texts in p.statements for t in texts]), ""
        return self.dice.choice(SMALL_TALK), ""


def coming(
    practice: Practice, *, weeks: int, customers: int, start: date, seed: int
) -> list[Coming]:
    """All messages of the whole time, in order. The same seed brings the same messages."""
    dice = random.Random(seed)  # noqa: S311 - a simulation is to be repeatable, not secret
    maker = _Maker(practice, customers, dice, _Decks(dice))
    made = [m for n in range(weeks) for m in maker.week(n, start + timedelta(weeks=n))]
    return sorted(made, key=lambda m: m.at)


def _possible(practice: Practice) -> list[tuple[Kind, float]]:
    """A file may have no personal questions, or no statements."""
    empty = {
        "personal": not practice.personal,
        "statement": not any(texts for _, texts in practice.statements),
    }
    return [(kind, share) for kind, share in KINDS if not empty.get(kind)]


def _moment(monday: date, zone: ZoneInfo, dice: random.Random, *, late: bool) -> datetime:
    """In opening hours on a workday, or out of them on any day, by the practice's clock."""
    opens, closes = OPEN.hour * 60, CLOSE.hour * 60
    day = dice.randrange(7 if late else WORKDAYS)
    minutes = dice.randrange(opens, closes)
    while late and day < WORKDAYS and opens <= minutes < closes:
        minutes = dice.randrange(EARLIEST.hour * 60, LATEST.hour * 60)
    clock = time(minutes // 60, minutes % 60)
    return datetime.combine(monday + timedelta(days=day), clock, tzinfo=zone).astimezone(UTC)
