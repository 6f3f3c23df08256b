"""Which topics a transcript that nobody has read yet may be about: these are withheld."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from memory import values
from memory.types import TopicSpec, Transcript, Vector

Embed = Callable[[Sequence[str]], Sequence[Vector]]

# Cosine of a sentence to an example or the description of the topic. Low: withholding asks once
# more, a stale fact misleads.
NEAR = 0.25
_REPLY = 4  # words; so short a message is about what was asked before it
_SHORT = 4  # letters
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|,\s+(?=(?:and|but|also|oh|btw)\b)")


def topics_mentioned(
    transcript: Transcript,
    topics: Sequence[TopicSpec],
    *,
    embed: Embed,
    known: Mapping[str, Sequence[str]] | None = None,
    near: float = NEAR,
) -> frozenset[str]:
    """Return the keys of topics that the customer's messages may be about.

    By the topic's own words, by what is `known` of it (values by key), by the question that was
    asked before, and by nearness of a sentence to its examples or description.
    """
    said = _said(transcript)
    if not said or not topics:
        return frozenset()
    asked = {m.asks_topic for m in transcript.messages if m.asks_topic}
    spoken = frozenset().union(*map(values.words, said))
    stored = known or {}
    found = {
        t.key
        for t in topics
        if t.key in asked
        or _own_words(t) & spoken
        or any(w and w & spoken for w in map(_telling, stored.get(t.key, ())))
    }
    rest = [t for t in topics if t.key not in found]
    return frozenset(found | _near(_sentences(said), rest, embed, near))


def _said(transcript: Transcript) -> list[str]:
    said, before = [], ""
    for m in transcript.messages:
        if m.sender != "customer":
            before = m.text
        elif m.text.strip():
            said += [m.text, before] if before and len(m.text.split()) <= _REPLY else [m.text]
    return said


def _sentences(said: Sequence[str]) -> list[str]:
    parts = [p.strip() for text in said for p in _SENTENCE.split(text)]
    return list(dict.fromkeys([p for p in parts if p] + list(said)))


@lru_cache(maxsize=512)
def _own_words(topic: TopicSpec) -> frozenset[str]:
    return _telling(f"{topic.label} {topic.key.replace('_', ' ')}")


def _telling(text: str) -> frozenset[str]:
    return frozenset(w for w in values.words(text) if len(w) >= _SHORT)


def _near(
    sentences: Sequence[str], topics: Sequence[TopicSpec], embed: Embed, near: float
) -> set[str]:
    if not topics:
        return set()
    spoken = np.stack(list(embed(list(sentences))))
    found = set()
    for topic in topics:
        told = [x for x in (*topic.examples, topic.description, topic.label) if x]
        if float((spoken @ np.stack(list(embed(told))).T).max()) >= near:
            found.add(topic.key)
    return found
