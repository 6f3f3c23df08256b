"""Agents' own state: rows of `StoreItem`, found by namespace, filter and likeness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import BooleanField, FloatField, Q, QuerySet
from django.db.models.expressions import CombinedExpression, RawSQL, Value
from langgraph.store.base import Item, ListNamespacesOp, PutOp, SearchItem, SearchOp
from pgvector.django import CosineDistance

from memory.langgraph import filters, namespaces
from memory.langgraph.namespaces import Namespace
from memory.models import StoreItem
from memory.types import Vector

EXACT_UP_TO = (
    5_000  # rows in scope: below it comparing all is quicker than the index, and never misses
)
HNSW_EF_SEARCH = 100  # candidates the index looks at; more finds more and costs more


@dataclass(frozen=True, slots=True)
class Embedded:
    model: str
    vector: Vector
    text: str


def get(
    namespace: Namespace, key: str, *, now: datetime, refresh_ttl: bool = False
) -> StoreItem | None:
    row = _alive(now).filter(namespace=list(namespace), key=key).first()
    if row and refresh_ttl:
        refresh([row], now=now)
    return row


def put(ops: Sequence[PutOp], vectors: Sequence[Embedded | None], *, now: datetime) -> None:
    """Write and delete; of two for the same key the later one counts."""
    latest = {(op.namespace, op.key): (op, v) for op, v in zip(ops, vectors, strict=True)}
    # What has expired is gone: put again, it begins anew.
    for namespace in {op.namespace for op in ops}:
        StoreItem.objects.filter(namespace=list(namespace), expires_at__lte=now).delete()
    for (namespace, key), (op, _) in latest.items():
        if op.value is None:
            StoreItem.objects.filter(namespace=list(namespace), key=key).delete()
    StoreItem.objects.bulk_create(
        [_row(op, vector, now) for op, vector in latest.values() if op.value is not None],
        update_conflicts=True,
        unique_fields=["namespace", "key"],
        update_fields=[
            "value",
            "embedding",
            "embedding_model",
            "embedded_text",
            "ttl_minutes",
            "expires_at",
            "updated_at",
        ],
    )


def _row(op: PutOp, embedded: Embedded | None, now: datetime) -> StoreItem:
    return StoreItem(
        namespace=list(op.namespace),
        key=op.key,
        value=dict(op.value or {}),
        embedding=embedded and embedded.vector,
        embedding_model=embedded.model if embedded else "",
        embedded_text=embedded.text if embedded else "",
        ttl_minutes=op.ttl,
        expires_at=now + timedelta(minutes=op.ttl) if op.ttl is not None else None,
        created_at=now,
        updated_at=now,
    )


def search(op: SearchOp, query: Embedded | None, *, now: datetime) -> list[SearchItem]:
    """Return one page: by likeness if there is a query, those without a vector last; else in order
    of arrival."""
    scope = _scope(op, now)
    if query is None:
        rows = list(scope.order_by("namespace", "pk")[op.offset : op.offset + op.limit])
    else:
        rows = _nearest(scope, query, op.offset + op.limit)[op.offset :]
    if op.refresh_ttl:
        refresh(rows, now=now)
    return [search_item(row, score=getattr(row, "score", None)) for row in rows]


def _scope(op: SearchOp, now: datetime) -> QuerySet[StoreItem]:
    rows = _alive(now)
    prefix = list(op.namespace_prefix)
    if prefix:
        rows = rows.filter(
            namespace__gte=prefix,
            namespace__lt=namespaces.after_all_within(prefix),
            **{f"namespace__0_{len(prefix)}": prefix},
        )
    for sql, params in filters.conditions(op.filter or {}):
        # Only constant text is put together there; all that was given is a parameter.
        rows = rows.filter(RawSQL(sql, params, output_field=BooleanField()))  # noqa: S611
    return rows


def _nearest(scope: QuerySet[StoreItem], query: Embedded, count: int) -> list[StoreItem]:
    of_model = scope.filter(embedding_model=query.model, embedding__isnull=False)
    distance = CosineDistance("embedding", query.vector)
    rows: list[StoreItem] = []
    if scope[: EXACT_UP_TO + 1].count() > EXACT_UP_TO:
        rows = _by_index(of_model, distance, count)
    if len(rows) < count:
        # "+ 0" keeps the planner off the index, which returns too few rows where a filter cuts most
        # away.
        exact = CombinedExpression(distance, "+", Value(0.0), output_field=FloatField())
        rows = list(of_model.annotate(distance=exact).order_by("distance", "pk")[:count])
    for row in rows:
        row.score = 1.0 - row.distance  # type: ignore[attr-defined]
    if len(rows) < count:
        scored = [row.pk for row in rows]
        others = scope.exclude(pk__in=scored).order_by("namespace", "pk")
        rows += others[: count - len(rows)]
    return rows


def _by_index(rows: QuerySet[StoreItem], distance: CosineDistance, count: int) -> list[StoreItem]:
    with transaction.atomic(), connection.cursor() as cursor:
        # Goes on looking when the filter cuts off what the index found first.
        cursor.execute("set local hnsw.iterative_scan = strict_order")
        cursor.execute(f"set local hnsw.ef_search = {min(1000, max(HNSW_EF_SEARCH, count))}")
        return list(rows.annotate(distance=distance).order_by(distance)[:count])


def refresh(rows: Sequence[StoreItem], *, now: datetime) -> None:
    StoreItem.objects.filter(pk__in=[row.pk for row in rows if row.ttl_minutes is not None]).update(
        expires_at=RawSQL("%s + ttl_minutes * interval '1 minute'", [now])
    )


def list_namespaces(op: ListNamespacesOp, *, now: datetime) -> Iterator[Namespace]:
    rows = _alive(now).order_by().values_list("namespace", flat=True).distinct()
    conditions = op.match_conditions or ()
    return (tuple(n) for n in rows if namespaces.matches(tuple(n), conditions))


def sweep(*, now: datetime) -> int:
    return StoreItem.objects.filter(expires_at__lte=now).delete()[0]


def _alive(now: datetime) -> QuerySet[StoreItem]:
    return StoreItem.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now))


def item(row: StoreItem) -> Item:
    return Item(**_fields(row))


def search_item(row: StoreItem, *, score: float | None) -> SearchItem:
    return SearchItem(**_fields(row), score=score)


def _fields(row: StoreItem) -> dict[str, Any]:
    return {
        "namespace": tuple(row.namespace),
        "key": row.key,
        "value": row.value,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
