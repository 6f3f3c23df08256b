"""What statements of many trades teach about where a clause belongs, or that it belongs nowhere.

Two maps correct sentence vectors where likeness misleads; topics then compete with each other and
with "none of them". It knows no topic by name. `manage.py train_gates` makes it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from .topics import Array, Floats, Index

COEFFICIENTS = Path(__file__).with_name("learned.npz")
ATTENTION = 10.0  # how much more the nearest example counts than the others
BILINEAR = 10.0  # scale of the maps: their entries are small


@dataclass(frozen=True)
class Learned:
    """A conditional logit over the topics of a business and "none of them"."""

    weights: Array  # of the features of `topics`
    by_example: Floats  # (WIDTH, WIDTH)
    by_name: Floats
    none: Array  # of the marks of the clause, then of the highest features of any topic
    bias: float  # of "none"
    told: float  # score of "none" where it is known that something is told

    def chances(self, known: Index, rows: Array, vector: Floats, marks: Array | None) -> Array:
        """Return the chance of each topic. `marks`: None where it is known that it is told."""
        scores = rows @ self.weights
        scores += BILINEAR * self._by_example(known, vector)
        scores += BILINEAR * (known.names @ (vector @ self.by_name))
        none = self.told
        if marks is not None:
            none = float(np.concatenate([marks, rows.max(axis=0)]) @ self.none) + self.bias
        odds = np.exp(np.append(scores, none) - max(scores.max(), none))
        return np.asarray(odds[:-1] / odds.sum(), dtype=float)

    def _by_example(self, known: Index, vector: Floats) -> Floats:
        """How well it goes with each topic's examples, the likest first."""
        weight = attention(known.stacked, vector)
        fits = weight * (known.stacked @ (vector @ self.by_example))
        at = known.starts
        return np.asarray(np.add.reduceat(fits, at) / np.add.reduceat(weight, at))


def attention(examples: Floats, vector: Floats) -> Floats:
    return np.asarray(np.exp(ATTENTION * (examples @ vector)))


@cache
def shipped() -> Learned:
    with np.load(COEFFICIENTS) as held:
        return Learned(
            weights=held["weights"].astype(float),
            by_example=held["by_example"].astype(np.float32),
            by_name=held["by_name"].astype(np.float32),
            none=held["none"].astype(float),
            bias=float(held["bias"]),
            told=float(held["told"]),
        )
