"""Training of `memory.lifecycle.extract.learned` from our own examples, in numpy alone."""
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memory.lifecycle.extract import learned, topics
from memory.lifecycle.extract.learned import BILINEAR, Learned
from memory.lifecycle.extract.topics import WIDTH, Array, Embed, Floats, Index, narrow
from memory.speech.classifier import inputs
from memory.types import TopicSpec

from .placement_examples import Item, Specs

Mask = npt.NDArray[np.bool_]
EPOCHS, BATCH, DROPOUT = 8, 256, 0.5
RATE, RATE_OF_MAPS, FADE = 1e-2, 1e-3, 0.9  # an epoch
OF_TOPICS_ALONE = 0.5  # weight of the right topic among the topics, "none" left out
SEEDS = (7, 8)  # as many models are averaged
BESIDE = (3, 7)  # topics of other trades that are put beside a trade's own
TOLD = (
    -2.0
)  # score of "none", beside topics of average features, where it is known that something is told
STRANGE = 0.5  # cosine of two topics that have little in common
SMALL, FEW = 0.35, (1, 7)  # that share of the examples is put before a small business too
RIGHT, BARE = 0.8, 0.25  # it has the right topic so often, and topics without examples


@dataclass
class Prepared:
    """All that is read, a row an item; topics are padded to the most that a business has."""

    vectors: Floats
    by_example: Floats  # (items, topics, WIDTH)
    by_name: Floats
    rows: Array  # (items, topics, features of `topics`)
    marks: Array
    there: Mask  # is there such a topic?
    wanted: Array  # one more column: none
    free: Mask  # where any of these will do: a clause beside the one that holds the value
    trades: Array


def prepare(items: Sequence[Item], specs: Specs, statements: Array, embed: Embed) -> Prepared:
    """`statements`: how likely each item states at all."""
    rng = np.random.default_rng(SEEDS[0])
    businesses = beside(specs, embed, rng)
    asked = [(n, topics.index(businesses[i.trade], embed)) for n, i in enumerate(items)]
    asked += [
        (n, topics.index(_small(i, specs[i.trade], rng), embed))
        for n, i in enumerate(items)
        if rng.random() < SMALL
    ]
    views = topics.views_of([i.text for i in items], embed)
    vectors = narrow(np.array([v.whole for v in views]))
    marks = np.array([inputs(v, i.text) for v, i in zip(vectors, items, strict=True)])
    most = max(len(known.topics) for _, known in asked)
    p = Prepared(
        vectors=vectors[[n for n, _ in asked]],
        by_example=np.zeros((len(asked), most, WIDTH), np.float16),
        by_name=np.zeros((len(asked), most, WIDTH), np.float16),
        rows=np.zeros((len(asked), most, len(_row(items[0], asked[0][1], views[0], 0.5)[0]))),
        marks=marks[[n for n, _ in asked]],
        there=np.zeros((len(asked), most), bool),
        wanted=np.zeros((len(asked), most + 1)),
        free=np.zeros((len(asked), most + 1), bool),
        trades=np.array([items[n].trade for n, _ in asked]),
    )
    for at, (n, known) in enumerate(asked):
        _fill(p, at, items[n], known, _row(items[n], known, views[n], float(statements[n])))
    return p


def _row(item: Item, known: Index, views: topics.Views, statement: float) -> Array:
    return topics.features(known, item.text, views, statement)


def _fill(p: Prepared, at: int, item: Item, known: Index, rows: Array) -> None:
    many = len(known.topics)
    p.rows[at, :many], p.there[at, :many] = rows, True
    p.by_example[at, :many] = _attended(known, p.vectors[at])
    p.by_name[at, :many] = known.names
    right = [k for k, t in enumerate(known.topics) if t.key in item.keys]
    p.wanted[at, right or [-1]] = 1 / max(1, len(right))
    near = [k for k, t in enumerate(known.topics) if t.key in item.nearby]
    p.free[at, [*near, -1] if near else []] = True


def _attended(known: Index, vector: Floats) -> Floats:
    """For each topic one vector: its examples, the likest first."""
    weight = learned.attention(known.stacked, vector)
    at = known.starts
    rows = np.add.reduceat(weight[:, None] * known.stacked, at, axis=0)
    return np.asarray(rows / np.add.reduceat(weight, at)[:, None])


