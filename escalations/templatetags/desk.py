"""How the desk says times, names and stored values."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from escalations.compare import labels
from escalations.people import name_of

register = template.Library()
register.filter("labels", labels)


@register.filter
def ago(at: datetime | None, now: datetime) -> str:
    """Return how long ago in one word: "now", "5 min", "3 h", "2 d"."""
    return _span(now - at) if at else ""


@register.filter
def due(at: datetime | None, now: datetime) -> str:
    if at is None:
        return ""
    if at < now:
        return _("{time} overdue").format(time=_span(now - at))
    if at - now < timedelta(hours=12):
        return _("due in {time}").format(time=_span(at - now))
    local = timezone.localtime(at)
    return _("due on {day} at {clock}").format(
        day=f"{local:%A}", clock=f"{local.hour}:{local.minute:02d}"
    )


@register.filter
def due_in_list(at: datetime | None, now: datetime) -> str:
    """Return the due time of a row: "due 14:30", "due Tue 9:00", "overdue 20 min"."""
    if at is None:
        return ""
    if at < now:
        return _("overdue {time}").format(time=_span(now - at))
    local, today = timezone.localtime(at), timezone.localtime(now).date()
    clock = f"{local.hour}:{local.minute:02d}"
    if local.date() == today:
        return _("due {clock}").format(clock=clock)
    if local.date() - today < timedelta(days=7):
        return _("due {day} {clock}").format(day=f"{local:%a}", clock=clock)
    return _("due {day}").format(day=f"{local.day} {local:%b}")


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


def _span(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    if minutes < 1:
        return _("now")
    if minutes < 60:
        return _("{number} min").format(number=minutes)
    if minutes < 48 * 60:
        return _("{number} h").format(number=minutes // 60)
    return _("{number} d").format(number=minutes // 1440)
