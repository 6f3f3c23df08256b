"""Clauses that lean on what was said before them borrow its topic: replies, corrections, fragments."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from memory.speech import acts, kinds
from memory.types import Candidate, Intent

from . import replies, standing, values
from .runs import Run
from .topics import Array
from .understanding import AHEAD, CLEAR, SURE, Reading, Understanding

TOLD_WHEN_ASKED = 0.12  # the topic is known from the question: little is needed
CORRECTED = 0.9
KNOWN = 0.8
LEANED = 0.7
KnownValues = Mapping[str, Sequence[str]]
_NOT_LIFTED = (
    "asked",
    "imagined",
    "mocked",
    "planted",
    "says nothing",
    "stalling",
    "points to what is known",
)
_TOLD_OF = ("told of the past", "somebody else's")
_REPORTED = re.compile(r"(?:and )?(?:that|how|to)\b")
_OF_THE_KIND = re.compile(r"(?:mine|ours)\b")
_OF_THEM = re.compile(r"(?:he|she|they)\b")
_ADDED = ("and", "n", "&", "plus")
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
    *,
    known: KnownValues = MappingProxyType({}),
) -> None:
    """Give the readings that cannot stand alone a topic, where the words before tell it.

    `found`: what was read before, where these words put it right. `known`: by topic, what stands.
    """
    _doubt_what_hangs_on_it(readings)
    asked = asked_topic(run, question, u)
    if asked is not None and question is not None:
        _lift(readings, asked, u, gap=question.gap)
    if found:
        _correct(readings, found, u)
    for r in readings:
        _name_what_is_known(r, known, u)
    for i, r in enumerate(readings):
        _lean(r, readings[i - 1] if i else None, question, u)
        _lean_far(r, readings[:i], run, u)


def _doubt_what_hangs_on_it(readings: Sequence[Reading]) -> None:
    """ "Hold on, it's pouring", "his dog ate the box and half the plums": the rest is like the start."""
    before: Reading | None = None
    for r in readings:
        if replies.stalls(r.text) and not _tells_after_a_pause(r.text):
            r.doubt = r.doubt or "stalling"
        elif before is not None and before.clause.sentence == r.clause.sentence and not r.doubt:
            reported = before.doubt == "hearsay" and _REPORTED.match(acts.plain(r.text))
            stalled = before.doubt == "stalling" and not acts.CORRECTS_START.search(
                acts.plain(before.text)
            )
            if stalled or reported or (before.doubt in _TOLD_OF and _goes_on(r)):
                r.doubt = before.doubt
        before = r


def _tells_after_a_pause(text: str) -> bool:
    """ "Hang on, got it here" tells nothing, "hang on it's 44-1290" does."""
    rest = replies.after_a_pause(text)
    return bool(_LEANING.match(rest) or "code" in kinds.of(rest))


def _goes_on(r: Reading) -> bool:
    """ "… and half the plums", "then he sold it": more of the same story."""
    if not r.clause.full:
        return r.clause.joint in _ADDED
    told = acts.opened(r.text)
    return bool(_OF_THEM.match(told) and standing.PAST_VERB.search(told)) and not (
        standing.PRESENT.search(told)
    )


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
        own = r.best != asked and r.chance >= max(SURE, AHEAD * float(r.chances[asked]))
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
        leans = _LEANING.match(acts.opened(replies.after_a_pause(r.text)))
        if not leans and (r.clause.full or replies.stalls(r.text)):
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
    named = kinds.content(r.text) != r.text or re.search(r"\s[A-ZÀ-Ý][a-zà-ÿ]", r.text)
    return bool(named) and not re.search(r"\b(?:other|old|last|wrong|first)\b", acts.plain(r.text))


def _name_what_is_known(r: Reading, known: KnownValues, u: Understanding) -> None:
    """ "We let the van go": what changes is of the topic under which it is known."""
    folded = acts.plain(r.text)
    if (r.doubt and r.doubt != "told of the past") or r.borrowed or r.clear:
        return
    if not (acts.CHANGE.search(folded) or values.NO_LONGER.search(folded)):
        return
    said = kinds.stems(r.text)
    named = {topic for topic, held in known.items() if said & _telling(held)}
    if len(named) == 1:
        (topic,) = named
        if any(t.key == topic for t in u.specs):
            r.place(u.known.position(topic), KNOWN)
            r.doubt = ""


def _telling(held: Sequence[str]) -> frozenset[str]:
    """The words of values that could hardly stand in another sentence by chance."""
    common = kinds.frame() | frozenset().union(*kinds.held().values())
    words = frozenset().union(*map(kinds.stems, held)) if held else frozenset()
    return frozenset(w for w in words if len(w) > 3 and w not in common)


def _lean_far(r: Reading, before: Sequence[Reading], run: Run, u: Understanding) -> None:
    """ "Her plan is Acorn. Does it cover two? Mine's Birch": it means what was spoken of before."""
    told = acts.opened(r.text)
    if r.doubt or r.borrowed or not _LEANING.match(told) or not _names_something(r):
        return
    least = LEANED if _OF_THE_KIND.match(told) else SURE
    if r.clear and r.chance >= least:
        return
    spoken = [b.text for b in reversed(before) if b.doubt not in _NOT_LIFTED[1:]]
    for text in (*spoken[:3], run.earlier):
        if text and (chances := _joined(text, r, u)).max() >= SURE:
            best = int(np.argmax(chances))
            if u.chances(text, 0.9)[best] >= CLEAR:
                r.place(best, min(float(chances[best]), LEANED))
                return


def _lean(
    r: Reading, before: Reading | None, question: replies.Question | None, u: Understanding
) -> None:
    if r.doubt or r.borrowed or (r.clear and kinds.stems(r.text)) or not _leans(r):
        return
    declined = acts.DECLINES.search(acts.plain(r.text))
    if declined and not kinds.stems(acts.plain(r.text)[declined.end() :]):
        return  # "god no"
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
    text = f"{before.strip()} {r.text}"
    return u.chances(text, max(r.statement, 0.5), start=len(text) - len(r.text))
