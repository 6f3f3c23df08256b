"""`retrieval`: the right memories for a message; the ranking alone, without the gate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memory import services
from memory.models import Memory, Topic
from memory.types import Category, Status

from . import form
from .memory import check_topic, make_topic

ENGINE = "offline"
USED = 5
Say = Callable[[str], object]


@dataclass(slots=True)
class Data:
    topics: list[dict[str, Any]] = field(default_factory=list)
    memories: list[dict[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)


def read(path: Path) -> Data:
    data, header = Data(), False
    for line, row in form.json_lines(path):
        if not header:
            header = True
            data.topics = row.get("topics") or []
            for topic in data.topics:
                check_topic(topic, line)
        elif "memory" in row:
            _check_memory(form.need(row, "memory", dict, line), data.topics, line)
            data.memories.append(row["memory"])
        else:
            query = form.need(row, "query", dict, line)
            for key in ("id", "customer", "text"):
                form.need(query, key, str, line)
            form.need_time(query, "at", line)
            form.need_strings(query, "expected", line)
            form.need_strings(query, "never", line, optional=True)
            data.queries.append(query)
    if not header:
        raise form.FormError(1, "has no header")
    return data


def _check_memory(row: dict[str, Any], topics: list[dict[str, Any]], line: int) -> None:
    for key in ("id", "customer", "text"):
        form.need(row, key, str, line)
    form.need_time(row, "at", line)
    form.need_one_of(row, "status", tuple(s.value for s in Status), line)
    if row.get("valid_until") is not None:
        form.need_time(row, "valid_until", line)
    topic = row.get("topic")
    if topic is not None and topic not in {t["key"] for t in topics}:
        raise form.FormError(line, f"topic {topic!r} is not in the header")


def run(data: Data, say: Say) -> dict[str, Any]:
    for topic in data.topics:
        make_topic(topic)
    ids, customers = _store(data)
    outcomes = []
    for number, query in enumerate(data.queries, 1):
        outcomes.append(_ask(query, ids, customers))
        if number % 100 == 0:
            say(f"{number} of {len(data.queries)} queries")
    return {"engine": ENGINE, **figures(data.queries, outcomes), "outcomes": outcomes}


def _store(data: Data) -> tuple[dict[int, str], dict[str, int]]:
    """Put the rows there as they are: how they came to be is another suite's matter."""
    start = min((datetime.fromisoformat(m["at"]) for m in data.memories), default=None)
    names = {r["customer"] for r in (*data.memories, *data.queries)}
    customers = {
        name: services.new_customer(
            kind="identified",
            external_id=name,
            now=start or datetime.fromisoformat(data.queries[0]["at"]),
        ).pk
        for name in sorted(names)
    }
    topics = {t.key: t for t in Topic.objects.all()}
    rows = [
        _row(m, customers[m["customer"]], topics.get(m.get("topic") or "")) for m in data.memories
    ]
    made = Memory.objects.bulk_create(rows, batch_size=500)
    for customer_id in customers.values():
        while services.embed_memories(customer_id):
            pass
    return {m.pk: row["id"] for m, row in zip(made, data.memories, strict=True)}, customers


def _row(m: dict[str, Any], customer_id: int, topic: Topic | None) -> Memory:
    at = datetime.fromisoformat(m["at"])
    active = m["status"] == Status.ACTIVE
    until = m.get("valid_until")
    return Memory(
        customer_id=customer_id,
        topic=topic,
        category=topic.category if topic else Category.CONFIRMED_FACT,
        status=m["status"],
        single_valued=topic is not None and topic.cardinality == Topic.Cardinality.ONE,
        permanent=topic is not None and topic.permanent,
        sensitive=topic is not None and topic.sensitive,
        text=m["text"],
        value=m["text"],
        stated_at=at,
        recorded_at=at,
        confirmed_at=at,
        ended_at=None if active else at,
        valid_until=datetime.fromisoformat(until) if until else None,
        importance=m.get("importance", 0.5),
    )


def _ask(query: dict[str, Any], ids: dict[int, str], customers: dict[str, int]) -> dict[str, Any]:
    at = datetime.fromisoformat(query["at"])
    customer_id = customers[query["customer"]]
    services.recall(customer_id, query["text"], now=at, gate=False)  # embeds the message
    before = time.process_time()
    recalled = services.recall(customer_id, query["text"], now=at, gate=False)
    spent = (time.process_time() - before) * 1000
    names = {pk: name for name, pk in customers.items()}
    used = [f for f in recalled.facts if f.id is not None][:USED]
    return {
        "id": query["id"],
        "ids": [ids[f.id] for f in used if f.id is not None],
        "customers": [names[f.customer_id] for f in used],
        "cpu_ms": round(spent, 3),
    }


def figures(queries: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    recall = mrr = 0.0
    never = leaks = 0
    for q, o in zip(queries, outcomes, strict=True):
        ids, expected = o["ids"][:USED], set(q["expected"])
        if expected:
            recall += len(expected & set(ids)) / len(expected)
            mrr += next((1 / i for i, x in enumerate(ids, 1) if x in expected), 0.0)
        never += bool(set(q.get("never") or []) & set(ids))
        leaks += any(c != q["customer"] for c in o["customers"])
    n = sum(bool(q["expected"]) for q in queries)
    return {
        "queries": len(queries),
        "recall_at_5": recall / n if n else 1.0,
        "mrr": mrr / n if n else 1.0,
        "never_hits": never,
        "leaks": leaks,
        **form.cpu([o["cpu_ms"] for o in outcomes]),
    }
