"""What a turn would make of a question by itself, without taking one: nothing is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chat import situations
from chat.llm import embedding, intents, language, verbatim
from chat.llm.base import Answer, Offer, Situation
from chat.llm.intents import Kind, Reading
from memory import services
from memory.types import AnswerCandidate

MAY_BE_SHARED = {Kind.QUESTION, Kind.STATEMENT, Kind.PERSONAL, Kind.SELF}
HERS_ALONE = 0.8  # how surely a question is about what was told, that no one else can have asked


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """`way`: "given", "offered", "touches" (a person, for what she told us) or "person"."""

    way: str
    answers: tuple[AnswerCandidate, ...] = ()


def for_everyone(text: str) -> bool:
    """Whether an answer for everyone may settle it: it asks something, and not for her own data.

    What is in pain, wants something done, or merely tells, waits for a person and for no answer.
    """
    if services.unmarked(text) != text:
        return False  # there was a secret in it
    reading = _read(text)
    if reading.distress or reading.kind not in MAY_BE_SHARED:
        return False
    if reading.kind is Kind.SELF and reading.score(Kind.SELF) >= HERS_ALONE:
        return False
    return reading.asks or reading.kind is Kind.QUESTION


def today(text: str, *, customer_id: int, now: datetime) -> Rehearsed:
    """What would come of these words alone: how they read and what is stored decide, as in a turn.

    Notes, tools and what else was said in the conversation are left out.
    """
    reading, english = _read(text), language.english(text)
    answer = services.answer_for(
        text,
        glossed=english if english != text else "",
        customer_id=customer_id,
        now=now,
        record=False,
    )
    precedent = situations.precedent(answer, reading.kind)
    moves, _need = verbatim.decide(Situation(text, reading, answer=answer, precedent=precedent))
    for move in moves:
        if isinstance(move, Answer):
            return Rehearsed("given", (move.candidate,))
        if isinstance(move, Offer):
            return Rehearsed("offered", tuple(move.candidates))
    return Rehearsed("touches" if answer.blocked else "person")


def _read(text: str) -> Reading:
    return intents.read(text, embed=embedding.embed_one, english=language.english(text))
