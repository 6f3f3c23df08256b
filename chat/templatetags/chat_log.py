"""How the log says when: a row carries its time as ISO text, in a page as over the socket."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.utils import formats, timezone
from django.utils.dateparse import parse_date, parse_datetime

register = template.Library()


@register.filter
def moment(iso: str) -> datetime | str:
    """Return the local time that `iso` names, for the filter `date`; else `iso` as it was."""
    at = parse_datetime(iso)
    return timezone.localtime(at) if at and timezone.is_aware(at) else iso


@register.filter
def last_said(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return the seq of what was said last; a state line is nobody's words."""
    return next(
        (row["seq"] for row in reversed(list(rows)) if row["kind"] != "state" and "seq" in row), 0
    )


@register.filter
def day(iso: str | None) -> str:
    """Return "12 March 2026" for "2026-03-12" or a whole ISO time."""
    date = parse_date((iso or "")[:10])
    return formats.date_format(date, "j F Y") if date else ""
