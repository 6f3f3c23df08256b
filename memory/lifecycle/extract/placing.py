"""Clauses that lean on what was said before them borrow its topic: replies, corrections, fragments."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from memory.speech import acts, kinds
from memory.types import Candidate, Intent

from . import replies
from .runs import Run
from .topics import Array
from .understanding import CLEAR, SURE, Reading, Understanding

TOLD_WHEN_ASKED = 0.12  # the topic is known from the question: little is needed
CORRECTED = 0.9
_NOT_LIFTED = (
    "asked",
    "imagined",
    "mocked",
    "planted",
    "says nothing",
    "stalling",
    "points to what is known",
)
# How we admit that something is not known.
_MISSING = re.compile(
    r"(?:record of|have|know) (?!(?:a |any |your |the )?(?:record|this|that|it|preference for this)\b)(?:your |the |any )?(?P<what>[\w' -]{3,60}?)(?: noted| on file| yet)?[,.;:?!]",
    re.I,
)
_LEANING = re.compile(
    r"(?:it|that|this|they|them|mine|ours|those|these|i meant|i mean|make that|make it)\b|it's|its|that's|mine's"
)


def place(
    run: Run,
    readings: list[Reading],
    question: replies.Question | None,
    found: Sequence[Candidate],
    u: Understanding,
) -> None:
    """Give the readings that cannot stand alone a topic, where the words before tell it.

    `found`: what was read before, where these words put it right.
    """
    for r in readings:
        if replies.stalls(r.text):
            r.doubt = r.doubt or "stalling"
    asked = asked_topic(run, question, u)
    if asked is not None and question is not None:
        _lift(readings, asked, u, gap=question.gap)
    if found:
        _correct(readings, found, u)
    for i, r in enumerate(readings):
        _lean(r, readings[i - 1] if i else None, question, u)


def corrects(readings: Sequence[Reading]) -> bool:
    """Does she put right what she said before in this conversation?"""
    return any(acts.CORRECTS_START.search(acts.plain(r.clause.text)) for r in readings)


def asked_topic(run: Run, question: replies.Question | None, u: Understanding) -> int | None:
    """The topic of our own admission that something is not known, if that was said last."""
    if question is None or not (question.gap or question.text.endswith("?")):
        return None
    if question.slots and not question.gap:
        return None  # one of the times that are free is picked
    for i, topic in enumerate(u.specs):
        if topic.key == question.asks_topic:
            return i
    if not question.gap:
        chances = u.chances(question.text, 0.9)
        return int(np.argmax(chances)) if chances.max() >= SURE else None
    missing = _MISSING.search(run.before.text if run.before else "")
    if missing:
        (vector,) = u.embed([missing["what"]])
        near = np.maximum(u.known.labels @ vector, u.known.descriptions @ vector)
        return int(np.argmax(near))
    for text in (run.before.text if run.before else "", run.earlier):
        if text:
            chances = u.chances(text, 0.9)
            if chances.max() >= 0.2:
                return int(np.argmax(chances))
    return None


def _lift(readings: list[Reading], asked: int, u: Understanding, *, gap: bool) -> None:
    """What she answers to a question about a topic is about it, unless it is clearly about another."""
    for r in readings:
        if r.doubt in _NOT_LIFTED or r.doubt == "answers a question of the moment":
            continue
        own = r.chance >= SURE and r.best != asked
        if (own and r.clause.full and not _LEANING.match(acts.opened(r.text))) or (
            not gap
            and (r.clause.full or (own and (len(readings) > 2 or "code" in kinds.of(r.text))))
        ):
            continue
        lifted = _joined(f"{u.specs[asked].label}:", r, u)
        if lifted[asked] >= TOLD_WHEN_ASKED or not r.clause.full:
            r.place(asked, max(SURE, float(lifted[asked])))
            r.doubt = ""


def _correct(readings: list[Reading], found: Sequence[Candidate], u: Understanding) -> None:
    """ "Sorry, it's …" puts the latest value of the same kind right."""
    for r in readings:
        if r.doubt and r.doubt not in ("told of the past", "of the moment"):
            continue
        if r.clause.full and not _LEANING.match(acts.opened(r.text)):
            continue
        shape = kinds.of(r.clause.text) & {"code", "phone", "number", "mail"}
        for c in reversed(found):
            of_old = kinds.of(c.value) & {"code", "phone", "number", "mail"}
            if c.topic and c.intent is Intent.STATE and bool(shape) == bool(of_old):
                if not shape and not _names_something(r):
                    break
                r.place(u.known.position(c.topic), CORRECTED)
                r.doubt = ""
                break


def _names_something(r: Reading) -> bool:
    """Has it a name or a word of its own, beyond "I meant the other one"?"""
    text = kinds.content(r.text)
    return text != r.text and not re.search(
        r"\b(?:other|old|last|wrong|first)\b", acts.plain(r.text)
    )


def _lean(
    r: Reading, before: Reading | None, question: replies.Question | None, u: Understanding
) -> None:
    if r.doubt or r.borrowed or (r.clear and kinds.stems(r.text)) or not _leans(r):
        return
    said = _said_before(r, before, question)
    if not said:
        return
    chances = _joined(said, r, u)
    if chances.max() > r.chance or not kinds.stems(r.text):
        r.chances, r.borrowed = chances, True


def _said_before(r: Reading, before: Reading | None, question: replies.Question | None) -> str:
    if before is None:
        return question.text if question is not None and question.text.endswith("?") else ""
    together = before.clause.sentence == r.clause.sentence and not before.clause.full
    return before.text if before.chance >= CLEAR or together else ""


def _leans(r: Reading) -> bool:
    return not r.clause.full or bool(_LEANING.match(acts.opened(r.text)))


def _joined(before: str, r: Reading, u: Understanding) -> Array:
    return u.chances(f"{before.strip()} {r.text}", max(r.statement, 0.5))
