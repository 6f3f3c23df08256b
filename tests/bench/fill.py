"""Many memories, written as a bulk load does it: binary COPY, all indexes in place."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import numpy as np
from django.db import connection
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from memory.llm import embeddings
from memory.models import Customer, Memory, StoreItem, Topic

RANDOM = random.Random(7)
SUBJECTS = ("appointments", "invoices", "parcels", "the newsletter", "reports", "deliveries")
WISHES = ("in the morning", "after work", "by e-mail", "on Tuesdays", "every month", "at home")
KINDS = ("prefers", "asked for", "never wants", "was promised", "once had", "is used to")
EXTRAS = ("", "since the move", "because of the children", "for the second flat", "at short notice")


def texts() -> list[str]:
    return [
        f"{kind.capitalize()} {subject} {wish} {extra}".strip() + "."
        for kind, subject, wish, extra in product(KINDS, SUBJECTS, WISHES, EXTRAS)
    ]


def customers(count: int, *, now: datetime, of: str = "bench") -> list[int]:
    """`of`: each part has customers of its own."""
    rows = Customer.objects.bulk_create(
        (
            Customer(kind="identified", name=f"Bench {n}", external_id=f"{of}:{n}", created_at=now)
            for n in range(count)
        ),
        batch_size=2000,
    )
    return [row.pk for row in rows]


def topics(count: int = 12) -> list[Topic]:
    return [
        Topic.objects.get_or_create(
            key=f"bench_{n}",
            defaults={
                "label": f"Bench {SUBJECTS[n % 6]} {n}",
                "category": "preference",
                "cardinality": "many",
            },
        )[0]
        for n in range(count)
    ]


def memories(sizes: dict[int, int], *, now: datetime) -> float:
    """Write `sizes[customer]` memories for each; return rows a second."""
    words, subjects = texts(), topics()
    vectors = [HalfVector(v) for v in embeddings.embed(words)]
    began = time.monotonic()
    rows = _copy(
        Memory,
        (
            _memory(customer, n, words, vectors, subjects, now)
            for customer, size in sizes.items()
            for n in range(size)
        ),
    )
    return rows / (time.monotonic() - began)


def _memory(
    customer: int,
    n: int,
    words: list[str],
    vectors: list[Any],
    subjects: list[Topic],
    now: datetime,
) -> dict[str, Any]:
    i = RANDOM.randrange(len(words))
    said = now - timedelta(days=RANDOM.randrange(1, 700))
    return {
        "customer_id": customer,
        "topic_id": subjects[n % len(subjects)].pk,
        "category": "preference",
        "status": "active" if n % 5 else "superseded",
        "text": words[i],
        "value": words[i].split()[-1],
        "quote": f"I {words[i].lower()}",
        "stated_at": said,
        "recorded_at": said,
        "confirmed_at": said,
        "embedding": vectors[i],
        "embedding_model": embeddings.embedder().model,
    }


def items(count: int, *, namespace: list[str], now: datetime) -> float:
    """Write agents' items into one namespace; return rows a second, the vector index included."""
    words = texts()
    base = np.stack(embeddings.embed(words))
    noise = np.random.default_rng(7)
    began = time.monotonic()
    rows = _copy(
        StoreItem,
        (
            {
                "namespace": namespace,
                "key": f"k{n}",
                "value": {"text": words[n % len(words)], "kind": n % 50, "n": n},
                "embedding": _near(base[n % len(words)], noise),
                "embedding_model": embeddings.embedder().model,
                "created_at": now,
                "updated_at": now,
            }
            for n in range(count)
        ),
    )
    return rows / (time.monotonic() - began)


def _near(vector: Any, noise: np.random.Generator) -> HalfVector:
    moved = vector[:384] + noise.normal(0, 0.02, 384)
    whole = np.zeros(512, dtype=np.float32)
    whole[:384] = moved / np.linalg.norm(moved)
    return HalfVector(whole)


def _copy(model: type[Memory] | type[StoreItem], rows: Iterator[dict[str, Any]]) -> int:
    fields = [f for f in model._meta.concrete_fields if not f.primary_key]
    names, attributes = [str(f.column) for f in fields], [str(f.attname) for f in fields]
    types = [_type(f) for f in fields]
    defaults = {f.attname: f.get_default() for f in fields}
    jsons = {f.attname for f in fields if f.get_internal_type() == "JSONField"}
    count = 0
    connection.ensure_connection()
    raw = connection.connection
    register_vector(raw)
    table = model._meta.db_table
    with raw.cursor() as cursor:
        with cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows:
                whole = {**defaults, **row}
                copy.write_row([Jsonb(whole[f]) if f in jsons else whole[f] for f in attributes])
                count += 1
        cursor.execute(f"ANALYZE {table}")
    return count


def _type(field: Any) -> str:
    return re.sub(r"\(\d+\)", "", field.db_type(connection))
