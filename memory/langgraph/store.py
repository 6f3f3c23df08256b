"""`MemoryStore`: what LangGraph's graphs call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from channels.db import database_sync_to_async
from django.db import transaction
from django.utils import timezone
from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    validate_op_namespace,
)

from memory.langgraph import items, namespaces
from memory.langgraph.customers import CustomerView, is_customers
from memory.langgraph.items import Embedded
from memory.llm import embeddings
from memory.models import EMBEDDING_WIDTH


class OwnEmbeddings(Embeddings):
    """The embedder that Rapport itself uses."""

    def __init__(self) -> None:
        self.model = embeddings.embedder().model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector.tolist() for vector in embeddings.embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(x) for x in embeddings.embed_one(text)]


def own_index(*, fields: list[str] | None = None) -> IndexConfig:
    return {"dims": EMBEDDING_WIDTH, "embed": OwnEmbeddings(), "fields": fields}


class MemoryStore(BaseStore):
    """A `BaseStore` whose items outlive the process.

    `index`: as everywhere in LangGraph, without it a query is ignored; `own_index()` needs no
    network. `customer_id`: what is under ("customers", id) is then a view of that customer's
    memories: search and get read what may be used now, put proposes to staff, delete forgets.
    Without it, and for every other customer, these namespaces refuse. `verified`: the business
    knows
    that it is her; otherwise sensitive facts stay out.
    """

    supports_ttl = True

    def __init__(
        self,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        customer_id: int | None = None,
        verified: bool = False,
        agent: str = "agent",
        clock: Callable[[], datetime] = timezone.now,
    ) -> None:
        self.index_config = index
        self.embeddings = ensure_embeddings(index["embed"]) if index else None
        self._model = getattr(self.embeddings, "model", "") or "custom"
        # Other stores let a mere look prolong an item's life; here it must be asked for.
        self.ttl_config = {"refresh_on_read": False, **(ttl or {})}
        self._customers = CustomerView(customer_id, verified=verified, agent=agent)
        self._clock = clock

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all or none. Reads see the store as it was before the batch."""
        ops = list(ops)
        for op in ops:
            validate_op_namespace(op)
        puts = [op for op in ops if isinstance(op, PutOp)]
        vectors, queries = self._embed_texts(puts), self._embed_queries(ops)
        now = self._clock()
        with transaction.atomic():
            results = [self._read(op, queries, now) for op in ops]
            own = [(op, v) for op, v in zip(puts, vectors, strict=True) if not _of_customer(op)]
            items.put([op for op, _ in own], [v for _, v in own], now=now)
            for op in filter(_of_customer, puts):
                self._customers.put(op, now=now)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await database_sync_to_async(self.batch, thread_sensitive=False)(ops)

    def sweep_ttl(self) -> int:
        """Delete what has expired; reads leave it out anyway."""
        return items.sweep(now=self._clock())

    def _read(self, op: Op, queries: dict[str, Embedded], now: datetime) -> Result:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            if is_customers(op.namespace):
                return self._customers.get(op, now=now)
            row = items.get(op.namespace, op.key, now=now, refresh_ttl=op.refresh_ttl)
            return items.item(row) if row else None
        if isinstance(op, SearchOp):
            if is_customers(op.namespace_prefix):
                return self._customers.search(op, now=now)
            return items.search(op, queries.get(op.query or ""), now=now)
        if isinstance(op, ListNamespacesOp):
            found = [*items.list_namespaces(op, now=now), *self._customers.namespaces(op, now=now)]
            return namespaces.page(found, max_depth=op.max_depth, limit=op.limit, offset=op.offset)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _embed_queries(self, ops: Sequence[Op]) -> dict[str, Embedded]:
        if self.embeddings is None:
            return {}
        texts = {op.query for op in ops if isinstance(op, SearchOp) and op.query}
        return {text: self._embedded(text, self.embeddings.embed_query(text)) for text in texts}

    def _embed_texts(self, puts: Sequence[PutOp]) -> list[Embedded | None]:
        """Return one vector an item: its fields are read as one text."""
        texts = ["" if _of_customer(op) else self._text(op) for op in puts]
        wanted = [text for text in texts if text]
        if self.embeddings is None or not wanted:
            return [None] * len(puts)
        vectors = iter(self.embeddings.embed_documents(wanted))
        return [self._embedded(text, next(vectors)) if text else None for text in texts]

    def _text(self, op: PutOp) -> str:
        if op.value is None or op.index is False or self.index_config is None:
            return ""
        fields = op.index if op.index is not None else self.index_config.get("fields") or ["$"]
        return "\n".join(text for path in fields for text in get_text_at_path(op.value, path))

    def _embedded(self, text: str, numbers: Sequence[float]) -> Embedded:
        vector = np.zeros(EMBEDDING_WIDTH, dtype=np.float32)
        if len(numbers) > EMBEDDING_WIDTH:
            raise ValueError(
                f"At most {EMBEDDING_WIDTH} dimensions are stored, got {len(numbers)}."
            )
        vector[: len(numbers)] = numbers
        return Embedded(self._model, vector, text)


def _of_customer(op: Any) -> bool:
    return is_customers(op.namespace)