def beside(specs: Specs, embed: Embed, rng: np.random.Generator) -> Specs:
    """Each trade's topics with some of other trades: as many as a business has, and unlike them."""
    everywhere = [(trade, t) for trade, held in specs.items() for t in held]
    vectors = np.array([_described(t, embed) for _, t in everywhere])
    found: Specs = {}
    for trade, held in specs.items():
        own = [i for i, (of, _) in enumerate(everywhere) if of == trade]
        many = int(rng.integers(*BESIDE))
        for i in rng.permutation(len(everywhere)):
            if len(own) == len(held) + many:
                break
            if (vectors[own] @ vectors[i]).max() <= STRANGE:
                own.append(int(i))
        others = [replace(everywhere[i][1], key=f"other/{i}") for i in own[len(held) :]]
        found[trade] = (*held, *others)
    return found


def _described(topic: TopicSpec, embed: Embed) -> Array:
    vector = np.mean(embed([topic.label, topic.description, *topic.examples]), axis=0)
    return np.asarray(vector / np.linalg.norm(vector))


def _small(
    item: Item, held: Sequence[TopicSpec], rng: np.random.Generator
) -> tuple[TopicSpec, ...]:
    shuffled = [held[i] for i in rng.permutation(len(held))]
    others = [t for t in shuffled if t.key not in item.keys]
    right = [t for t in shuffled if t.key in item.keys] if rng.random() < RIGHT else []
    chosen = (*others[: max(1, int(rng.integers(*FEW)) - len(right))], *right)
    return tuple(
        replace(t, examples=(), not_examples=()) if rng.random() < BARE else t for t in chosen
    )


def train(p: Prepared, chosen: Mask) -> Learned:
    """Fit on the items `chosen` (a mask): as many models as SEEDS, averaged."""
    made = [_fit(p, np.flatnonzero(chosen), seed) for seed in SEEDS]
    return Learned(**{f.name: _mean(getattr(m, f.name) for m in made) for f in fields(Learned)})


def _mean(several: Iterable[Any]) -> Any:
    return np.mean(list(several), axis=0)


def _fit(p: Prepared, at: npt.NDArray[Any], seed: int) -> Learned:
    rng = np.random.default_rng(seed)
    real = p.rows[at][p.there[at]]
    norm = (real.mean(axis=0), real.std(axis=0) + 1e-6)
    features, marks = real.shape[1], p.marks.shape[1]
    w: dict[str, Any] = {
        "features": np.zeros(features), "none": np.zeros(marks + features), "bias": np.zeros(1),
        "by_example": np.zeros((WIDTH, WIDTH), np.float32),
        "by_name": np.zeros((WIDTH, WIDTH), np.float32),
    }  # fmt: skip
    moments = {n: (np.zeros_like(v), np.zeros_like(v)) for n, v in w.items()}
    step = 0
    for epoch in range(EPOCHS):
        rng.shuffle(at)
        for start in range(0, len(at), BATCH):
            step += 1
            for name, slope in _slopes(p, at[start : start + BATCH], norm, w, rng).items():
                rate = (RATE_OF_MAPS if name.startswith("by_") else RATE) * FADE**epoch
                _adam(w[name], moments[name], slope, rate, step)
    return _in_numbers_as_they_come(w, norm)


def _in_numbers_as_they_come(w: dict[str, Any], norm: tuple[Array, Array]) -> Learned:
    """What the mean of the features adds to every topic alike is taken from "none" instead."""
    mean, spread = norm
    features = len(mean)
    none = w["none"].copy()
    none[-features:] /= spread
    of_topics = float(w["features"] @ (mean / spread))
    bias = float(w["bias"][0]) + of_topics - float(none[-features:] @ mean)
    return Learned(
        weights=w["features"] / spread,
        by_example=w["by_example"],
        by_name=w["by_name"],
        none=none,
        bias=bias,
        told=TOLD + of_topics,
    )


def _adam(
    weight: Array, moments: tuple[Array, Array], slope: Array, rate: float, step: int
) -> None:
    first, second = moments
    first += 0.1 * (slope - first)
    second += 0.001 * (slope**2 - second)
    corrected = second / (1 - 0.999**step)
    weight -= rate * (first / (1 - 0.9**step)) / (np.sqrt(corrected) + 1e-8)


