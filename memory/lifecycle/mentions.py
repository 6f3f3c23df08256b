"""Which topics a transcript that nobody has read yet may be about: these are withheld."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from memory import values
from memory.types import TopicSpec, Transcript, Vector

Embed = Callable[[Sequence[str]], Sequence[Vector]]

NEAR = 0.45  # cosine to an example of the topic; low: withholding asks, a stale fact misleads
_SHORT = 4  # letters


def topics_mentioned(
    transcript: Transcript, topics: Sequence[TopicSpec], *, embed: Embed
) -> frozenset[str]:
    """Return the keys of topics that the customer's messages may be about.

    By the words of a topic's label and key, by the bot's own question before the message, and by
    nearness to the topic's examples.
    """
    said = [m for m in transcript.by("customer") if m.text.strip()]
    if not said or not topics:
        return frozenset()
    asked = {m.asks_topic for m in transcript.messages if m.asks_topic}
    spoken = frozenset().union(*(values.words(m.text) for m in said))
    found = {t.key for t in topics if t.key in asked or _label_words(t) & spoken}
    rest = [t for t in topics if t.key not in found and t.examples]
    if rest:
        found |= _near(embed([m.text for m in said]), rest, embed)
    return frozenset(found)


@lru_cache(maxsize=512)
def _label_words(topic: TopicSpec) -> frozenset[str]:
    told = values.words(f"{topic.label} {topic.key.replace('_', ' ')}")
    return frozenset(w for w in told if len(w) >= _SHORT)


def _near(said: Sequence[Vector], topics: Sequence[TopicSpec], embed: Embed) -> set[str]:
    messages = np.stack(list(said))
    found = set()
    for topic in topics:
        examples = np.stack(list(embed(list(topic.examples))))
        if float((messages @ examples.T).max()) >= NEAR:
            found.add(topic.key)
    return found
