"""Pure numbers: how alike two texts are in letters, and which of several choices fits best."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BINS = 2048  # hashed letter sequences: enough for a few thousand short texts


@lru_cache(maxsize=16384)
def normalise(text: str) -> str:
    """Fold case, width, punctuation and white space: "Opening  hours?" equals "opening hours"."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


# Words that a question may have or lack and stay the same question; no word that asks when, where,
# who, why or how, none that denies, and no preposition of time or place.
_COURTESY = (
    "a an the i im ive id we my our me us you your it its is am are was be do does did can could "
    "would will shall should may want wanted need like know tell please pls plz hi hello hey "
    "thanks thank of for to what whats s m re ve ll just so and any some there have has had got "
    "get ok dear sir madam mam"
)
_EMPTY = frozenset(_COURTESY.split())


_PLURAL = re.compile(r"(?:(?<=ch)es|(?<=sh)es|(?<=x)es|(?<!s)s)$")


@lru_cache(maxsize=16384)
def gist(text: str) -> str:
    """Return what a question is about: "What's the price, please?" and "price of it" are one."""
    words = (_PLURAL.sub("", w) if len(w) > 3 else w for w in normalise(text).split())
    return " ".join(sorted({w for w in words if w not in _EMPTY}))


# What may be added to a question that is asked a second time.
_ONCE_MORE = (
    "now still yet already again also too then actually really currently nowadays anymore "
    "guys folks people one u ur ye ya someone somebody but"
)
_AGAIN = frozenset(_ONCE_MORE.split())


def same_question(a: str, b: str) -> bool:
    """True if the one question is the other, asked again: "do you ship abroad now?"."""
    if normalise(a) == normalise(b):
        return True
    one, other = ([w for w in normalise(t).split() if w not in _EMPTY | _AGAIN] for t in (a, b))
    return len(one) > 1 and one == other


@lru_cache(maxsize=16384)
def letters(text: str) -> tuple[Ints, Floats]:
    """Return the bins of the letter sequences of 3 to 5 in a text's words, with their counts."""
    counts: dict[int, int] = {}
    for word in normalise(text).split():
        padded = f" {word} "
        for size in (3, 4, 5):
            for i in range(max(1, len(padded) - size + 1)):
                at = crc32(padded[i : i + size].encode()) % BINS
                counts[at] = counts.get(at, 0) + 1
    return np.array(list(counts), np.int64), np.array(list(counts.values()), np.float64)


def rarity(texts: Iterable[str]) -> Floats:
    """Return the weight of each bin: the rarer among `texts`, the heavier."""
    seen, n = np.zeros(BINS), 0
    for text in texts:
        seen[letters(text)[0]] += 1
        n += 1
    return np.log((1 + n) / (1 + seen)) + 1


def weigh(counts: Floats, rare: Floats) -> Floats:
    """Return what each sequence weighs in a text; repeats count by their log."""
    return np.asarray(np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * rare)


class Letters:
    """Groups of texts that are compared with others by their letters, rare sequences first."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self._rare = rarity(text for group in groups for text in group)
        self._counts = np.zeros((len(groups), BINS))
        for at, group in enumerate(groups):
            for text in group:
                bins, counts = letters(text)
                self._counts[at, bins] += counts
        self._heavy = weigh(self._counts, self._rare)
        self._squares = (self._heavy**2).sum(axis=1)
        self._rows = self._heavy / np.maximum(np.sqrt(self._squares), 1e-9)[:, None]

    def alike(self, text: str) -> Floats:
        """Return the cosine of `text` to each group, in [0, 1]."""
        bins, weights = self._line(text)
        return np.asarray(self._rows[:, bins] @ weights)

    def alike_without(self, text: str, group: int) -> float:
        """Return the cosine of `text` to its own group as if it were not in it."""
        bins, weights = self._line(text)
        rest = weigh(self._counts[group, bins] - letters(text)[1], self._rare[bins])
        # Only these sequences change the length of the whole.
        square = self._squares[group] + (rest**2).sum() - (self._heavy[group, bins] ** 2).sum()
        return float(rest @ weights / max(square, 1e-9) ** 0.5)

    def _line(self, text: str) -> tuple[Ints, Floats]:
        bins, counts = letters(text)
        weights = weigh(counts, self._rare[bins])
        return bins, weights / max(float(np.linalg.norm(weights)), 1e-9)


def likelihoods(
    features: Floats, weights: Floats, possible: npt.NDArray[np.bool_] | None = None
) -> Floats:
    """Return how likely each choice is. `features`: (rows, choices, signals); rows sum to 1."""
    logits = features @ weights
    if possible is not None:
        logits = np.where(possible, logits, -1e9)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def fit_choice(
    features: Floats,
    chosen: Ints,
    *,
    possible: npt.NDArray[np.bool_],
    importance: Floats,
    prior: Floats,
    precision: float,
) -> Floats:
    """Return the weights that make the choices made likely, held near `prior` by `precision`.

    McFadden's conditional logit with a Gaussian prior, by damped Newton steps.
    """
    weights, rows = prior.copy(), np.arange(len(features))

    def loss(w: Floats) -> float:
        hit = likelihoods(features, w, possible)[rows, chosen]
        held = precision * ((w - prior) ** 2).sum() / 2
        return float(held - (importance * np.log(np.maximum(hit, 1e-12))).sum())

    now = loss(weights)
    for _ in range(30):
        p = likelihoods(features, weights, possible)
        mean = np.einsum("na,nap->np", p, features)
        slope = (importance[:, None] * (features[rows, chosen] - mean)).sum(0)
        slope -= precision * (weights - prior)
        flat = features.reshape(-1, features.shape[2])
        bend = (flat * (p * importance[:, None]).reshape(-1, 1)).T @ flat
        bend -= (mean * importance[:, None]).T @ mean
        step = np.linalg.solve(bend + precision * np.eye(len(prior)), slope)
        while (new := loss(weights + step)) > now and np.abs(step).max() > 1e-4:
            step = step / 2
        if new >= now - 1e-4:
            break
        weights, now = weights + step, new
    return weights
