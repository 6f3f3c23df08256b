"""Question → answer: deliver, offer, or a person. Pure: wordings and vectors are arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory.likeness import Floats, Ints, Letters, fit_choice, likelihoods, normalise, rare_height
from memory.types import Vector, Way

# How much each signal counts before the store has its own say: nearest wording, mean of wordings,
# the answer's own text, letters; for "none of these": always, and how near the five nearest are.
# Fitted on a dental practice's questions (stores of 3 to 45 answers with 1 to 8 wordings).
PRIOR = np.array([1.0, 8.0, 10.0, 7.0, 4.6, 13.0])
SIGNALS = 4
PRECISION = 0.5  # of the prior: a few dozen trials move it
CROWD = 5  # nearest answers that say how crowded the place is
BACKGROUND = 0.2  # likeness of two unrelated questions: stands in where there are fewer answers

TRIALS = 256  # stored wordings that are put to the test; more teach little and cost time
RIVALS = 20  # answers that a trial is weighed against
ENOUGH_TRIALS = 20  # of answers with a second wording; with fewer the prior stands
ENOUGH_TO_DELIVER = 50
LOST = 0.06  # share of known questions that may go to a person so that more unknown ones do
NONE_CUT = 0.77  # where to call a person before there are trials
SAFE = 200  # one in so many mistakes may look surer than the cut


@dataclass(frozen=True, slots=True)
class Stored:
    """One answer with every wording that is known to mean it; the title is the first."""

    id: int
    wordings: tuple[str, ...]
    vectors: tuple[Vector | None, ...]  # one a wording; None: its embedding follows
    text: str
    text_vector: Vector | None


@dataclass(frozen=True, slots=True)
class Scored:
    id: int
    score: float  # how likely this answers the question, in [0, 1]
    wording: str  # the stored wording that came nearest
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Verdict:
    way: Way
    candidates: tuple[Scored, ...]
    margin: float
    reason: str


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where to deliver and where to call a person, from what the store says to its own wordings."""

    deliver: float | None  # None: by an equal wording alone
    margin: float
    none: float


class Index:
    """All answers in force, ready to be asked. Made anew from the rows whenever they change."""

    def __init__(self, stored: Sequence[Stored]) -> None:
        self.stored = tuple(s for s in stored if s.wordings)
        flat = [
            (a, w, v)
            for a, s in enumerate(self.stored)
            for w, v in zip(s.wordings, s.vectors, strict=True)
        ]
        self.owner: Ints = np.array([a for a, _, _ in flat], np.int64)
        self.lines = [w for _, w, _ in flat]
        self._equal: dict[str, set[int]] = {}
        for a, wording, _ in flat:
            self._equal.setdefault(normalise(wording), set()).add(a)
        if not flat:
            return
        self._starts = np.searchsorted(self.owner, np.arange(len(self.stored)))
        self._mean = _mean([v for _, _, v in flat if v is not None])
        self._near = np.stack([self._centre(v) for _, _, v in flat])
        self._texts = np.stack([self._centre(s.text_vector) for s in self.stored])
        self._sums = np.add.reduceat(self._near, self._starts, axis=0)
        self._bare = np.array([v is None for _, _, v in flat])
        self._letters = Letters([[*s.wordings, s.text] for s in self.stored])
        self.weights, self.cuts = self._learn()

    def ask(self, question: str, vector: Vector | None) -> Verdict:
        """Say what to do with `question`. Without a vector, letters alone decide."""
        if not self.stored:
            return Verdict("gap", (), 0.0, "nothing is stored yet")
        if self._bare.all():
            vector = None
        signals = self._signals([question], self._centre(vector)[None], blind=vector is None)
        odds = likelihoods(_with_none(signals), self.weights)[0]
        best = np.argsort(-odds[:-1], kind="stable")[:3]
        found = tuple(
            self._scored(int(a), float(odds[a]), signals[0, a], question, vector) for a in best
        )
        margin = found[0].score - (found[1].score if len(found) > 1 else 0.0)
        return self._decide(normalise(question), found, margin, none=float(odds[-1]))

    def _decide(self, asked: str, found: tuple[Scored, ...], margin: float, none: float) -> Verdict:
        equal = self._equal.get(asked, set())
        if len(equal) == 1:
            (a,) = equal
            known = Scored(self.stored[a].id, 1.0, asked, {"equal": 1.0})
            return Verdict("deliver", (known,), 1.0, "a confirmed wording, word for word")
        sure = self.cuts.deliver is not None and found[0].score > self.cuts.deliver
        if sure and margin > self.cuts.margin:
            return Verdict(
                "deliver", found, margin, "surer than any mistake among the stored wordings"
            )
        if none > self.cuts.none:
            return Verdict("gap", found, margin, "no stored answer is near enough")
        return Verdict("offer", found, margin, "near, not sure")

    def _scored(
        self, a: int, score: float, signals: Floats, asked: str, vector: Vector | None
    ) -> Scored:
        mine = np.flatnonzero(self.owner == a)
        nearest = mine[int(np.argmax(self._near[mine] @ self._centre(vector)))]
        names = ("wording", "wordings", "text", "letters")
        parts = {n: round(float(x), 3) for n, x in zip(names, signals, strict=True)}
        return Scored(self.stored[a].id, score, self.lines[nearest], parts)

    def _centre(self, vector: Vector | None) -> Vector:
        """Take out half of what all questions here share, which tells none of them apart."""
        if vector is None:
            return np.zeros_like(self._mean)
        moved = vector - self._mean
        return np.asarray(moved / max(float(np.linalg.norm(moved)), 1e-9), np.float32)

    def _signals(
        self,
        texts: Sequence[str],
        vectors: npt.NDArray[np.float32],
        *,
        leave: Ints | None = None,
        blind: bool = False,
    ) -> Floats:
        """Return (texts, answers, SIGNALS). `leave`: each text is that stored wording, left out."""
        cos = vectors @ self._near.T
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

    def _learn(self) -> tuple[Floats, Cuts]:
        """Take wordings out, alone and with their whole answer, and see what the rest says."""
        leave = _spread(len(self.lines))
        seen = self._signals([self.lines[i] for i in leave], self._near[leave], leave=leave)
        own = self.owner[leave]
        known = np.bincount(self.owner)[own] > 1
        if len(self.stored) < 2 or known.sum() < ENOUGH_TRIALS:
            return PRIOR, Cuts(None, 0.0, NONE_CUT)
        features, chosen, possible = _trials(seen, own, known)
        absent = chosen == possible.shape[1] - 1
        importance = np.where(absent, known.sum() / len(leave), 1.0)
        weights = fit_choice(
            features,
            chosen,
            possible=possible,
            importance=importance,
            prior=PRIOR,
            precision=PRECISION,
        )
        return weights, _cuts(
            likelihoods(features, weights, possible), chosen, few=len(self.stored) < 15
        )


