"""What the review queue taught this site of a topic: which statements it means, and which not.

The shipped regression knows topics of many trades and none of this one's decisions. Here two
numbers a topic are fitted to the site's own examples and counter-examples, each judged by the
others: how much nearer a clause must be to the ones than to the others, and how steeply that
counts. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.types import Vector

from .topics import ANY_SENTENCE, Array, Index, Views

STEEP, STEEP_SPREAD = 10.0, 3.0  # prior of the steepness: logits a unit of cosine
OFFSET_SPREAD = 1.0
DOWN, UP = 5.0, 1.0  # logits: a decision keeps out more than it lets in
AS_LIKELY = 0.8  # of the likeliest topic's chance
STEPS = 30


def refit(examples: Sequence[Vector], counter: Sequence[Vector]) -> tuple[float, float]:
    """Return (offset, steepness) of a topic, by the vectors of its statements."""
    own, other = _rows(examples), _rows(counter)
    leads = [_lead(v, np.delete(own, i, 0), other) for i, v in enumerate(own)]
    leads += [_lead(v, own, np.delete(other, i, 0)) for i, v in enumerate(other)]
    x = np.stack([np.ones(len(leads)), np.array(leads)], axis=1)
    y = np.array([1.0] * len(own) + [0.0] * len(other))
    weight = np.where(y > 0, 1 / max(len(own), 1), 1 / max(len(other), 1)) * len(y) / 2
    prior = np.array([0.0, STEEP])
    precision = np.diag([OFFSET_SPREAD**-2, STEEP_SPREAD**-2])
    w = prior.copy()
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ (weight * (p - y)) + precision @ (w - prior)
        bend = (x * (weight * p * (1 - p))[:, None]).T @ x + precision
        w -= np.linalg.solve(bend, slope)
    return float(w[0]), max(float(w[1]), 0.0)


def leaned(known: Index, views: Views, chances: Array) -> Array:
    """Return the chances of one clause, shifted for the topics that this site has decided on.

    What is turned down for its likeliest topic does not go to the next one instead, unless that
    was nearly as likely.
    """
    taught = [i for i, t in enumerate(known.topics) if t.lean]
    if not taught:
        return chances
    shifted = np.clip(np.array(chances, dtype=float), 1e-6, 1 - 1e-6)
    for i in taught:
        offset, steep = known.topics[i].lean
        lead = _lead(views.whole, known.examples[i], known.counter[i])
        shift = float(np.clip(offset + steep * lead, -DOWN, UP))
        shifted[i] = 1 / (1 + np.exp(-(np.log(shifted[i] / (1 - shifted[i])) + shift)))
    best = int(np.argmax(chances))
    fell = float(shifted[best] / max(chances[best], 1e-6))
    if fell < 1:
        others = [i for i in range(len(shifted)) if i != best]
        shifted[[i for i in others if chances[i] < AS_LIKELY * chances[best]]] *= fell
    return np.asarray(shifted)


def _lead(vector: Array, own: Array, other: Array) -> float:
    """How much nearer it is to an example than to a counter-example, or to any sentence."""
    near = float((own @ vector).max()) if len(own) else ANY_SENTENCE
    against = float((other @ vector).max()) if len(other) else ANY_SENTENCE
    return near - max(against, ANY_SENTENCE)


def _rows(vectors: Sequence[Vector]) -> Array:
    return np.array(vectors, dtype=float) if vectors else np.zeros((0, 1))
