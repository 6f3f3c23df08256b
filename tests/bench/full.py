"""A million memories over 10,000 customers, and 100,000 items of an agent; within ten minutes."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.utils import timezone

from tests.bench import desk, figures, fill, recalls, store

CUSTOMERS = 10_000
# Most have few memories and some have many: a million in all.
SIZES = ((50, 9_000), (400, 900), (1_900, 100))


def measure(*, only: Sequence[str] = ()) -> bool:
    now = timezone.now()
    kept = []
    if not only or "memories" in only:
        kept += _memories(now)
    if not only or "store" in only:
        kept.append(store.measure(now=now))
    if not only or "desk" in only:
        kept.append(desk.measure(now=now))
    return all(kept)


def _memories(now: object) -> list[bool]:
    with figures.seconds(f"make {CUSTOMERS:,} customers"):
        ids = fill.customers(CUSTOMERS, now=now)  # type: ignore[arg-type]
    groups, rest = {}, ids
    for size, count in SIZES:
        groups[size], rest = rest[:count], rest[count:]
    sizes = {pk: size for size, pks in groups.items() for pk in pks}
    with figures.seconds(f"load {sum(sizes.values()):,} memories, with all indexes"):
        rate = fill.memories(sizes, now=now)  # type: ignore[arg-type]
    print(f"{'rows a second':44} {rate:,.0f}")
    _bytes(sum(sizes.values()))
    return [
        recalls.measure(f"recall, {size:,} memories", pks, now=now, calls=400)  # type: ignore[arg-type]
        for size, pks in groups.items()
    ]


def _bytes(rows: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select pg_table_size('memory_memory'), pg_indexes_size('memory_memory')")
        table, indexes = cursor.fetchone()
    print(f"{'bytes a row':44} {table / rows:,.0f} table, {indexes / rows:,.0f} indexes")
