"""Looks at what is sensitive: written down, and good for a few minutes of work with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from memory.models import Topic

from .models import Escalation, MemoryView

HOLDS = timedelta(minutes=10)  # then it is hidden again
FOR_HIDING = ("topic", "sensitive")  # of a request's fact: nothing to read


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
    request = request_without(escalation, hidden)
    shown = {k: v for k, v in request.items() if k != "facts" or v}
    if key := shown.get("topic"):
        label = Topic.objects.filter(key=key).values_list("label", flat=True).first()
        shown["topic"] = label or key
    return {"shown": shown, "hidden": sorted(hidden)}


def request_without(escalation: Escalation, hidden: Collection[str] = ()) -> dict[str, Any]:
    """Return the request as people read it, without the facts of these labels."""
    facts = [
        {key: value for key, value in fact.items() if key not in FOR_HIDING}
        for fact in _facts(escalation)
        if fact.get("label") not in hidden
    ]
    request: dict[str, Any] = escalation.request
    return request | ({"facts": facts} if "facts" in request else {})


def sensitive_topics() -> dict[str, str]:
    """Return label and key of each topic that is sensitive."""
    return dict(Topic.objects.filter(sensitive=True).values_list("label", "key"))


def sensitive_in(escalation: Escalation, topics: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return label and key of the sensitive topics that the request holds facts of.

    A fact that was stored without its topic is known by the label alone. `topics`: those that are
    sensitive, of who asks for many requests.
    """
    facts = _facts(escalation)
    if not facts:
        return {}
    by_label = sensitive_topics() if topics is None else topics
    hidden: dict[str, str] = {}
    for fact in facts:
        label = fact.get("label", "")
        key = fact.get("topic") if "sensitive" in fact else by_label.get(label)
        if fact.get("sensitive") or key in by_label.values():
            hidden[label] = key or label
    return hidden


def _facts(escalation: Escalation) -> list[dict[str, Any]]:
    facts = escalation.request.get("facts") or []
    return [f for f in facts if isinstance(f, dict)]
