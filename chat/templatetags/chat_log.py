"""How the log says when: a row carries its time as ISO text, in a page as over the socket."""

from datetime import datetime

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
def day(iso: str | None) -> str:
    """Return "12 March 2026" for "2026-03-12" or a whole ISO time."""
    date = parse_date((iso or "")[:10])
    return formats.date_format(date, "j F Y") if date else ""
