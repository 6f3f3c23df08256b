"""Search among 100,000 items of one namespace of the LangGraph store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.db import connection

from memory.langgraph import MemoryStore, own_index
from memory.models import StoreItem
from tests.bench import figures, fill

NAMESPACE = ("agents", "bench", "notes")
ITEMS = 100_000
BAR = 20.0  # ms of CPU, p95, without the embedding


def measure(*, now: datetime, calls: int = 300) -> bool:
    _load(now)
    store = MemoryStore(index=own_index(), clock=lambda: now)
    words = fill.texts()
    searches: dict[str, Callable[[int], object]] = {
        "by likeness": lambda n: store.search(NAMESPACE, query=words[n % 40]),
        "by likeness, 1 of 50 by a filter": lambda n: store.search(
            NAMESPACE, query=words[n % 40], filter={"kind": n % 50}
        ),
        "by a filter": lambda n: store.search(NAMESPACE, filter={"kind": n % 50}),
        "in order of arrival": lambda n: store.search(NAMESPACE, limit=10, offset=n % 100),
    }
    kept = [_search(name, search, calls) for name, search in searches.items()]
    return all(kept)


def _search(name: str, search: Callable[[int], object], calls: int) -> bool:
    for n in range(40):
        search(n)  # warm: the queries' vectors are in the cache then
    timed = figures.Timed()
    for n in range(calls):
        timed(lambda n=n: search(n))  # type: ignore[misc]
    backend = timed.backend_ms()
    # One process asks, another one searches: both count.
    ok = figures.line(f"store, {name}: CPU", [cpu + backend for cpu in timed.cpu], bar=BAR)
    figures.line(f"store, {name}: wall", timed.wall)
    return ok


def _load(now: datetime) -> None:
    with connection.cursor() as cursor:
        # As any bulk load would: the vector index afterwards, at once.
        cursor.execute("drop index if exists storeitem_embedding")
        with figures.seconds(f"load {ITEMS:,} store items"):
            fill.items(ITEMS, namespace=list(NAMESPACE), now=now)
        with figures.seconds("build their vector index"):
            cursor.execute("set maintenance_work_mem = '1GB'")
            index = next(i for i in StoreItem._meta.indexes if i.name == "storeitem_embedding")
            with connection.schema_editor() as editor:
                editor.add_index(StoreItem, index)
        cursor.execute("analyze memory_storeitem")
