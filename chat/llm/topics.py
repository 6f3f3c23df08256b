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
from .intents import Embed, Floats

# Words that name no topic: of questions, of talking, of keeping a record.
EMPTY = p.EMPTY
_SUFFIX = re.compile(r"(ations?|ings?|ies|ers?|ed|es|s|al|ly|y)$")

# Fitted on a dental practice's questions about oneself, with the topic's fact known and without.
EXAMPLE, SECOND_EXAMPLE, ABOUT, LABEL, ASKED, ASKED_AT_LENGTH = 0.16, 0.15, 0.12, 0.23, 0.19, 0.16
SHARED_LABEL, SHARED_ABOUT, SHARED_EXAMPLE = 0.05, 0.10, 0.06
FACT = 0.15
NAMED = 0.25  # below it a question names no topic


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
    "how I get in that chair". Where it is known how near they are to `text`, nothing is embedded.
    """
    if not topics:
        return []
    vector, said = embed(text), stems(text)
    told: dict[str, float] = {}
    prints = _prints(tuple(topics))
    alike = _alike(_vectors(tuple(topics), embed), vector)
    scored = {
        t.key: alike[i] + _shared(said, prints.words[i], prints.often) for i, t in enumerate(topics)
    }
    for fact in facts:
        if fact.topic in scored:
            near = fact.near
            if near is None:  # said just now, or its stored vector is of another model
                near = float(np.dot(vector, embed(fact.text)))
            told[fact.topic] = max(told.get(fact.topic, 0.0), FACT * max(0.0, near))
    for key, likeness in told.items():
        scored[key] += likeness
    return sorted(scored.items(), key=lambda pair: -pair[1])


def stems(text: str) -> frozenset[str]:
    """Return the words that may name something, shortened to their stems."""
    spelt = text.replace("e-mail", "email").replace("_", " ")
    return frozenset(_stem(w) for w in p.words(spelt) if w not in EMPTY and len(w) > 1)


def _stem(word: str) -> str:
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= 3 else word


@dataclass(frozen=True, slots=True)
class Vectors:
    """What topics are about: `asked` four texts each (`WEIGHTS`), `examples` in `rows` of one."""

    asked: Floats  # (topics, 4, width)
    examples: Floats  # (all examples, width)
    rows: tuple[slice, ...]


WEIGHTS = np.array((ABOUT, LABEL, ASKED, ASKED_AT_LENGTH))


@lru_cache(maxsize=8)
def _vectors(topics: tuple[Topic, ...], embed: Embed) -> Vectors:
    asked: list[Floats] = []
    examples: list[Vector] = []
    rows: list[slice] = []
    for topic in topics:
        label = topic.label.lower()
        texts = (
            topic.description,
            topic.label,
            f"what is my {label}?",
            f"do you know my {label}? {topic.description}",
        )
        nothing = np.zeros_like(embed(topic.label))
        asked.append(np.stack([embed(t) if t else nothing for t in texts]))
        rows.append(slice(len(examples), len(examples) + len(topic.examples)))
        examples += [embed(e) for e in topic.examples]
    width = asked[0].shape[1]
    return Vectors(np.stack(asked), np.reshape(examples, (-1, width)), tuple(rows))


def _alike(about: Vectors, vector: Vector) -> list[float]:
    asked, examples = (about.asked @ vector) @ WEIGHTS, about.examples @ vector
    found = []
    for likeness, rows in zip(asked.tolist(), about.rows, strict=True):
        near = sorted(examples[rows].tolist(), reverse=True)
        first, second = (near if len(near) > 1 else [*near, 0.0, 0.0])[:2]
        found.append(likeness + EXAMPLE * first + SECOND_EXAMPLE * (first + second) / 2)
    return found


def _shared(
    said: frozenset[str],
    words: tuple[frozenset[str], frozenset[str], frozenset[str]],
    often: dict[str, int],
) -> float:
    weights = (SHARED_LABEL, SHARED_ABOUT, SHARED_EXAMPLE)
    return sum(
        weight * min(sum(1 / often[w] for w in said & theirs), 1.2)
        for weight, theirs in zip(weights, words, strict=True)
    )


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
