"""What memory itself keeps of a customer: how it is deleted, how it is handed out."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.forms.models import model_to_dict

from memory.lifecycle import blank
from memory.models import AnswerMatch, Conflict, Customer, Episode, Memory, MemoryEvent

from . import merging, registry

MODELS = (Conflict, AnswerMatch, Memory, Episode, MemoryEvent)
_NOT_TOLD = {"embedding", "customer"}


def erase(customer_id: int) -> dict[str, int]:
    """Locks the customer. Events stay as id, kind, time and actor, and belong to nobody."""
    customer = Customer.objects.select_for_update().get(pk=customer_id)
    hers = Memory.objects.for_customer(customer_id)
    blank.unlearn(quote for memory in hers for quote in blank.quotes_of(memory))
    events = MemoryEvent.objects.filter(customer_id=customer_id)
    counts = {
        "memory.MemoryEvent": events.update(
            before=None, after=None, evidence=None, reason="", topic_key="", customer=None
        )
    }
    for model in (Conflict, AnswerMatch, Memory, Episode):
        rows: QuerySet[Any] = model._default_manager.filter(customer_id=customer_id)
        counts[model._meta.label] = rows.count()
        rows.delete()
    customer.delete()
    return counts | {"memory.Customer": 1}


def export(customer_id: int) -> dict[str, Any]:
    customer = Customer.objects.get(pk=customer_id)
    told: dict[str, Any] = {"customer": model_to_dict(customer)}
    for model in MODELS:
        rows = model._default_manager.filter(customer_id=customer_id).order_by("pk")
        told[model._meta.label] = [_plain(row) for row in rows]
    return told


def _plain(row: Any) -> dict[str, Any]:
    return {
        f.attname: getattr(row, f.attname)
        for f in row._meta.concrete_fields
        if f.name not in _NOT_TOLD
    }


def register() -> None:
    labels = [m._meta.label for m in (*MODELS, Customer)]
    registry.register("memory", eraser=erase, exporter=export, merger=merging.move, models=labels)
