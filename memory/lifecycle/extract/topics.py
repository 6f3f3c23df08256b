"""Which topic a clause speaks of, by the business's own words: label, description, examples.

Embeddings and shared words are turned into a few numbers for each pair of clause and topic; a
logistic regression over these, trained on topics of many trades, says how likely the clause states
a value of the topic. It knows no topic by name, so it serves topics that it never saw.
"""
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory.speech import acts, kinds
from memory.types import TopicSpec, Vector

from . import fitted

Embed = Callable[[Sequence[str]], Sequence[Vector]]
Read = fitted.Read
Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
WIDTH = 384  # of MiniLM; the rest of a vector is padding
_TELLING = frozenset(
    [
        "when",
        "channel",
        "payment",
        "relation",
        "language",
        "size",
        "colour",
        "transport",
        "animal",
        "title",
        "naming",
        "code",
        "phone",
        "street",
        "mail",
    ]
)
COEFFICIENTS = Path(__file__).with_name("pairs.npz")


@dataclass(frozen=True)
class Pairs:
    """Coefficients of the regression over pairs of clause and topic."""

    weights: Array
    bias: float

    def chance(self, rows: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-(rows @ self.weights + self.bias))), dtype=float)


@dataclass(frozen=True)
class Index:
    """The topics of one business with their vectors, words and kinds of words."""

    topics: tuple[TopicSpec, ...]
    examples: tuple[Array, ...]
    contents: tuple[Array, ...]
    frames: tuple[Array, ...]
    counter: tuple[Array, ...]
    labels: Array
    descriptions: Array
    words: tuple[frozenset[str], ...]
    kinds: tuple[dict[str, float], ...]
    stacked: Floats  # all examples, topic by topic, and where each topic's begin
    starts: tuple[int, ...]
    names: Floats  # label and description as one vector a topic
    encoded: tuple[fitted.Encoded, ...] = ()  # by the encoder that was fitted to statements
    rarity: dict[str, float] = field(default_factory=dict)

    def position(self, key: str) -> int:
        return next(i for i, t in enumerate(self.topics) if t.key == key)


def narrow(vector: npt.NDArray[np.floating]) -> Floats:
    return np.asarray(vector[..., :WIDTH], dtype=np.float32)


@lru_cache(maxsize=8)
def index(topics: tuple[TopicSpec, ...], embed: Embed, read: Read | None = None) -> Index:
    """`read`: None where the fitted encoder is not asked."""
    texts = [s for t in topics for s in (*t.examples, *t.not_examples, t.label, t.description)]
    texts += [
        f(s) for t in topics for s in (*t.examples, t.label) for f in (kinds.content, kinds.masked)
    ]
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}

    def rows(strings: Sequence[str]) -> Array:
        return np.array([vectors[s] for s in strings], dtype=float)

    words = tuple(kinds.stems(" ".join((t.label, t.description, *t.examples))) for t in topics)
    spread: dict[str, int] = {}
    for held in words:
        for word in held:
            spread[word] = spread.get(word, 0) + 1
    examples = tuple(rows(t.examples or (t.label,)) for t in topics)
    labels, descriptions = rows([t.label for t in topics]), rows([t.description for t in topics])
    names = narrow(labels + descriptions)
    return Index(
        topics=topics,
        examples=examples,
        contents=tuple(rows([kinds.content(s) for s in t.examples or (t.label,)]) for t in topics),
        frames=tuple(rows([kinds.masked(s) for s in t.examples or (t.label,)]) for t in topics),
        counter=tuple(rows(t.not_examples) for t in topics),
        labels=labels,
        descriptions=descriptions,
        words=words,
        kinds=tuple(_kind_shares(t) for t in topics),
        stacked=narrow(np.vstack(examples)),
        starts=tuple(np.cumsum([0, *(len(e) for e in examples[:-1])]).tolist()),
        names=narrow(names / np.maximum(np.linalg.norm(names, axis=1, keepdims=True), 1e-9)),
        encoded=fitted.encoded(topics, read) if read else (),
        rarity={w: float(np.log((len(topics) + 1) / n)) for w, n in spread.items()},
    )


def _kind_shares(topic: TopicSpec) -> dict[str, float]:
    """For each kind of word the share of examples that hold it; the description counts as one."""
    texts = [*topic.examples, f"{topic.label}. {topic.description}"]
    shares: dict[str, float] = {}
    for text in texts:
        for kind in kinds.of(text):
            shares[kind] = shares.get(kind, 0.0) + 1 / len(texts)
    return shares


