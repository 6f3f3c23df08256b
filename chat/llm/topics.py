"""Which topics does a question name? Pure: likeness of sentences, and words that they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from memory.types import Fact, Vector

from . import patterns as p
from .base import Topic
from .intents import Embed

# Words that name no topic: of questions, of talking, of keeping a record.
EMPTY = p.word_list("empty")
_SUFFIX = re.compile(r"(ations?|ings?|ies|ers?|ed|es|s|al|ly|y)$")

NAMED = 0.30  # chosen on the development turns: below it a question names no topic
FACT_WEIGHT = 0.45


@dataclass(frozen=True, slots=True)
class Prints:
    """What a set of topics is recognised by."""

    words: tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...]
    often: dict[str, int]


def named(
    text: str, topics: Sequence[Topic], *, embed: Embed, facts: Sequence[Fact] = ()
) -> list[tuple[str, float]]:
    """Return (topic key, how surely the text names it), best first.

    `facts`: what is known of the customer. A question may name a topic by what was said of it:
    "how I get in that chair".
    """
    if not topics:
        return []
    vector, said = embed(text), stems(text)
    prints = _prints(tuple(topics))
    scored = {
        t.key: _alike(t, vector, embed) + 0.25 * _shared(said, prints.words[i], prints.often)
        for i, t in enumerate(topics)
    }
    for fact in facts:
        if fact.topic in scored:
            near = FACT_WEIGHT * max(0.0, float(np.dot(vector, embed(fact.text))))
            near += 0.15 * bool(said & stems(fact.text))
            scored[fact.topic] = max(scored[fact.topic], near + 0.35 * scored[fact.topic])
    return sorted(scored.items(), key=lambda pair: -pair[1])


def stems(text: str) -> frozenset[str]:
    """Return the words that may name something, shortened to their stems."""
    spelt = text.replace("e-mail", "email").replace("_", " ")
    return frozenset(_stem(w) for w in p.words(spelt) if w not in EMPTY and len(w) > 1)


def _stem(word: str) -> str:
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= 3 else word


def _alike(topic: Topic, vector: Vector, embed: Embed) -> float:
    examples = max((float(np.dot(embed(e), vector)) for e in topic.examples), default=0.0)
    about = float(np.dot(embed(topic.description or topic.label), vector))
    label = float(np.dot(embed(topic.label), vector))
    asked = float(np.dot(embed(f"what is my {topic.label.lower()}?"), vector))
    return 0.35 * examples + 0.25 * about + 0.15 * label + 0.25 * asked


def _shared(
    said: frozenset[str],
    words: tuple[frozenset[str], frozenset[str], frozenset[str]],
    often: dict[str, int],
) -> float:
    label, about, examples = words
    weight = sum(1 / often[w] for w in said & label)
    weight += 0.6 * sum(1 / often[w] for w in said & about)
    weight += 0.5 * sum(1 / often[w] for w in said & examples)
    return min(weight, 1.2)


@lru_cache(maxsize=8)
def _prints(topics: tuple[Topic, ...]) -> Prints:
    words = tuple(
        (
            stems(t.label) | stems(t.key),
            stems(t.description),
            frozenset().union(*(stems(e) for e in t.examples)),
        )
        for t in topics
    )
    often: Counter[str] = Counter()
    for label, about, examples in words:
        often.update(label | about | examples)
    return Prints(words, dict(often))
