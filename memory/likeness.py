"""Pure numbers: how alike two texts are in letters, and which of several choices fits best."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memory.types import Vector

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SIGNALS = 4  # nearest wording, mean of wordings, the answer's own text, letters
BINS = 2048  # hashed letter sequences: enough for a few thousand short texts


def normalise(text: str) -> str:
    """Fold case, width, punctuation and white space: "Opening  hours?" equals "opening hours"."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


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
    """Turn counts, (n, BINS) or (BINS,), into rows of unit length; repeats count by their log."""
    rows = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * rare
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(length, 1e-9))


class Letters:
    """Groups of texts that are compared with others by their letters, rare sequences first."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self._rare = rarity(text for group in groups for text in group)
        self._counts = np.zeros((len(groups), BINS))
        for at, group in enumerate(groups):
            for text in group:
                bins, counts = letters(text)
                self._counts[at, bins] += counts
        self._rows = weigh(self._counts, self._rare)

    def alike(self, text: str) -> Floats:
        """Return the cosine of `text` to each group, in [0, 1]."""
        bins, weights = self._line(text)
        return np.asarray(self._rows[:, bins] @ weights)

    def alike_without(self, text: str, group: int) -> float:
        """Return the cosine of `text` to its own group as if it were not in it."""
        bins, weights = self._line(text)
        rest = self._counts[group].copy()
        rest[bins] -= letters(text)[1]
        return float(weigh(rest, self._rare)[bins] @ weights)

    def _line(self, text: str) -> tuple[Ints, Floats]:
        bins, counts = letters(text)
        return bins, weigh(counts, self._rare[bins])


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


@dataclass(frozen=True, slots=True)
class Stored:
    """One answer with every wording that is known to mean it; the title is the first."""

    id: int
    wordings: tuple[str, ...]
    vectors: tuple[Vector | None, ...]  # one a wording; None: its embedding follows
    text: str
    text_vector: Vector | None
    # Chosen by a customer, confirmed by nobody: they rank what is offered, and never deliver.
    doubtful: tuple[tuple[str, Vector | None], ...] = ()

    def with_doubtful(self) -> Stored:
        wordings = (*self.wordings, *(w for w, _ in self.doubtful))
        return replace(
            self, wordings=wordings, vectors=(*self.vectors, *(v for _, v in self.doubtful))
        )


class Shelf:
    """Stored answers, laid out to be compared with questions by vectors and by letters."""

    def __init__(self, stored: Sequence[Stored]) -> None:
        flat = [
            (a, w, v)
            for a, s in enumerate(stored)
            for w, v in zip(s.wordings, s.vectors, strict=True)
        ]
        self.owner: Ints = np.array([a for a, _, _ in flat], np.int64)
        self.lines = [w for _, w, _ in flat]
        self._starts = np.searchsorted(self.owner, np.arange(len(stored)))
        self._mean = _mean([v for _, _, v in flat if v is not None])
        self.near = np.stack([self.centre(v) for _, _, v in flat])
        self._texts = np.stack([self.centre(s.text_vector) for s in stored])
        self._sums = np.add.reduceat(self.near, self._starts, axis=0)
        self._bare = np.array([v is None for _, _, v in flat])
        self._letters = Letters([[*s.wordings, s.text] for s in stored])

    def one(self, question: str, vector: Vector | None) -> Floats:
        """Return (answers, SIGNALS) of one question. Without a vector, letters stand in."""
        blind = vector is None or bool(self._bare.all())
        at = self.centre(None if blind else vector)[None]
        return np.asarray(self.signals([question], at, blind=blind)[0])

    def nearest(self, answer: int, vector: Vector | None) -> str:
        mine = np.flatnonzero(self.owner == answer)
        if vector is None or self._bare.all():
            return self.lines[int(mine[0])]
        return self.lines[int(mine[int(np.argmax(self.near[mine] @ self.centre(vector)))])]

    def centre(self, vector: Vector | None) -> Vector:
        """Take out half of what all questions here share, which tells none of them apart."""
        if vector is None:
            return np.zeros_like(self._mean)
        moved = vector - self._mean
        return np.asarray(moved / max(float(np.linalg.norm(moved)), 1e-9), np.float32)

    def signals(
        self,
        texts: Sequence[str],
        vectors: npt.NDArray[np.float32],
        *,
        leave: Ints | None = None,
        blind: bool = False,
    ) -> Floats:
        """Return (texts, answers, SIGNALS). `leave`: each text is that stored wording, left out."""
        cos = vectors @ self.near.T
        total, size = vectors @ self._sums.T, np.tile((self._sums**2).sum(1), (len(texts), 1))
        alike = np.stack([self._letters.alike(t) for t in texts])
        if leave is not None:
            row, own = np.arange(len(leave)), self.owner[leave]
            cos[row, leave] = -1
            size[row, own] += 1 - 2 * total[row, own]
            total[row, own] -= 1
            for i, (a, text) in enumerate(zip(own, texts, strict=True)):
                alike[i, a] = self._letters.alike_without(text, int(a))
        if self._bare.any() or blind:
            unseen = np.ones_like(self._bare) if blind else self._bare
            cos[:, unseen] = alike[:, self.owner[unseen]]
        nearest = np.maximum.reduceat(cos, self._starts, axis=1)
        mean = np.where(size > 1e-3, total / np.sqrt(np.maximum(size, 1e-3)), nearest)
        words: Floats = np.where((self._texts**2).sum(1) > 0, vectors @ self._texts.T, alike)
        return np.stack(
            [nearest, nearest if blind else mean, alike if blind else words, alike], axis=2
        )


def _mean(vectors: Sequence[Vector]) -> Vector:
    if not vectors:
        return np.zeros(1, np.float32)
    n = len(vectors)
    return np.asarray(np.mean(vectors, axis=0) * (0.5 * n / (n + 10)), np.float32)