@dataclass(frozen=True)
class Views:
    """One clause as three vectors: whole, its content words alone, and with those left open."""

    whole: Array
    content: Array
    frame: Array


def views_of(texts: Sequence[str], embed: Embed) -> list[Views]:
    asked = [f(t) for t in texts for f in (str, kinds.content, kinds.masked)]
    vectors = [np.asarray(v, dtype=float) for v in embed(asked)] if asked else []
    return [Views(*vectors[i : i + 3]) for i in range(0, len(vectors), 3)]


def features(known: Index, text: str, views: Views, statement: float) -> Array:
    """Return one row of numbers a topic. `statement`: how likely the clause states at all."""
    near = np.array([_nearness(known, i, views) for i in range(len(known.topics))])
    lead, lead_content, lead_frame = (_leads(near[:, column]) for column in (0, 1, 2))
    mine, found = kinds.stems(text), kinds.of(text)
    of_the_clause = [
        float(acts.asks(text)), len(text.split()) / 20,
        float(bool(acts.FIRST_PERSON.search(acts.plain(text)))),
    ]  # fmt: skip
    rows = []
    for i, _topic in enumerate(known.topics):
        shared = mine & known.words[i]
        mass = sum(known.rarity.get(w, 0.0) for w in shared)
        fit, misfit, missing = _kinds_fit(known.kinds[i], found)
        rows.append(
            [
                *near[i], lead[i], lead_content[i], lead_frame[i], min(mass, 6.0) / 3, len(shared) / max(3, len(mine)),
                fit, misfit, missing, statement, float(np.log(max(statement, 1e-3))),
                float("code" in known.kinds[i] and not ({"code", "phone", "number"} & found)),
                float("code" in found and known.kinds[i].get("code", 0) >= 0.5),
                float("phone" in found and known.kinds[i].get("phone", 0) >= 0.5),
                *of_the_clause,
            ]
        )  # fmt: skip
    return np.array(rows)


FEW = 3  # topics
ANY_SENTENCE = 0.25  # cosine of a statement to a topic that it has nothing to do with


def _leads(best: Array) -> Array:
    """By how much each topic is nearer than the nearest of the others.

    A business with one or two topics has nobody else to be nearer to: what any sentence is near to.
    """
    rivals = best if len(best) > FEW else np.append(best, ANY_SENTENCE)
    first, second = np.sort(rivals)[::-1][:2]
    leads: Array = np.where(best == first, first - second, best - first)
    return leads


def _nearness(known: Index, i: int, views: Views) -> list[float]:
    sims = np.sort(known.examples[i] @ views.whole)[::-1]
    matter = np.sort(known.contents[i] @ views.content)[::-1]
    frame = np.sort(known.frames[i] @ views.frame)[::-1]
    against = float((known.counter[i] @ views.whole).max()) if len(known.counter[i]) else 0.0
    return [
        float(sims[0]), float(matter[0]), float(frame[0]), float(sims[:2].mean()),
        float(matter[:2].mean()), float(frame[:2].mean()), float(known.labels[i] @ views.whole),
        float(known.labels[i] @ views.content), float(known.descriptions[i] @ views.whole),
        float(known.descriptions[i] @ views.content), against,
    ]  # fmt: skip


def _kinds_fit(shares: dict[str, float], found: frozenset[str]) -> tuple[float, float, float]:
    """How well the kinds of words fit the topic, how many are foreign to it, how many it misses."""
    fit = max((shares.get(k, 0.0) for k in found), default=0.0)
    foreign = sum(1 for k in found if k not in shares)
    missing = max(
        (s for k, s in shares.items() if s >= 0.4 and k in _TELLING and k not in found), default=0.0
    )
    return fit, min(foreign, 3) / 3, missing


def between(one: Array, other: Array, share: float = 0.5) -> Array:
    """Return chances between those of two judges, in log odds. `share`: how much the other says."""
    a, b = (np.clip(p, 1e-6, 1 - 1e-6) for p in (one, other))
    odds = (a / (1 - a)) ** (1 - share) * (b / (1 - b)) ** share
    return np.asarray(odds / (1 + odds), dtype=float)


def load() -> Pairs:
    with np.load(COEFFICIENTS) as held:
        return Pairs(held["weights"].astype(float), float(held["bias"]))
