"""What a short reply means: its topic and sometimes its value stand in what was asked before it."""
# ruff: noqa: E501

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.speech import acts, language
from memory.types import Said

_ASKING = re.compile(
    r"^(?:(?:ok|sure|great|thanks|sorry to hear that|no problem|of course|usually|there is|good)[,.!]*\s+)*"
    r"(?:would you (?:like|prefer|rather)(?: me| us)?(?: to)?|do you (?:want|prefer|like)(?: me| us)?(?: to)?|shall (?:we|i)|should (?:we|i)|may (?:we|i)|"
    r"can (?:we|i)|is|are you|do you|does|so|you'd like|would)\s+",
    re.I,
)
_OPTIONS = re.compile(r",?\s+or\s+(?:rather |maybe |by |would you rather )?", re.I)
_FIRST = re.compile(r"\b(?:the )?(?:first|former|1st)\b|\bthe first one\b")
_SECOND = re.compile(r"\b(?:the )?(?:second|latter|2nd|other|last)\b")
_A_DAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\d[ap]m\b|\d:\d\d"
)
_STALLING = re.compile(
    r"\b(?:hang ?on|hold ?on|gimme a|give me a|bear with|one (?:sec|moment|minute)|let me (?:check|look|see)|wait|just a|uh|um)\b"
)


@dataclass(frozen=True)
class Question:
    """What was last asked of her: the asking sentence, and the topic a gap question is about."""

    text: str
    asks_topic: str
    gap: bool
    lasting: bool
    slots: bool


def asked_before(said: Said | None) -> Question | None:
    if said is None or not said.text.strip():
        return None
    text = language.gloss(said.text, language.detect(said.text))
    folded = acts.plain(text)
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", text) if s.strip()]
    asking = [s for s in sentences if s.rstrip().endswith("?")]
    gap = bool(acts.GAP_QUESTION.search(folded)) or bool(said.asks_topic)
    return Question(
        text=asking[-1] if asking else text,
        asks_topic=said.asks_topic,
        gap=gap,
        lasting=bool(acts.BOT_ASKS_LASTING.search(folded)),
        slots=bool(acts.OFFERS_SLOTS.search(folded)) or any(map(_offers_times, asking)),
    )


def _offers_times(sentence: str) -> bool:
    """ "Tuesday the 10th or Wednesday the 11th?": one of them is picked, nothing is preferred."""
    folded = acts.plain(sentence)
    lasting = acts.BOT_ASKS_LASTING.search(folded)
    return bool(_A_DAY.search(folded) and re.search(r"\d", folded) and not lasting)


def offered(question: str) -> list[str]:
    """The things a question offers: "Would you prefer text or e-mail?" → text; e-mail."""
    core = _ASKING.sub("", question.strip()).rstrip("?! ")
    return [p.strip(" ,") for p in _OPTIONS.split(core) if p.strip(" ,")]


def accepted(reply: str, question: str) -> str:
    """Which offer a reply accepts, or "" if none, or none in particular."""
    reply = language.gloss(reply, language.detect(reply))
    folded = acts.plain(reply)
    options = offered(question)
    if not options or len(reply.split()) > 12:
        return ""
    if len(options) > 1:
        if _FIRST.search(folded):
            return options[0]
        return options[1] if _SECOND.search(folded) else ""
    if acts.DECLINES.search(folded) or not acts.ACCEPTS.search(folded):
        return ""
    return options[0]


def after_a_pause(text: str) -> str:
    """ "Wait, hang on it's Birch": it's Birch."""
    return _STALLING.split(acts.plain(text))[-1].strip(" ,")


def stalls(text: str) -> bool:
    return bool(_STALLING.search(acts.plain(text)))
