"""Our own examples as the training of placement reads them: messages, and the clauses of them."""
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory.speech import clauses
from memory.types import Category, TopicSpec

Row = dict[str, Any]
Specs = dict[str, tuple[TopicSpec, ...]]


@dataclass(frozen=True)
class Item:
    """A message or clause: the topics that it states, and those that its message states elsewhere."""

    trade: str
    text: str
    keys: frozenset[str]
    nearby: frozenset[str] = frozenset()


def specs_of(rows: Iterable[Row]) -> Specs:
    found: dict[str, dict[str, TopicSpec]] = {}
    for t in rows:
        spec = TopicSpec(
            t["key"], Category(t["category"]), t["cardinality"] == "one", t["label"],
            t["description"], tuple(t["examples"]), tuple(t.get("not_examples", ())),
        )  # fmt: skip
        found.setdefault(t["trade"], {}).setdefault(t["key"], spec)
    return {trade: tuple(held.values()) for trade, held in found.items()}


def items_of(messages: Sequence[Row], specs: Specs) -> list[Item]:
    found: list[Item] = []
    for m in messages:
        keys = frozenset(m.get("topics", ()) if m["save"] else ())
        if m.get("before") or (m["save"] and not keys) or m["trade"] not in specs:
            continue
        found.append(Item(m["trade"], m["text"], keys))
        if keys and len(m.get("values", ())) == len(keys):
            found += _clauses(m, keys)
    return found


def _clauses(m: Row, keys: frozenset[str]) -> list[Item]:
    """Each clause with the topics whose value it holds."""
    cut = clauses.split(m["text"])
    if len(cut) < 2:
        return []
    at = [(k, m["text"].find(v), len(v)) for k, v in zip(m["topics"], m["values"], strict=True)]
    found = []
    for c in cut:
        mine = frozenset(k for k, a, n in at if a < c.end and a + n > c.start)
        found.append(Item(m["trade"], c.text, mine, frozenset() if mine else keys))
    return found
