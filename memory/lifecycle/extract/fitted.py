"""What statements of many trades teach about where a clause belongs, or that it belongs nowhere.

Messages and the examples and descriptions of topics are read by an encoder that was fitted to
statements of many trades (`memory.llm.fitted`), a clause with what stands around it. Topics then
compete with each other and with "none of them". It knows no topic by name. `manage.py fit_encoder`
makes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory.types import TopicSpec

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
# Vectors of the parts of a text, (start, end) each, read with what stands around them.
Read = Callable[[str, Sequence[tuple[int, int]]], Floats]

COEFFICIENTS = Path(__file__).with_name("fitted.npz")
EXAMPLES, COUNTER = 6, 3  # of a topic, at most
IN_VIEW = 120  # characters of what we said last that a clause is read after
_BETWEEN = " [SEP] "  # one token: the other side speaks


@dataclass(frozen=True)
class Encoded:
    """A topic as the encoder reads it, a row a text."""

    examples: Floats
    name: Floats
    counter: Floats


@dataclass(frozen=True)
class Fitted:
    """Coefficients of a conditional logit over the topics of a business and "none of them"."""

    aim: Floats  # (384, 384), of a clause's vector before it is compared
    weights: Array  # of examples, description, counter-example
    bias: float
    sharp: float  # how much more the nearest example counts than the others
    none: Floats
    none_bias: float
    told: float  # score of "none" where it is known that something is told

    def chances(self, topics: Sequence[Encoded], clause: Floats, *, told: bool) -> Array:
        """Return the chance of each topic."""
        aimed = _unit(self.aim @ clause)
        near = np.array([self._near(topic, clause, aimed) for topic in topics])
        scores = near @ self.weights + self.bias
        none = self.told if told else float(clause @ self.none) + self.none_bias
        odds = np.exp(np.append(scores, none) - max(scores.max(), none))
        return np.asarray(odds[:-1] / odds.sum(), dtype=float)

    def _near(self, topic: Encoded, clause: Floats, aimed: Floats) -> list[float]:
        near = topic.examples @ aimed
        weight = np.exp(self.sharp * (near - near.max()))
        against = float((topic.counter @ clause).max()) if len(topic.counter) else 0.0
        return [float(weight @ near / weight.sum()), float(topic.name @ aimed), against]


def after(said: str, text: str) -> tuple[str, int]:
    """Put the end of what we said last before a customer's words; and where these begin.

    "aisle" is read after "Where would you like to sit?" as it was said.
    """
    told = " ".join(said.split())
    if not told:
        return text, 0
    if len(told) > IN_VIEW:
        told = told[-IN_VIEW:].partition(" ")[2]
    return f"{told}{_BETWEEN}{text}", len(told) + len(_BETWEEN)


def encoded(topics: tuple[TopicSpec, ...], read: Read) -> tuple[Encoded, ...]:
    return tuple(_encoded(t, read) for t in topics)


def _encoded(topic: TopicSpec, read: Read) -> Encoded:
    name = read_whole(f"{topic.label}. {topic.description}", read)
    examples = [read_whole(e, read) for e in topic.examples[:EXAMPLES]]
    counter = [read_whole(e, read) for e in topic.not_examples[:COUNTER]]
    return Encoded(np.array(examples or [name]), name, np.array(counter))


def read_whole(text: str, read: Read) -> Floats:
    return np.asarray(read(text, [(0, len(text))])[0])


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), dtype=np.float32)


@cache
def shipped() -> Fitted:
    with np.load(COEFFICIENTS) as held:
        return Fitted(
            aim=held["aim"].astype(np.float32),
            weights=held["weights"].astype(float),
            bias=float(held["bias"]),
            sharp=float(held["sharp"]),
            none=held["none"].astype(np.float32),
            none_bias=float(held["none_bias"]),
            told=float(held["told"]),
        )
