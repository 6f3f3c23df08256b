"""MiniLM fitted to read words together with what they are judged by.

A clause of a customer is read beside one topic. Such a cross-encoder (Humeau et al. 2020,
"Poly-encoders", compares the kinds) tells more than two vectors that were made apart, at the price
of a reading for each pair: 5 to 15 ms. Its low-rank corrections stand on top of those of `fitted`;
`manage.py fit_joint` learns them from our own examples.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memory.types import TopicSpec

from .embeddings import Encoder, Floats, model_file
from .fitted import CORRECTIONS, FIRST, LAST, WINDOW, Span, corrected, held_by, window_of

WEIGHTS = Path(__file__).with_name("joint.npz")
WIDTH = 384
# Of a topic so many examples and counter-examples are read, and so many tokens: of its name and
# description, of these and its examples, of all.
SHOWN, SHOWN_AGAINST = 4, 2
NAMED, WITH_EXAMPLES, WHOLE = 30, 52, 64
KEPT = 1024  # topics
WINDOWS, TEXTS = 64, 8  # that are kept: 200 KB a window
_BETWEEN, _NOT = " / ", "not: "


class Joint:
    """Loads itself on first use: about a second, 90 MB."""

    def __init__(self) -> None:
        self._encoder = Encoder(lambda: corrected(model_file(), CORRECTIONS, WEIGHTS), None)
        self._text = lru_cache(maxsize=TEXTS)(self._encoding)
        self._window = lru_cache(maxsize=WINDOWS)(self._read)
        self._topic = lru_cache(maxsize=KEPT)(lambda topic: topic_tokens(topic, self._tokens))

    def odds(self, text: str, span: Span, topic: TopicSpec) -> float:
        read = self._text(text)
        (at,) = held_by([span], read.offsets)
        start = window_of(at, len(read.ids))
        states = self._window(text, start, topic)
        inside = [1 + i - start for i in at if 0 <= i - start < WINDOW] or [1]
        return _odds_of(np.concatenate((states[inside].mean(axis=0), states[0])))

    def _read(self, text: str, start: int, topic: TopicSpec) -> Floats:
        told = self._text(text).ids[start : start + WINDOW]
        return self._encoder.states([FIRST, *told, LAST], self._topic(topic))

    def _tokens(self, text: str) -> list[int]:
        return list(self._encoding(text).ids)

    def _encoding(self, text: str) -> Any:
        return self._encoder.tokens(text, marked=False)


def topic_tokens(topic: TopicSpec, tokens: Callable[[str], Sequence[int]]) -> list[int]:
    """Return a topic as it is read: name and description, examples, what it does not mean."""
    ids = list(tokens(f"{topic.label}. {topic.description}"))[:NAMED]
    if topic.examples:
        ids = [*ids, LAST, *tokens(_BETWEEN.join(topic.examples[:SHOWN]))][:WITH_EXAMPLES]
    if topic.not_examples:
        against = _NOT + _BETWEEN.join(topic.not_examples[:SHOWN_AGAINST])
        ids = [*ids, LAST, *tokens(against)][:WHOLE]
    return [*ids, LAST]


@cache
def _head() -> dict[str, Floats]:
    with np.load(WEIGHTS) as held:
        if str(held["stands_on"]) != fingerprint(CORRECTIONS):
            raise ValueError(f"{WEIGHTS.name} was made for another {CORRECTIONS.name}: fit_joint")
        return {k: held[k].astype(np.float32) for k in held.files if k.startswith("odds")}


def fingerprint(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _odds_of(seen: Floats) -> float:
    """Two layers over what was read, (768,)."""
    learnt = _head()
    hidden = seen @ learnt["odds_in"] + learnt["odds_in_bias"]
    hidden = hidden * 0.5 * (1 + np.array([math.erf(x / math.sqrt(2)) for x in hidden]))  # GELU
    return float(hidden @ learnt["odds_out"] + learnt["odds_out_bias"])


_joint = Joint()


def read_beside(text: str, span: Span, topic: TopicSpec) -> float:
    """Return the log odds that a part of a text (start, end) tells something of `topic`.

    Against its telling nothing that this business wants to know.
    """
    return _joint.odds(text, span, topic)
