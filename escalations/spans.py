"""How long ago, and when due: as short as a line of a list needs it."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache

from django.utils import timezone
from django.utils.translation import get_language, gettext


@lru_cache(maxsize=256)
def _in(_language: str | None, words: str) -> str:
    return gettext(words)


def _(words: str) -> str:
    """Look words up once a process: a list needs the same few two hundred times."""
    return _in(get_language(), words)


def ago(at: datetime | None, now: datetime) -> str:
    """Return how long ago in one word: "now", "5 min", "3 h", "2 d"."""
    return _span(now - at) if at else ""


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


def _span(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    if minutes < 1:
        return _("now")
    if minutes < 60:
        return _("{number} min").format(number=minutes)
    if minutes < 48 * 60:
        return _("{number} h").format(number=minutes // 60)
    return _("{number} d").format(number=minutes // 1440)
