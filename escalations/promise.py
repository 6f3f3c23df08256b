"""What the customer is told while she waits: what happens next, and when."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from . import hours
from .models import Calendar, Queue

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Promise:
    text: str
    due_at: datetime | None = None  # when a first reply is due, in opening hours


def opening_hours(calendar: Calendar) -> hours.Hours:
    """Raises hours.BadHours."""
    return hours.parse(
        timezone=calendar.timezone, weekly=calendar.weekly, exceptions=calendar.exceptions
    )


def make(
    queue: Queue | None, now: datetime, *, reader_zone: str = "", urgent: bool = False
) -> Promise:
    """Return the promise. A calendar that cannot be read costs the time, never the words."""
    asked = _("A person has been asked.")
    found = _("You will find the answer here.")
    if queue is None:
        return Promise(f"{asked} {found}")
    try:
        calendar = opening_hours(queue.calendar)
    except hours.BadHours as exc:
        logger.error("Calendar %s cannot be read: %s", queue.calendar_id, exc)
        return Promise(f"{asked} {found}")
    opens = hours.next_opening(calendar, now)
    minutes = 0 if urgent else queue.first_reply_minutes
    due = hours.add_open_minutes(calendar, now, minutes)
    if opens is None or due is None:
        return Promise(f"{asked} {found}")
    if opens > now:
        when = hours.moment_in_words(calendar, opens, now, reader_zone=reader_zone)
        text = _("{asked} We are open again {when}, and you will find the answer here.")
        return Promise(text.format(asked=asked, when=when), due)
    if urgent:
        return Promise(_("A person has been told at once. Please stay here."), due)
    when = hours.moment_in_words(calendar, due, now, reader_zone=reader_zone)
    text = _("{asked} We are open now: you will usually have the answer here {when}.")
    return Promise(text.format(asked=asked, when=when.replace(" at ", " by ")), due)


def again(promise: Promise) -> str:
    """The same promise for one more question on what is already waiting."""
    asked, also = _("A person has been asked."), _("This has been passed on too.")
    return promise.text.replace(asked, also)


def back_in_line(promise: Promise) -> str:
    """The same promise when the person who had it gave it back."""
    asked = _("A person has been asked.")
    return promise.text.replace(asked, _("Your question is back with the team."))
