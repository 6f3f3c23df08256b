"""Which of several questions a person's words answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.llm.embeddings import embed_here
from memory.speech import acts

# An answer shares its subject with its question; what answers none of them stayed under .25
# where it was measured. Two that are nearly as near are not told apart.
NEAR, CLEARLY = 0.3, 0.05


def asks(text: str) -> bool:
    """Say whether a message asks for something to be told, in any of its sentences."""
    return any(acts.asks(sentence) for sentence in acts.parts(text))


def answered_by(said: Sequence[str], questions: Sequence[str]) -> int | None:
    """Return the place of the question that these words answer best; None where that is unclear."""
    if not said or not questions:
        return None
    vectors = np.stack(embed_here([*questions, *said]))
    near = (vectors[: len(questions)] @ vectors[len(questions) :].T).max(axis=1)
    order = np.argsort(-near)
    best = int(order[0])
    if near[best] < NEAR or (len(order) > 1 and near[best] - near[order[1]] < CLEARLY):
        return None
    return best
