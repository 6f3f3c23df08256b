"""Pure numbers: how much a memory still counts, and how well it fits."""

from __future__ import annotations

from datetime import datetime, timedelta


def strength(
    *,
    confirmed_at: datetime,
    now: datetime,
    half_life: timedelta | None,
    usefulness: float = 0.0,
) -> float:
    """Return how much a memory still counts, in (0, 1].

    Exponential decay: 1.0 when just confirmed, 0.5 after one half-life; `half_life` None never
    fades. `usefulness` in [0, 1], the outcome of replies that rested on it, stretches the half-life
    up to twofold. Mere use does nothing. Same curve as MemoryBank's exp(-t/S), arXiv:2305.10250,
    with S = half_life / ln 2.

    Raises ValueError if half_life is not positive.
    """
    if half_life is None:
        return 1.0
    if half_life <= timedelta(0):
        raise ValueError("a half-life must be positive")
    age = max(now - confirmed_at, timedelta(0))
    stretched = half_life * (1.0 + min(max(usefulness, 0.0), 1.0))
    return float(0.5 ** min(age / stretched, 1000.0))  # 0.5 ** 1000 is still above zero


UNKNOWN = 2.0  # conversations: one good word is no certainty
ASSUMED = 0.5  # of a word that was said: silence may mean that it helped


def usefulness(*, helped: int = 0, assumed: int = 0, not_helped: int = 0) -> float:
    """Return how useful replies that rested on a memory were, in [0, 1): 0 where nothing is known.

    The share of conversations in which they helped, of all that are known and two that are not.
    """
    good = helped + ASSUMED * assumed
    return good / (good + not_helped + UNKNOWN)


def recency(*, stated_at: datetime, now: datetime, half_life: timedelta) -> float:
    """Return how fresh a statement is, in (0, 1]: 1.0 when just said, 0.5 after one half-life.

    Raises ValueError if half_life is not positive.
    """
    if half_life <= timedelta(0):
        raise ValueError("a half-life must be positive")
    age = (now - stated_at) / half_life
    return float(0.5 ** min(max(age, 0.0), 1000.0))
