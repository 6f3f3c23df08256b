"""Question → answer: deliver, offer, or a person. Pure: wordings and vectors are arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from memory.likeness import Floats, Ints, fit_choice, gist, likelihoods, normalise
from memory.shelf import SIGNALS, Shelf, Stored, same_shelf
from memory.types import Vector, Way

# How much each signal counts before the store has its own say: nearest wording, mean of wordings,
# the answer's own text, letters; for "none of these": always, and how near the nearest are.
# Fitted on a dental practice's questions (stores of 3 to 45 answers with 1 to 8 wordings).
PRIOR = np.array([3.0, 6.0, 9.0, 6.0, 4.0, 9.0, 7.0])
PRECISION = 0.5  # of the prior: a few dozen trials move it
CROWDS = (5, 20)  # so many nearest answers say how crowded the place is
BACKGROUND = 0.2  # likeness of two unrelated questions: stands in where there are fewer answers

TRIALS = 256  # stored wordings that are put to the test; more teach little and cost time
RIVALS = 20  # answers that a trial is weighed against
ENOUGH_TRIALS = 20  # of answers with a second wording; with fewer the prior stands
ENOUGH_TO_DELIVER = 50
LOST = 0.05  # share of known questions that may go to a person so that more unknown ones do
TOO_LOW = 0.165  # score below which a person is called, before there are trials
FIRST_SAY = 10  # trials: so much does that cut still count once there are some
# The trials ask as often for what is stored as for what is not. People do not: at first most of
# what they ask is new, later hardly any. The cut's odds move with theirs, at most so far.
FARTHEST = 10.0
# Likelihood from which an answer is delivered, if no mistake that named it was as likely or had as
# much margin, whether the right answer was stored or not. The mistakes of the whole store are no
# guide: one pair of twins, the second of a hundred, decided for all others.
SURE = 0.9


@dataclass(frozen=True, slots=True)
class Scored:
    id: int
    score: float  # how likely this answers the question, in [0, 1]
    wording: str  # the stored wording that came nearest
    parts: dict[str, float]
    firm: tuple[str, ...] = ()  # wordings that deliver it, the nearest first


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
    offer: float  # below it a person is called
    # by position of the answer: score and margin of the surest mistake that named it
    mistaken: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    def delivers(self, answer: int, score: float, margin: float) -> bool:
        if self.deliver is None or score <= self.deliver:
            return False
        worst, wide = self.mistaken.get(answer, (0.0, 0.0))
        return score > worst and margin > wide


class Index:
    """All answers in force, ready to be asked. Made anew from the rows whenever they change."""

    firm: Shelf
    weights: Floats
    _learnt: Cuts

    def __init__(
        self,
        stored: Sequence[Stored],
        outcomes: Sequence[tuple[float, bool]] = (),
        *,
        new: float = 0.5,
        before: Index | None = None,
    ) -> None:
        """`outcomes`: score and "it was right" of answers that a staff member or a known customer
        judged, one a customer. `new`: the share of what is asked that nothing stored answers.
        `before`: the index till now; what it has learnt of the same wordings need not be learnt
        again.
        """
        self.stored = tuple(sorted((s for s in stored if s.wordings), key=lambda s: s.id))
        self._equal: dict[str, set[int]] = {}
        for a, s in enumerate(self.stored):
            for wording in (w for w in s.wordings if normalise(w) not in s.yields):
                for key in {normalise(wording), gist(wording)} - {""}:
                    self._equal.setdefault(key, set()).add(a)
        if not self.stored:
            return
        if before is not None and same_shelf(before.stored, self.stored):
            self.firm, self.weights, self._learnt = before.firm, before.weights, before._learnt
        else:
            self.firm = Shelf(self.stored)
            self.weights, self._learnt = self._learn()
        self.loose = self.firm
        if any(s.doubtful for s in self.stored):
            self.loose = Shelf([s.with_doubtful() for s in self.stored])
        self.cuts = _expecting(_proven(self._learnt, outcomes), new)

    def ask(self, question: str, vector: Vector | None, *, top: int = 3) -> Verdict:
        """Say what to do with `question`. Without a vector, letters alone decide."""
        if not self.stored:
            return Verdict("gap", (), 0.0, "nothing is stored yet")
        if (equal := self._equal_to(question)) is not None:
            found = Scored(equal.id, 1.0, question, {"equal": 1.0}, equal.wordings)
            return Verdict("deliver", (found,), 1.0, "a confirmed wording, word for word")
        best = self._rank(self.firm, question, vector, top)
        at = next(a for a, s in enumerate(self.stored) if s.id == best[0].id)
        if self.cuts.delivers(at, best[0].score, _margin(best)):
            sure = "surer than any mistake in what is stored"
            return Verdict("deliver", best, _margin(best), sure)
        if self.loose is not self.firm:
            best = self._rank(self.loose, question, vector, top)
        if best[0].score < self.cuts.offer:
            return Verdict("gap", best, _margin(best), "no stored answer is near enough")
        return Verdict("offer", best, _margin(best), "near, not sure")

    def _equal_to(self, question: str) -> Stored | None:
        """The one answer with this very wording, politeness and word order aside."""
        for key in (normalise(question), gist(question)):
            equal = self._equal.get(key, set())
            if equal:
                return self.stored[next(iter(equal))] if len(equal) == 1 else None
        return None

    def _rank(
        self, shelf: Shelf, question: str, vector: Vector | None, top: int
    ) -> tuple[Scored, ...]:
        signals = shelf.one(question, vector)
        odds = likelihoods(_with_none(signals[None]), self.weights)[0]
        names = ("wording", "wordings", "text", "letters")
        best = np.argsort(-odds[:-1], kind="stable")[:top]
        return tuple(
            Scored(
                id=self.stored[a].id,
                score=float(odds[a]),
                wording=shelf.nearest_first(a, vector)[0],
                parts={n: round(float(x), 3) for n, x in zip(names, signals[a], strict=True)},
                firm=tuple(self.firm.nearest_first(a, vector)),
            )
            for a in map(int, best)
        )

    def _learn(self) -> tuple[Floats, Cuts]:
        """Take wordings out, alone and with their whole answer, and see what the rest says."""
        shelf = self.firm
        leave = _spread(len(shelf.lines))
        seen = shelf.signals([shelf.lines[i] for i in leave], shelf.near[leave], leave=leave)
        own = shelf.owner[leave]
        known = np.bincount(shelf.owner)[own] > 1
        if len(self.stored) < 2 or known.sum() < ENOUGH_TRIALS:
            return PRIOR, Cuts(None, TOO_LOW)
        features, chosen, possible, rivals = _trials(seen, own, known)
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
            likelihoods(features, weights, possible), chosen, rivals, few=len(self.stored) < 15
        )


def _trials(
    seen: Floats, own: Ints, known: npt.NDArray[np.bool_]
) -> tuple[Floats, Ints, npt.NDArray[np.bool_], Ints]:
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
    return features, chosen, possible, np.concatenate([rivals[known], rivals])


def _cuts(odds: Floats, chosen: Ints, rivals: Ints, *, few: bool) -> Cuts:
    answers = odds[:, :-1]
    best = np.sort(answers, axis=1)
    top = best[:, -1]
    margin = top - best[:, -2]
    there = chosen == 0
    right = there & (answers.argmax(axis=1) == 0)
    in_three = there & (answers[:, 0] >= best[:, -3 if best.shape[1] > 2 else 0])
    n = int(in_three.sum())
    lost = float(np.quantile(top[in_three], LOST)) if n else TOO_LOW
    offer = (n * lost + FIRST_SAY * TOO_LOW) / (n + FIRST_SAY)
    if there.sum() < ENOUGH_TO_DELIVER or few:
        return Cuts(None, offer)
    mistaken: dict[int, tuple[float, float]] = {}
    for i in np.flatnonzero(~right):
        named = int(rivals[i, answers[i].argmax()])
        worst, wide = mistaken.get(named, (0.0, 0.0))
        mistaken[named] = max(worst, float(top[i])), max(wide, float(margin[i]))
    return Cuts(SURE, offer, mistaken)


def _with_none(signals: Floats, *, without_first: bool = False) -> Floats:
    """Add the choice "none of these" to (texts, answers, SIGNALS)."""
    rows, answers, _ = signals.shape
    features = np.zeros((rows, answers + 1, len(PRIOR)))
    features[:, :answers, :SIGNALS] = signals
    near = signals[:, 1 if without_first else 0 :, 0]
    near = np.concatenate([near, np.full((rows, max(CROWDS)), BACKGROUND)], axis=1)
    near = np.sort(near, axis=1)
    features[:, answers, SIGNALS] = 1
    for i, crowd in enumerate(CROWDS, start=SIGNALS + 1):
        features[:, answers, i] = near[:, -crowd:].mean(axis=1)
    return features


def _margin(best: tuple[Scored, ...]) -> float:
    return best[0].score - (best[1].score if len(best) > 1 else 0.0)


def _proven(cuts: Cuts, outcomes: Sequence[tuple[float, bool]]) -> Cuts:
    """Deliver above the score where at most one outcome in a hundred was wrong."""
    wrong, proven = 0, None
    for n, (score, right) in enumerate(sorted(outcomes, reverse=True), start=1):
        wrong += not right
        # One mistake more than was seen: ninety-nine without any are the fewest that prove it.
        if (wrong + 1) / (n + 1) <= 0.01:
            proven = score
    return replace(cuts, deliver=proven) if proven is not None else cuts


def _expecting(cuts: Cuts, new: float) -> Cuts:
    """The rarer a new question is, the sooner something is offered."""
    odds = min(max(new / (1 - new), 1 / FARTHEST), FARTHEST)
    return replace(cuts, offer=cuts.offer * odds / (1 - cuts.offer + cuts.offer * odds))


def _spread(n: int) -> Ints:
    return np.unique(np.linspace(0, n - 1, min(n, TRIALS)).astype(np.int64))