def _slopes(
    p: Prepared,
    at: npt.NDArray[Any],
    norm: tuple[Array, Array],
    w: dict[str, Any],
    rng: np.random.Generator,
) -> dict[str, Any]:
    kept = rng.random((len(at), WIDTH)) >= DROPOUT
    vectors = (p.vectors[at] * kept / (1 - DROPOUT)).astype(np.float32)
    there = p.there[at]
    rows = np.where(there[:, :, None], (p.rows[at] - norm[0]) / norm[1], 0)
    highest = np.where(there[:, :, None], rows, -9).max(axis=1)
    told = np.hstack([p.marks[at], highest])
    sides = {n: getattr(p, n)[at].astype(np.float32) for n in ("by_example", "by_name")}
    fits = rows @ w["features"]
    for name, side in sides.items():
        fits = fits + BILINEAR * np.einsum("nw,nkw->nk", vectors @ w[name], side)
    scores = np.hstack([np.where(there, fits, -30), (told @ w["none"] + w["bias"])[:, None]])
    error = _error(scores, p.wanted[at], p.free[at])
    of_topics, of_none = error[:, :-1] * there, error[:, -1]
    slopes = {
        "features": np.einsum("nk,nkf->f", of_topics, rows),
        "none": of_none @ told,
        "bias": np.array([of_none.sum()]),
    }
    for name, side in sides.items():
        pulled = np.einsum("nk,nkw->nw", of_topics.astype(np.float32), side)
        slopes[name] = BILINEAR * (vectors.T @ pulled)
    return slopes


def _error(scores: Array, wanted: Array, free: Mask) -> Array:
    given = _softmax(scores)
    open_ = free.any(axis=1)
    wanted = wanted.copy()
    if open_.any():
        kept = given[open_] * free[open_]
        wanted[open_] = kept / kept.sum(axis=1, keepdims=True)
    error = (given - wanted) / len(scores)
    stated = ~open_ & (wanted[:, -1] == 0)
    among = _softmax(scores[:, :-1]) - wanted[:, :-1]
    error[stated, :-1] += OF_TOPICS_ALONE * among[stated] / max(1, int(stated.sum()))
    return np.asarray(error)


def _softmax(scores: Array) -> Array:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def judge(p: Prepared, asked: Mask, model: Learned) -> tuple[float, float]:
    """On the items `asked`: share of statements placed right; best F1 of storing the right thing."""
    right, stated, sure = [], [], []
    for at in np.flatnonzero(asked & ~p.free.any(axis=1)):
        rows = p.rows[at][p.there[at]]
        sides = (
            getattr(p, n)[at][p.there[at]].astype(np.float32) for n in ("by_example", "by_name")
        )
        maps = (model.by_example, model.by_name)
        scores = rows @ model.weights + BILINEAR * sum(
            side @ (p.vectors[at] @ w) for side, w in zip(sides, maps, strict=True)
        )
        none = np.concatenate([p.marks[at], rows.max(axis=0)]) @ model.none + model.bias
        chances = _softmax(np.append(scores, none)[None])[0]
        best = int(np.argmax(chances[:-1]))
        stated.append(p.wanted[at, -1] == 0)
        right.append(p.wanted[at, best] > 0)
        sure.append(float(chances[best]))
    return figures(right, stated, sure)


def figures(
    right: Sequence[bool], stated: Sequence[bool], sure: Sequence[float]
) -> tuple[float, float]:
    """Share of what is stated that is placed right; best F1 of storing the right thing."""
    good, told, score = np.array(right), np.array(stated), np.array(sure)
    best_f1 = max(
        2 * float((good & (score >= t)).sum()) / float((score >= t).sum() + told.sum())
        for t in np.arange(0.05, 0.95, 0.05)
    )
    return float(good[told].mean()), best_f1


def as_shipped(model: Learned) -> dict[str, Any]:
    """Small enough to ship: maps in half precision."""
    maps = {n: getattr(model, n).astype(np.float16) for n in ("by_example", "by_name")}
    rest = {n: getattr(model, n).astype(np.float32) for n in ("weights", "none")}
    return maps | rest | {"bias": np.array(model.bias), "told": np.array(model.told)}
