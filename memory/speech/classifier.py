"""A logistic regression over a sentence vector and a few cheap marks. Pure numpy.

Its coefficients ship as .npz beside the lifecycle; `manage.py train_gates` makes them again.
"""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory.types import Vector

from . import acts

Array = npt.NDArray[np.float64]
COEFFICIENTS = Path(__file__).with_name("classifiers.npz")
EMBEDDED = 384  # MiniLM; the rest of the 512 is padding
MARK_SCALE = 0.3  # a mark weighs about as much as a strong direction of the unit vector
ID = re.compile(r"\b(?=[\w/-]*\d)(?:[a-z]{0,4}[-_ ]?)?\d[\w/-]{3,}", re.I)

MARKS: tuple[Callable[[str, Sequence[str]], bool], ...] = (
    lambda t, b: acts.only_asks(t),
    lambda t, b: "?" in t,
    lambda t, b: "?" in t and not acts.only_asks(t),
    lambda t, b: bool(acts.WH_START.search(acts.opened(t))),
    lambda t, b: acts.is_request(t),
    lambda t, b: bool(acts.WISH.search(acts.plain(t))),
    lambda t, b: bool(acts.LASTING.search(acts.plain(t))),
    lambda t, b: bool(acts.PREFERS.search(acts.plain(t))),
    lambda t, b: bool(acts.POSSESSES.search(acts.plain(t)) and not acts.only_asks(t)),
    lambda t, b: bool(acts.ONE_OFF.search(acts.plain(t))),
    lambda t, b: bool(acts.PAST_REFERENCE.search(acts.plain(t))),
    lambda t, b: bool(acts.FIRST_PERSON.search(acts.plain(t))),
    lambda t, b: bool(re.search(r"\b(?:my|mine|our|ours)\b", acts.plain(t))),
    lambda t, b: bool(acts.SECOND_PERSON.search(acts.plain(t))),
    lambda t, b: bool(acts.NEGATION.search(acts.plain(t))),
    lambda t, b: bool(acts.CHANGE.search(acts.plain(t))),
    lambda t, b: acts.only_imagines(t),
    lambda t, b: acts.of_others(t),
    lambda t, b: acts.jests(t),
    lambda t, b: bool(ID.search(t)),
    lambda t, b: acts.wants_forgotten(t),
    lambda t, b: len(t.split()) <= 3,
    lambda t, b: len(t.split()) >= 25,
    lambda t, b: bool(b),
    lambda t, b: bool(b and acts.BOT_ASKS_LASTING.search(acts.plain(b[-1]))),
    lambda t, b: bool(b and acts.BOT_ASKS_LASTING.search(acts.plain(b[-1])) and not acts.only_asks(t)
                      and not acts.DECLINES.search(acts.plain(t))),
    lambda t, b: bool(b and acts.OFFERS_SLOTS.search(acts.plain(b[-1]))),
    lambda t, b: bool(b and b[-1].rstrip().endswith("?")
                      and not acts.BOT_ASKS_LASTING.search(acts.plain(b[-1]))),
    lambda t, b: bool(b) and len(t.split()) <= 6,
    lambda t, b: acts.small_talk(t),
    lambda t, b: bool(acts.ONE_OFF.search(acts.plain(t)) and not acts.LASTING.search(acts.plain(t))),
    lambda t, b: bool(acts.only_asks(t) and re.search(r"\b(?:my|mine|our|i|me)\b", acts.plain(t))),
    lambda t, b: bool(re.search(r"\b(?:i|we)(?:'m|'ve|'d| am| have| use| take| work| live| need| can| can't)\b"
                                r"|\b(?:my|mine|our)\b[^?]*\b(?:is|are|'s|was)\b", acts.opened(t))
                      and not acts.only_asks(t)),
)  # fmt: skip


def marks(text: str, before: Sequence[str] = ()) -> Array:
    return np.array([float(mark(text, before)) for mark in MARKS])


def inputs(vector: Vector, text: str, before: Sequence[str] = ()) -> Array:
    """Return the (EMBEDDED + marks,) row the classifier reads."""
    return np.concatenate([vector[:EMBEDDED].astype(float), MARK_SCALE * marks(text, before)])


@dataclass(frozen=True)
class Classifier:
    weights: Array
    bias: float
    threshold: float  # on the probability; chosen in training for recall

    def score(self, vector: Vector, text: str, before: Sequence[str] = ()) -> float:
        """Return the probability of yes, in (0, 1)."""
        return self.of(inputs(vector, text, before))

    def of(self, row: Array) -> float:
        """The same, of a row that was made before."""
        return float(1 / (1 + np.exp(-(float(row @ self.weights) + self.bias))))


def fit(
    rows: Array, wanted: Array, *, l2: float, positive_weight: float = 1.0
) -> tuple[Array, float]:
    """Logistic regression by Newton's method; returns (weights, bias). The bias is not penalised."""
    x = np.hstack([rows, np.ones((len(rows), 1))])
    weight = np.where(wanted > 0, positive_weight, 1.0)
    penalty = np.full(x.shape[1], l2)
    penalty[-1] = 1e-6
    beta = np.zeros(x.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (p - wanted)) + penalty * beta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < 1e-6:
            break
    return beta[:-1], float(beta[-1])


@cache
def shipped() -> dict[str, Classifier]:
    """The classifiers of the gates, `save` and `retrieve`, and of clauses, `states`."""
    return load(COEFFICIENTS)


def load(path: Path) -> dict[str, Classifier]:
    """Read the classifiers of an .npz: for each name, `NAME_weights` and `NAME_bias_threshold`."""
    with np.load(path) as held:
        names = [k.removesuffix("_weights") for k in held.files if k.endswith("_weights")]
        return {
            name: Classifier(held[f"{name}_weights"], *map(float, held[f"{name}_bias_threshold"]))
            for name in names
        }
