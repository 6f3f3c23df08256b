"""The likeliest topics of a clause, judged again: each is read together with it.

To find by vectors and to judge the few that were found by reading both at once is as old as BERT
(Nogueira & Cho 2019, "Passage Re-ranking with BERT"). Pure: who reads is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memory.types import TopicSpec

from .fitted import Array, Floats, Read

Span = tuple[int, int]
# The log odds that a part of a text tells something of a topic, against nothing.
Beside = Callable[[str, Span, TopicSpec], float]

CLOSE = 3  # topics
HOPELESS, PLAIN = 0.04, 0.95  # the likeliest topic's chance, beyond which nothing is read again
LEFT = 1e-3  # chance of a topic that was not read again, at most


@dataclass(frozen=True)
class InView:
    """A clause where it stands: one of the parts of a text that are read at once, if at all."""

    text: str
    spans: tuple[Span, ...]
    at: int
    read: Read
    beside: Beside

    @cached_property
    def vector(self) -> Floats:
        return np.asarray(self.read(self.text, self.spans)[self.at])

    def odds(self, topic: TopicSpec) -> float:
        return self.beside(self.text, self.spans[self.at], topic)


def reranked(topics: Sequence[TopicSpec], chances: Array, view: InView) -> Array:
    """Return the chances of the topics, those of the likeliest by reading each with the clause."""
    if not HOPELESS <= chances.max() < PLAIN:
        return chances
    close = np.argsort(-chances)[:CLOSE]
    odds = np.array([*(view.odds(topics[i]) for i in close), 0.0])
    shares = np.exp(odds - odds.max())
    found = np.minimum(chances, LEFT)
    found[close] = (shares / shares.sum())[:-1]
    return np.asarray(found)
