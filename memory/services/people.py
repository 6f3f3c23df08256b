"""Customers themselves: who they are, what is erased, what is handed out."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from memory.lifecycle import blank, locks
from memory.models import Customer, ErasureReceipt

from . import registry


def new_customer(
    *,
    kind: str,
    now: datetime,
    external_id: str | None = None,
    name: str = "",
    email: str = "",
    timezone: str = "",
) -> Customer:
    return Customer.objects.create(
        kind=kind,
        external_id=external_id or None,
        name=name,
        email=email,
        timezone=timezone,
        created_at=now,
        last_seen_at=now,
    )


def identify(
    external_id: str, *, now: datetime, name: str = "", email: str = "", timezone: str = ""
) -> Customer:
    """Return the business's own customer, known or new; what the signed identity says wins."""
    told = {"name": name, "email": email, "timezone": timezone}
    said = {k: v for k, v in told.items() if v} | {"last_seen_at": now}
    first = told | {"kind": Customer.Kind.IDENTIFIED, "created_at": now, "last_seen_at": now}
    customer, _ = Customer.objects.update_or_create(
        external_id=external_id, defaults=said, create_defaults=first
    )
    return customer


def request_erase(customer_id: int, *, now: datetime, due: datetime | None = None) -> None:
    """The words go and recall stops at once; staff get the rest with a due date."""
    with locks.customer_locked(customer_id) as customer:
        blank.request_erase(customer, now=now, due=due)
        blank.forget_everything(customer, at=now, now=now)


def erase(customer_id: int, *, by: str, now: datetime) -> ErasureReceipt:
    """Delete all that any app keeps of this customer; the receipt names nobody.

    Locks what the upper apps lock first, the customer last.
    """
    counts: dict[str, int] = {}
    with transaction.atomic():
        for keeper in registry.keepers().values():
            for label, n in keeper.eraser(customer_id).items():
                counts[label] = counts.get(label, 0) + n
        return ErasureReceipt.objects.create(
            customer_pk=customer_id, at=now, actor=by, counts=counts
        )


def export(customer_id: int, *, now: datetime) -> dict[str, Any]:
    """Everything that any app keeps of this customer, as plain JSON values by app."""
    told: dict[str, Any] = {"customer": customer_id, "exported_at": now}
    for app, keeper in registry.keepers().items():
        told[app] = keeper.exporter(customer_id)
    plain: dict[str, Any] = json.loads(json.dumps(told, cls=DjangoJSONEncoder))
    return plain
