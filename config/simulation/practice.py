"""The practice that is simulated: what is asked, when, by whom, in which words. Pure, by seed.

The file's form is the `practice` of the evaluation files: questions with weights, wordings and an
expert's answer, personal questions, statements by topic.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal
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


class BadPractice(Exception):
    """The file does not have the form of a practice; the text says where."""


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
    statements: tuple[tuple[str, str], ...]  # (topic, text)

    @property
    def topics(self) -> list[str]:
        return sorted({topic for topic, _ in self.statements})


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


def read(path: Path) -> Practice:
    """Raises BadPractice, naming what is missing."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as exc:
        raise BadPractice(f"{path.name}: {exc}") from exc
    try:
        return _practice(data)
    except (KeyError, TypeError, ValueError) as exc:
        raise BadPractice(f"{path.name}: not a practice file: {exc!r}") from exc


def _practice(data: dict[str, Any]) -> Practice:
    return Practice(
        name=data["practice"],
        timezone=str(ZoneInfo(data["timezone"])),
        questions=tuple(
            Question(
                q["id"], float(q["weight"]), q.get("role", ""), q["answer"], tuple(q["wordings"])
            )
            for q in data["questions"]
        ),
        personal=tuple(Personal(p["id"], p["text"], p["answer"]) for p in data["personal"]),
        statements=tuple((s["topic"], t) for s in data["statements"] for t in s["texts"]),
    )


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

    def week(self, number: int, monday: datetime) -> Iterator[Coming]:
        kinds, shares = zip(*KINDS, strict=True)
        for _ in range(self.dice.randint(*PER_WEEK)):
            late = self.dice.random() < OUT_OF_HOURS
            [kind] = self.dice.choices(kinds, shares)
            text, key = _words(self.practice, kind, self.dice, self.decks)
            yield Coming(
                at=_moment(monday, late, self.dice),
                customer=self.dice.randrange(self.customers),
                kind=kind,
                text=text,
                key=key,
                week=number,
                out_of_hours=late,
            )


def coming(
    practice: Practice, *, weeks: int, customers: int, start: datetime, seed: int
) -> list[Coming]:
    """All messages of the whole time, in order. The same seed brings the same messages."""
    dice = random.Random(seed)  # noqa: S311 - a simulation is to be repeatable, not secret
    maker = _Maker(practice, customers, dice, _Decks(dice))
    made = [m for n in range(weeks) for m in maker.week(n, start + timedelta(weeks=n))]
    return sorted(made, key=lambda m: m.at)


def _words(practice: Practice, kind: Kind, dice: random.Random, decks: _Decks) -> tuple[str, str]:
    if kind == "question":
        [asked] = dice.choices(practice.questions, [q.weight for q in practice.questions])
        return decks.draw(asked), asked.id
    if kind == "personal":
        personal = dice.choice(practice.personal)
        return personal.text, personal.id
    if kind == "statement":
        return dice.choice(practice.statements)[1], ""
    return dice.choice(SMALL_TALK), ""


def _moment(monday: datetime, late: bool, dice: random.Random) -> datetime:
    """In opening hours on a weekday, or out of them on any day, in the practice's zone."""
    if not late:
        minutes = dice.randrange((CLOSE.hour - OPEN.hour) * 60)
        return monday + timedelta(days=dice.randrange(5), hours=OPEN.hour, minutes=minutes)
    day, minutes = dice.randrange(7), dice.randrange(6 * 60, 23 * 60)
    while day < 5 and OPEN.hour * 60 <= minutes < CLOSE.hour * 60:
        minutes = dice.randrange(6 * 60, 23 * 60)
    return monday + timedelta(days=day, minutes=minutes)
