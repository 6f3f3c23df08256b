"""The made-up customers of the demo, to chat as."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from chat import conversations
from memory import services
from memory.models import Customer

MOST = 30


def context(*, now: datetime) -> dict[str, Any]:
    """What the page of demo customers shows, with a line on what is known of each."""
    named = Customer.objects.filter(kind=Customer.Kind.IDENTIFIED, erase_requested_at=None)
    return {
        "business": conversations.business(),
        "customers": [
            {"pk": c.pk, "name": c.name, "email": c.email, "about": _about(c.pk, now)}
            for c in named.order_by("name", "pk")[:MOST]
        ],
    }


def customer(chosen: str) -> Customer | None:
    named = Customer.objects.filter(kind=Customer.Kind.IDENTIFIED, erase_requested_at=None)
    return named.filter(pk=int(chosen)).first() if chosen.isdecimal() else None


def _about(customer_id: int, now: datetime) -> str:
    facts = services.known_about(customer_id, now=now)
    return " · ".join(f.text for f in facts if not f.sensitive)[:160]
