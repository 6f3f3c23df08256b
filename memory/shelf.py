"""Stored answers laid out in arrays, to be compared with a question at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from memory.likeness import Floats, Ints, Letters
from memory.types import Vector

SIGNALS = 4  # nearest wording, mean of wordings, the answer's own text, letters


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
    # Normalised wordings that staff later said mean another answer: they deliver that one.
    yields: frozenset[str] = frozenset()

    def with_doubtful(self) -> Stored:
        wordings = (*self.wordings, *(w for w, _ in self.doubtful))
        return replace(
            self, wordings=wordings, vectors=(*self.vectors, *(v for _, v in self.doubtful))
        )


def same_shelf(one: Sequence[Stored], other: Sequence[Stored]) -> bool:
    """Say whether both make the same shelf: these answers, wordings and very vectors."""
    return len(one) == len(other) and all(
        (a.id, a.wordings, a.text) == (b.id, b.wordings, b.text)
        and all(v is w for v, w in zip(_all_vectors(a), _all_vectors(b), strict=True))
        for a, b in zip(one, other, strict=True)
    )


def _all_vectors(stored: Stored) -> tuple[Vector | None, ...]:
    return (*stored.vectors, stored.text_vector)


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
        self.near = self._centres([v for _, _, v in flat])
        self._texts = self._centres([s.text_vector for s in stored])
        self._sums = np.add.reduceat(self.near, self._starts, axis=0)
        self._bare = np.array([v is None for _, _, v in flat])
        self._letters = Letters([[*s.wordings, s.text] for s in stored])

    def one(self, question: str, vector: Vector | None) -> Floats:
        """Return (answers, SIGNALS) of one question. Without a vector, letters stand in."""
        blind = vector is None or bool(self._bare.all())
        at = self.centre(None if blind else vector)[None]
        return np.asarray(self.signals([question], at, blind=blind)[0])

    def nearest_first(self, answer: int, vector: Vector | None) -> list[str]:
        """Return the wordings of an answer, the nearest first; without vectors as they stand."""
        mine = np.flatnonzero(self.owner == answer)
        if vector is not None and not self._bare.all():
            mine = mine[np.argsort(-(self.near[mine] @ self.centre(vector)), kind="stable")]
        return [self.lines[int(i)] for i in mine]

    def centre(self, vector: Vector | None) -> Vector:
        """Take out half of what all questions here share, which tells none of them apart."""
        return np.asarray(self._centres([vector])[0])

    def _centres(self, vectors: Sequence[Vector | None]) -> npt.NDArray[np.float32]:
        moved = np.stack([self._mean if v is None else v for v in vectors]) - self._mean
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        return np.asarray(moved / np.maximum(length, 1e-9), np.float32)

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
