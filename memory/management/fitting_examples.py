"""Our own examples as the fitting of the encoder reads them: messages, and the clauses of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memory.lifecycle.extract import fitted
from memory.lifecycle.extract.understanding import bare
from memory.speech import clauses

from .placement_examples import Row, Specs

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


@dataclass(frozen=True)
class Part:
    """A clause, or a whole message: the topics it states, and those that are stated beside it."""

    start: int
    end: int
    keys: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Example:
    """`before`: what the bot or staff had said last."""

    trade: str
    text: str
    parts: tuple[Part, ...]
    before: str = ""

    def in_view(self) -> Example:
        """As the extraction reads it: after what was said before."""
        text, at = fitted.after(self.before, self.text)
        parts = tuple(replace(p, start=p.start + at, end=p.end + at) for p in self.parts)
        return Example(self.trade, text, parts)


def examples_of(messages: Sequence[Row], specs: Specs) -> list[Example]:
    found = []
    for m in messages:
        keys = frozenset(m.get("topics", ()) if m["save"] else ())
        if (m["save"] and not keys) or m["trade"] not in specs:
            continue
        if example := _example(m, keys):
            found.append(replace(example, before=m["before"][-1] if m.get("before") else ""))
    return found


def _example(m: Row, keys: frozenset[str]) -> Example | None:
    """A message as the extraction reads it; each clause with the topics whose value it holds."""
    cut = clauses.split(m["text"])
    if not cut:
        return None
    text, places = clauses.joined(cut, [bare(c.text, WHEN, "UTC") for c in cut])
    whole = Part(0, len(text), keys)
    if len(cut) == 1:
        return Example(m["trade"], text, (whole,))
    values = m.get("values", ())
    if keys and len(values) != len(m["topics"]):
        return Example(m["trade"], text, (whole,))
    at = [(k, m["text"].find(v), len(v)) for k, v in zip(m.get("topics", ()), values, strict=False)]
    parts = [whole]
    for c, (start, end) in zip(cut, places, strict=True):
        mine = frozenset(k for k, a, n in at if a < c.end and a + n > c.start)
        parts.append(Part(start, end, mine, frozenset() if mine else keys))
    return Example(m["trade"], text, tuple(parts))