def _trials(
    seen: Floats, own: Ints, known: npt.NDArray[np.bool_]
) -> tuple[Floats, Ints, npt.NDArray[np.bool_]]:
    """Two trials a wording: its answer is there (the first choice), and it is not (the last)."""
    row = np.arange(len(own))
    order = seen @ PRIOR[:SIGNALS]
    order[row, own] = np.inf
    rivals = np.argsort(-order, axis=1, kind="stable")[:, : RIVALS + 1]
    seen = np.take_along_axis(seen, rivals[:, :, None], axis=1)
    there, away = _with_none(seen[known]), _with_none(seen, without_first=True)
    features = np.concatenate([there, away])
    possible = np.ones(features.shape[:2], bool)
    possible[len(there) :, 0] = False
    last = features.shape[1] - 1
    chosen = np.concatenate([np.zeros(len(there), np.int64), np.full(len(away), last)])
    return features, chosen, possible


def _cuts(odds: Floats, chosen: Ints, *, few: bool) -> Cuts:
    none, answers = odds[:, -1], odds[:, :-1]
    best = np.sort(answers, axis=1)
    top = best[:, -1]
    margin = top - best[:, -2]
    there = chosen == 0
    right = there & (answers.argmax(axis=1) == 0)
    in_three = there & (answers[:, 0] >= best[:, -3 if best.shape[1] > 2 else 0])
    n = int(in_three.sum())
    lost = float(np.quantile(none[in_three], 1 - LOST)) if n else NONE_CUT
    cut = (n * lost + ENOUGH_TRIALS * NONE_CUT) / (n + ENOUGH_TRIALS)
    if there.sum() < ENOUGH_TO_DELIVER or few:
        return Cuts(None, 0.0, cut)
    mistakes = np.clip(top[~right], 1e-6, 1 - 1e-6)
    worst = rare_height(np.log(mistakes / (1 - mistakes)), one_in=SAFE)
    return Cuts(float(1 / (1 + np.exp(-worst))), float(margin[~right].max()), cut)


def _with_none(signals: Floats, *, without_first: bool = False) -> Floats:
    """Add the choice "none of these" to (texts, answers, SIGNALS)."""
    rows, answers, _ = signals.shape
    features = np.zeros((rows, answers + 1, len(PRIOR)))
    features[:, :answers, :SIGNALS] = signals
    near = signals[:, 1 if without_first else 0 :, 0]
    near = np.concatenate([near, np.full((rows, CROWD), BACKGROUND)], axis=1)
    features[:, answers, SIGNALS] = 1
    features[:, answers, SIGNALS + 1] = np.sort(near, axis=1)[:, -CROWD:].mean(axis=1)
    return features


def _mean(vectors: Sequence[Vector]) -> Vector:
    if not vectors:
        return np.zeros(1, np.float32)
    n = len(vectors)
    return np.asarray(np.mean(vectors, axis=0) * (0.5 * n / (n + 10)), np.float32)


def _spread(n: int) -> Ints:
    return np.unique(np.linspace(0, n - 1, min(n, TRIALS)).astype(np.int64))
