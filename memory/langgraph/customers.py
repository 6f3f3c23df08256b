"""What an agent sees under ("customers", id): one customer's memories, by memory's own rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from langgraph.store.base import GetOp, Item, ListNamespacesOp, PutOp, SearchItem, SearchOp

from memory import services
from memory.langgraph import filters, namespaces
from memory.langgraph.namespaces import Namespace
from memory.types import Category, Fact

ROOT = "customers"


class NotThisCustomer(PermissionError):
    """The store was not built for the customer whose namespace was named."""


def is_customers(namespace: Namespace) -> bool:
    return namespace[:1] == (ROOT,)


class CustomerView:
    """("customers", "12", topic): the fact's own number is its key."""

    def __init__(self, customer_id: int | None, *, verified: bool, agent: str) -> None:
        self._id = customer_id
        self._verified = verified
        self._agent = agent

    def get(self, op: GetOp, *, now: datetime) -> Item | None:
        for fact in self._known(op.namespace, now):
            if op.key == str(fact.id):
                return Item(**self._fields(fact))
        return None

    def search(self, op: SearchOp, *, now: datetime) -> list[SearchItem]:
        """With a query, what recall would use for that message; without one, all that may be
        used."""
        if op.query:
            customer_id = self._check(op.namespace_prefix)
            recalled = services.recall(
                customer_id, op.query, now=now, verified=self._verified, gate=False
            )
            facts = [f for f in recalled.facts if self._in(f, op.namespace_prefix)]
        else:
            facts = list(self._known(op.namespace_prefix, now))
        found = [
            SearchItem(**self._fields(fact), score=fact.score if op.query else None)
            for fact in facts
            if fact.id is not None
        ]
        kept = [item for item in found if filters.matches(item.value, op.filter or {})]
        return kept[op.offset : op.offset + op.limit]

    def put(self, op: PutOp, *, now: datetime) -> None:
        """Propose a fact, or forget one. The number that a proposal gets is not the key that was
        given."""
        customer_id = self._check(op.namespace)
        by = f"agent:{self._agent}"
        if op.value is None:
            if op.key.isdecimal():
                services.forget(customer_id, memory_id=int(op.key), by=by, now=now)
            return
        text = str(op.value.get("text") or "")
        if not text.strip():
            raise ValueError('A proposal needs its sentence: {"text": "…", "value": "…"}.')
        services.propose(
            customer_id,
            topic=op.namespace[2] if len(op.namespace) > 2 else None,
            category=str(op.value.get("category") or Category.PREFERENCE),
            value=str(op.value.get("value") or text),
            text=text,
            evidence={"key": op.key, "quote": str(op.value.get("quote") or "")},
            by=by,
            now=now,
        )

    def namespaces(self, op: ListNamespacesOp, *, now: datetime) -> Iterator[Namespace]:
        if self._id is None:
            return
        for namespace in {self._namespace(f) for f in self._known((ROOT,), now)}:
            if namespaces.matches(namespace, op.match_conditions or ()):
                yield namespace

    def _check(self, namespace: Namespace) -> int:
        if self._id is None:
            raise NotThisCustomer("This store was built for no customer.")
        if len(namespace) > 1 and namespace[1] != str(self._id):
            raise NotThisCustomer("This store was built for another customer.")
        return self._id

    def _known(self, namespace: Namespace, now: datetime) -> Iterator[Fact]:
        for fact in services.known_about(self._check(namespace), now=now):
            allowed = self._verified or not fact.sensitive
            if allowed and fact.id is not None and self._in(fact, namespace):
                yield fact

    def _in(self, fact: Fact, namespace: Namespace) -> bool:
        return namespaces.within(self._namespace(fact), namespace)

    def _namespace(self, fact: Fact) -> Namespace:
        return (ROOT, str(fact.customer_id), fact.topic or fact.category.value)

    def _fields(self, fact: Fact) -> dict[str, Any]:
        return {
            "namespace": self._namespace(fact),
            "key": str(fact.id),
            "value": {
                "text": fact.text,
                "value": fact.value,
                "topic": fact.topic,
                "category": fact.category.value,
            },
            "created_at": fact.stated_at,
            "updated_at": fact.stated_at,
        }
