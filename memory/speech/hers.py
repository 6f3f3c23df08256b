"""Does an answer tell of one customer's case, or what holds for anybody? Pure.

Small signs of how people write to one person and how they write to all: done or to come, a day, a
figure, "your" with a state of hers; or "if you", "any", "usually", an instruction. None names a
trade. A logistic regression over them and the sentence vectors, trained on our own examples
(memory/training/staff_answers.jsonl), says how likely an answer is a private one.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from memory.types import Vector

from .acts import plain
from .bound import DAY, MONTH
from .classifier import EMBEDDED, Array, Classifier, load

COEFFICIENTS = Path(__file__).with_name("hers.npz")
MARK_SCALE = 0.35  # as in classifier.py: a mark weighs about as much as a strong direction
ASKED_SCALE = 0.5  # of the question's vector: what was asked tells less than what was said

_PAST = (
    r"(?:was|were|did|had|came|went|got|gave|took|made|found|saw|said|told|spoke|wrote|sent|held|"
    r"kept|paid|ran|rang|felt|met|stood|thought|brought|bought|sold|lost|won|broke|chose|drove|ate|"
    r"forgot|left|began|grew|fell|became|swam|slept|hung|arrived|failed|missed|asked|wanted|used|"
    r"called|moved|changed|signed|replaced|tested|checked|switched|stopped|reached|ordered|worked|"
    r"promised|agreed|noted|offered|accepted|bounced|expired|showed|turned|happened|landed|settled)"
)
_MADE = (  # done for her, with nobody named: "Moved to Wednesday", "Refunded, …"
    r"(?:[a-z]{3,}ed|done|sent|found|put|made|paid|gone|set|held|kept|taken|given|written|rung)"
)
_GENERAL_YOU = (
    r"\byou(?:'ll| will)? (?:can|may|need|should|must|could|might|don't|do not|never|always|have to|"
    r"want|get|pay|only|just|also|usually|take|choose|cannot|can't|won't|aren't|mustn't)\b"
)
_CONDITION = (
    r"\b(?:if|when|whenever|once|unless|as long as|as soon as|in case|provided|until|before|after|"
    r"anyone who|those who|people who|whoever|depending on|depends on)\b"
)
_VERBS = (
    r"(?:add|ask|avoid|book|bring|buy|call|check|choose|clean|click|come|contact|cut|dab|download|"
    r"drop|drink|dry|eat|email|enter|fill|find|freeze|follow|get|give|go|have|hold|keep|leave|let|"
    r"list|log|look|make|never|open|pay|phone|pick|place|please|press|print|put|read|remove|report|"
    r"return|rinse|run|save|scan|select|send|set|sign|spray|start|stay|stop|store|take|tap|tell|"
    r"text|try|turn|use|wait|wash|wear|wrap|write|don't|do not|just)"
)
_EVERY = (
    r"\b(?:any|anyone|anybody|anything|every|everyone|everybody|each|all|most|usually|normally|"
    r"always|generally|typically|as a rule|by default|never|nobody|no one|per|up to|at least|at most|"
    r"no more than|only|minimum|maximum|standard|adults|children|people|customers|members|guests|"
    r"patients|users|visitors|parents|clients|students|somebody|someone|people's|whichever)\b"
)
_RATE = (
    r"\b(?:a|an|per|each|every) (?:day|night|week|month|year|hour|term|pair|person|item|head|user|"
    r"seat|piece|metre|mile|kilo|night|visit|session)\b"
)
_NOW = (
    r"\b(?:yesterday|last (?:night|week|month|time|year|summer|winter|spring|autumn|{d})|just now|"
    r"this (?:morning|afternoon|evening)|(?:a|an|\w+) (?:minutes?|hours?|days?|weeks?|moment) ago|"
    r"tonight|tomorrow|today|so far|already|as of now|again now|by now|from next|next (?:time|{d})|"
    r"(?:on|by|until|till|since|for) {d}|{d} (?:at|morning|afternoon|evening|night))\b"
).replace("{d}", DAY)
_DATED = (
    rf"\b{MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b"
    r"|\b(?:the|from|by|until|till|on) (?:the )?\d{1,2}(?:st|nd|rd|th)\b"
)
_HE = r"\b(?:he|she|his|her|him|hers|he's|she's|he'll|she'll|he'd|she'd)\b"
_SAME_WE = r"(?:'ve| have|'d| had)? (?:just |already |now |also |all )*"


def _any(pattern: str) -> Callable[[str, str, str], bool]:
    found = re.compile(pattern, re.M)
    return lambda said, asked, raw: bool(found.search(said))


def _asked(pattern: str) -> Callable[[str, str, str], bool]:
    found = re.compile(pattern, re.M)
    return lambda said, asked, raw: bool(found.search(asked))


_START = r"(?:^|(?<=[.!?;:] )|(?<=[.!?] [-–] ))"
_SO = r"(?:(?:yes|no|sure|ok|okay|of course|sorry|great|right|well|so|and|but)\b[,.!:]* )?"

MARKS: tuple[Callable[[str, str, str], bool], ...] = (
    # what happened, and when
    _any(rf"\b{_PAST}\b"),
    _any(r"\b(?:has|have|'s|'ve) (?:been|just|already|now|not)\b|\b(?:has|'s) (?:\w+ )?\w+ed\b"),
    _any(_NOW),
    _any(_DATED),
    _any(rf"\b(?:{DAY})\b(?!s)"),
    _any(r"\bat \d{1,2}(?::\d\d)?(?! (?:degrees|percent|or|and|to))\b|\b\d{1,2}:\d\d\b"),
    # who did it, for whom
    _any(r"\bi(?:'ve|'m| have| am|'ll| will| can|'d)? (?!would|recommend|suggest|afraid|sorry)"),
    _any(rf"\bi{_SAME_WE}\w+(?:ed|t|ade|ut|nd|ld|ang|oke)\b"),
    _any(rf"\bwe(?:'ve| have|'d| had) (?:just |already |now |also )*\w+|\bwe {_PAST}\b"),
    _any(rf"{_START}{_SO}{_MADE}\b(?:,|\.|!| (?:it|to|by|for|the|and|on|until|your|in|as|out)\b)"),
    _any(_HE),
    _any(rf"{_START}{_SO}{_HE}"),
    _any(rf"{_START}{_SO}(?:it|they|that|this|these|those|both|one|none|some)\b(?:'s|'re|'ll)?"),
    # of hers
    _any(r"\byou(?:'re| are) (?!(?:not )?(?:welcome|under|over|away|between|unsure|in doubt))\w+"),
    _any(r"\byou(?:'ve| have) (?!to\b)|\byou (?:did|were|had|paid|sent|said|asked|told|ordered)\b"),
    _any(r"\byours\b|\bfor you\b|\bwith your name\b|\bunder (?:the )?(?:name|[A-Z])"),
    _any(rf"{_START}{_SO}your\b"),
    _any(r"\byour [\w' -]{2,40}? (?:is|are|was|were|has|have|will|comes?|goes|went)\b"),
    _any(r"\b(?:left|remaining|outstanding|due|owed?|owing|credited|booked|reserved|on hold|ready)\b"),
    _any(r"\b(?:ending|number|no\.|ticket|row|seat|desk|room|under|code) (?:in )?#?\d+"),
    _any(r"[£$€]\d+\.\d\d\b|\b\d+\.\d\d\b|\d{4} \d{4}"),
    _any(r"[£$€] ?\d|\b\d+ (?:euros?|dollars?|pounds?|pence|cents?|units?)\b"),
    _any(r"\b(?:the|that) (?:\w+ )?(?:\w+ )?(?:was|were|has|had|came|went|left)\b"),
    _any(rf"{_START}{_SO}(?:the|all|both|two|three|four|one|only|a|an|{DAY}|[£$€]?\d)\b"),
    lambda said, asked, raw: bool(_named(raw, asked)),
    _any(r"\b(?:now|again|still|anymore|back)\b"),
    _any(r"\bof the (?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|\d+)\b"),
    # of anybody
    _any(_CONDITION),
    _any(rf"{_START}{_SO}{_CONDITION}"),
    _any(_GENERAL_YOU),
    _any(_EVERY),
    _any(_RATE),
    _any(rf"{_START}{_SO}{_VERBS}\b"),
    _any(r"\bwe (?:don't|do|only|can|can't|cannot|never|always|usually|accept|offer|need|take|"
         r"close|open|charge|deliver|collect|check|test|ask|give|sell|make|send|use|rent|clean|"
         r"recommend|suggest|match|ship|keep|store|bill|allow|require)\b"),
    _any(r"\b(?:is|are) (?:included|free|allowed|welcome|needed|required|charged|covered|billed|"
         r"applied|limited|taken|given|sent|paid|available|possible|fine|enough|normal)\b"),
    _any(r"\b(?:costs?|takes?|lasts?|includes?|depends?|needs?|works?|requires?|covers?|applies)\b"),
    _any(r"\b(?:should|must|can|may|cannot|can't|shouldn't)\b"),
    _any(r"\b\w+s (?:are|don't|aren't|have to|can|must|may|need)\b"),
    _any(r"\b(?:because|since|so that|as they|otherwise|unless|except|but not)\b"),
    _any(r"\b(?:this (?:week|weekend|month|season)|at the moment|right now|currently|today|tomorrow|"
         r"temporarily|out of (?:stock|order)|for the time being)\b"),
    lambda said, asked, raw: len(said.split()) < 12,
    lambda said, asked, raw: len(said.split()) < 20,
    lambda said, asked, raw: len(said.split()) > 32,
    # what was asked
    _asked(r"\b(?:my|our|mine|ours)\b"),
    _asked(r"\b(?:did|was|were|has|have|had|got|why|where's|where is|wheres|any (?:news|update)|when's|"
           r"whens|still|yet|already)\b"),
    _asked(r"^(?:\W*\w+ ){0,3}(?:is|are|when is|when are|whats|what's) (?:my|the|our|it|he|she)\b"),
    _asked(r"\b(?:i|we) (?:was|were|sent|paid|got|lost|left|ordered|booked|asked|returned|forgot)\b"
           r"|\byou (?:forgot|said|sent|took|charged|promised)\b|\bi've\b|\bwe've\b|\bmy \w+ \w+ed\b"),
    _asked(r"\b(?:can|could|would|will) (?:you|u|we|i|she|he)\b(?! (?:get|pay|bring|use|take|have))"),
    _asked(r"\b(?:do|does) (?:you|u|i|we|it|they|one|the|they|people|most)\b"),
    _asked(r"\bhow (?:do|does|long|often|far|big|many|much is|much do|much does|to|can|should|strong)\b"
           r"|\bwhat (?:if|happens|is the|are the|does|do|should|to|age|kind)\b|\bwhats? the\b"),
    _asked(r"\b(?:is there|are there|is it|are \w+s|any|anywhere|allowed|included)\b"),
    _asked(r"\b(?:he|she|her|him|his)\b"),
)  # fmt: skip

_SENTENCE_START = re.compile(r"(?:^|[.!?:\n]\s+|[\"“(]\s*)$")
_COMMONLY_CAPITAL = re.compile(
    rf"^(?:I|{DAY}s?|{MONTH}|Mr|Mrs|Ms|Dr|OK|Wi|Settings|Account)$", re.I
)


def _named(raw: str, asked: str) -> list[str]:
    """Capitalised words amid a sentence that the question did not bring."""
    found = []
    for m in re.finditer(r"\b[A-Z][a-z]+\b", raw):
        inside = not _SENTENCE_START.search(raw[: m.start()])
        if inside and not _COMMONLY_CAPITAL.match(m[0]) and m[0].lower() not in asked:
            found.append(m[0])
    return found


def marks(answer: str, question: str) -> Array:
    said, asked = plain(answer), plain(question)
    return np.array([float(mark(said, asked, answer)) for mark in MARKS])


def inputs(answer: str, question: str, *, said: Vector, asked: Vector) -> Array:
    """Return the row that the classifier reads. `said`, `asked`: vectors of answer and question."""
    return np.concatenate(
        [
            said[:EMBEDDED].astype(float),
            ASKED_SCALE * asked[:EMBEDDED].astype(float),
            MARK_SCALE * marks(answer, question),
        ]
    )


@cache
def shipped() -> Classifier:
    return load(COEFFICIENTS)["hers"]


def chance(answer: str, question: str, *, embed: Callable[[list[str]], list[Vector]]) -> float:
    """Return how likely `answer` tells of the asker's own case, in (0, 1)."""
    said, asked = embed([answer, question])
    known = shipped()
    z = float(inputs(answer, question, said=said, asked=asked) @ known.weights) + known.bias
    return float(1 / (1 + np.exp(-z)))
