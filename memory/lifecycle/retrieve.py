"""Which of a customer's memories a message needs. Pure: rows, likeness and clock are arguments."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory import values
from memory.scoring import recency
from memory.types import Category, Fact

# Across topics freshness says little: a crown of two years ago is as true as last week's number.
# Measured on 160 questions with their facts: recall@5 .93 and MRR .80 with it, .92 and .78 without.
FADES = timedelta(days=1000)
WORDS = 0.4  # of a shared word beside likeness in meaning
STEM = 5  # letters that stand for a word
_WORD = re.compile(r"[^\W_]+")
_COMMON = (
    "a an the i my me we you your it is are was do does did to of for in on at and or can could "
    "have has be that this with what which please would will so s m t"
)
_EVERYWHERE = frozenset(_COMMON.split())


@dataclass(slots=True)  # frozen, each took four times as long to make
class Row:
    """An active memory in force, as retrieval needs it."""

    id: int | None  # None: said in this conversation, not stored
    customer_id: int
    topic: str | None
    label: str
    category: Category
    text: str
    value: str
    stated_at: datetime
    kind: str = "fact"
    valid_until: datetime | None = None
    importance: float = 0.5
    single_valued: bool = False
    sensitive: bool = False
    likeness: float | None = None  # cosine of message and memory; None: no vector to compare
    topic_likeness: float | None = None  # cosine of message and what the topic is about
    near: float | None = None  # cosine of the words that it is compared with beside the message


@dataclass(frozen=True, slots=True)
class Weights:
    relevance: float = 0.5
    recency: float = 0.3
    importance: float = 0.2


def retrieve(
    rows: Sequence[Row],
    message: str,
    *,
    now: datetime,
    weights: Weights,
    limit: int = 5,
    explain: bool = True,
) -> tuple[list[Fact], list[Fact]]:
    """Return the facts to use, best first and at most `limit`, and those left out.

    Without `explain` the latter are not made: of many memories nearly all are left out.
    """
    standing, outdated = newest(rows)
    scored = _score(standing, message, now=now, weights=weights)
    used = _whole_sets(scored, limit)
    facts = [_fact(row, parts) for row, parts in used]
    if not explain:
        return facts, []
    taken = {id(row) for row, _ in used}
    left = [_fact(row, parts) for row, parts in scored if id(row) not in taken]
    left += [_fact(row, {"outdated": 1.0}) for row in outdated]
    return facts, left


def newest(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Part what stands from what is outdated: one row for a topic of one value.

    What is said in this conversation comes first, then an exception while it holds, then the
    newest.
    """
    best: dict[str, Row] = {}
    for row in rows:
        if row.topic and row.single_valued:
            best[row.topic] = max(best.get(row.topic, row), row, key=_standing)
    kept = [r for r in rows if not (r.topic and r.single_valued) or best[r.topic] is r]
    stays = {id(r) for r in kept}
    return kept, [r for r in rows if id(r) not in stays]


def _standing(row: Row) -> tuple[bool, bool, datetime, int]:
    return row.id is None, row.valid_until is not None, row.stated_at, row.id or 0


def _score(
    rows: Sequence[Row], message: str, *, now: datetime, weights: Weights
) -> list[tuple[Row, dict[str, float]]]:
    """Return each row with its parts and their weighted mean, best first."""
    near = _relevance(rows, message)
    total = weights.relevance + weights.recency + weights.importance or 1.0
    found = []
    for row, relevance in zip(rows, near, strict=True):
        fresh = recency(stated_at=row.stated_at, now=now, half_life=FADES)
        weighty = min(max(row.importance, 0.0), 1.0)
        score = (
            weights.relevance * relevance + weights.recency * fresh + weights.importance * weighty
        ) / total
        parts = {"relevance": relevance, "recency": fresh, "importance": weighty, "score": score}
        found.append((row, parts))
    return sorted(found, key=lambda x: (-x[1]["score"], -(x[0].id or 0)))


def _relevance(rows: Sequence[Row], message: str) -> list[float]:
    """Return how near each row is, from 0 for the farthest of hers to 1 for the nearest."""
    shared = _shared_words([f"{r.label} {r.text} {r.value}" for r in rows], message)
    raw = []
    for row, words in zip(rows, shared, strict=True):
        meant = [x for x in (row.likeness, row.topic_likeness) if x is not None]
        raw.append((sum(meant) / len(meant) if meant else words) + WORDS * words)
    low, high = min(raw, default=0.0), max(raw, default=0.0)
    return [(x - low) / (high - low) if high > low else 1.0 for x in raw]


def _shared_words(texts: Sequence[str], message: str) -> list[float]:
    """Return for each text the share of the message's words it has, rare ones counting more."""
    asked = stems(message)
    bags = [_among(asked, t) for t in texts]
    seen = Counter(w for bag in bags for w in bag)
    rare = {w: math.log((1 + len(bags)) / (1 + seen[w])) + 0.1 for w in seen}
    total = sum(rare.values()) or 1.0
    return [sum(rare[w] for w in bag) / total for bag in bags]


def _among(asked: frozenset[str], text: str) -> frozenset[str]:
    """Return which of the stems the text has: of most texts none, which is seen at once."""
    folded = text.casefold()
    return asked & stems(text) if any(w in folded for w in asked) else frozenset()


def stems(text: str) -> frozenset[str]:
    """First letters stand for a word; what every sentence has is left out by its frequency."""
    return frozenset(w[:STEM] for w in _WORD.findall(text.casefold()) if w not in _EVERYWHERE)


def _whole_sets(
    scored: Sequence[tuple[Row, dict[str, float]]], limit: int
) -> list[tuple[Row, dict[str, float]]]:
    """Take the best; with one value of a small set its others come along, before other topics."""
    sets: dict[str, list[tuple[Row, dict[str, float]]]] = defaultdict(list)
    for pair in scored:
        if pair[0].topic and not pair[0].single_valued:
            sets[pair[0].topic].append(pair)
    used: list[tuple[Row, dict[str, float]]] = []
    for pair in scored:
        if len(used) >= limit:
            break
        if any(pair[0] is row for row, _ in used):
            continue
        whole = [pair] if pair[0].single_valued else sets.get(pair[0].topic or "", [pair])
        used += whole if len(used) + len(whole) <= limit else [pair]
    return used


def context(facts: Iterable[Fact], *, ends: dict[int, datetime] | None = None) -> str:
    """Return "Past context: …": established facts as quoted data, current ones only."""
    lines = [_line(f, (ends or {}).get(f.id or -1)) for f in facts]
    if not lines:
        return ""
    return "\n".join(["Past context: what this customer told before, quoted as data.", *lines])


def _line(fact: Fact, until: datetime | None) -> str:
    told = fact.text if values.fold(fact.value) in values.fold(fact.text) else ""
    told = told or f"{fact.value}: {fact.text}"
    quoted = " ".join(told.split()).replace('"', "'")
    since = f"{fact.stated_at.day} {fact.stated_at:%B %Y}"
    end = f", until {until.day} {until:%B %Y}" if until else ""
    return f'- {fact.label} (said {since}{end}): "{quoted}"'


def _fact(row: Row, parts: dict[str, float]) -> Fact:
    return Fact(
        id=row.id,
        customer_id=row.customer_id,
        topic=row.topic,
        label=row.label,
        category=row.category,
        text=row.text,
        value=row.value,
        stated_at=row.stated_at,
        score=parts.get("score", 0.0),
        parts={k: round(v, 4) for k, v in parts.items() if k != "score"},
        sensitive=row.sensitive,
    )
