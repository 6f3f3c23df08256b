"""How the desk says times, names and stored values."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.contrib.auth.models import User

from escalations.compare import labels
from escalations.people import name_of
from escalations.spans import ago, due

register = template.Library()
register.filter("labels", labels)
register.filter("ago", ago)
register.filter("due", due)


@register.filter
def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@register.filter
def staff_name(user: User | None) -> str:
    return name_of(user) if user else ""


@register.filter
def words(key: str) -> str:
    """Return a stored key as people read it: "preferred_time" → "Preferred time"."""
    return key.replace("_", " ").capitalize()


@register.filter
def plain(value: Any) -> str:
    """Return a stored value as text: lists and pairs without brackets."""
    if isinstance(value, dict):
        return "; ".join(f"{words(str(k))}: {plain(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(plain(one) for one in value)
    return str(value)


@register.filter
def zone_words(zone: str) -> str:
    return zone.rsplit("/", 1)[-1].replace("_", " ")
