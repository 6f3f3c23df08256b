"""Looks at what is sensitive: written down, and good for a few minutes of work with it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from memory.models import Topic

from .models import Escalation, MemoryView

HOLDS = timedelta(minutes=10)  # then it is hidden again


def record(customer_id: int, topics: Iterable[str], *, staff_id: int | None, now: datetime) -> None:
    MemoryView.objects.create(
        customer_id=customer_id, staff_id=staff_id, topics=sorted(topics), at=now
    )


def looking(staff: User, *, now: datetime) -> set[tuple[int, str]]:
    """Return customer and topic of what this person has looked at just now."""
    recent = MemoryView.objects.filter(staff=staff, at__gt=now - HOLDS, at__lte=now)
    rows = recent.values_list("customer_id", "topics")
    return {(customer, topic) for customer, topics in rows for topic in topics}


def request_of(escalation: Escalation, *, staff: User, now: datetime) -> dict[str, Any]:
    """Return what a note asks for; without what is sensitive, till somebody looks at it."""
    hidden = sensitive_in(escalation)
    if hidden:
        seen = {topic for customer, topic in looking(staff, now=now)
                if customer == escalation.conversation.customer_id}  # fmt: skip
        hidden = {label: key for label, key in hidden.items() if key not in seen}
    facts = [f for f in _facts(escalation) if f.get("label") not in hidden]
    shown = {k: v for k, v in escalation.request.items() if k != "facts"}
    return {"shown": shown | ({"facts": facts} if facts else {}), "hidden": sorted(hidden)}


def without_sensitive(escalation: Escalation) -> dict[str, Any]:
    """The request for a list, where nobody looks at one fact in particular."""
    hidden = sensitive_in(escalation)
    facts = [f for f in _facts(escalation) if f.get("label") not in hidden]
    request: dict[str, Any] = escalation.request
    return request | ({"facts": facts} if "facts" in request else {})


def sensitive_in(escalation: Escalation) -> dict[str, str]:
    """Return label and key of the sensitive topics that the request holds facts of."""
    labels = {f.get("label", "") for f in _facts(escalation)}
    if not labels:
        return {}
    found = Topic.objects.filter(label__in=labels, sensitive=True)
    return dict(found.values_list("label", "key"))


def _facts(escalation: Escalation) -> list[dict[str, str]]:
    facts = escalation.request.get("facts") or []
    return [f for f in facts if isinstance(f, dict)]
