"""What the customer is told while she waits: what happens next, and when."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from chat import wordings
from chat.models import Conversation

from . import hours
from .models import Calendar, Queue

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Promise:
    """Which words say when somebody comes; they are the business's own, see chat.wordings."""

    key: str = "reply_some_time"
    when: str = ""
    due_at: datetime | None = None  # when a first reply is due, in opening hours

    def said(self, conversation: Conversation, *, first: str = "queued") -> str:
        """Return the line for the customer. `first`: what was done with her question."""
        at = conversation.pk, conversation.last_seq
        rest = wordings.say(self.key, *at, when=self.when)
        if self.key == "queued_urgent":
            return rest
        return f"{wordings.say(first, *at)} {rest}".strip()


def opening_hours(calendar: Calendar) -> hours.Hours:
    """Raises hours.BadHours."""
    return hours.parse(
        timezone=calendar.timezone, weekly=calendar.weekly, exceptions=calendar.exceptions
    )


def make(
    queue: Queue | None, now: datetime, *, reader_zone: str = "", urgent: bool = False
) -> Promise:
    """Return the promise. A calendar that cannot be read costs the time, never the words."""
    if queue is None:
        return Promise()
    try:
        calendar = opening_hours(queue.calendar)
    except hours.BadHours as exc:
        logger.error("Calendar %s cannot be read: %s", queue.calendar_id, exc)
        return Promise()
    opens = hours.next_opening(calendar, now)
    minutes = 0 if urgent else queue.first_reply_minutes
    due = hours.add_open_minutes(calendar, now, minutes)
    if opens is None or due is None:
        return Promise()
    if opens > now:
        when = hours.moment_in_words(calendar, opens, now, reader_zone=reader_zone)
        return Promise("reply_when_closed", when, due)
    if urgent:
        return Promise("queued_urgent", due_at=due)
    when = hours.moment_in_words(calendar, due, now, reader_zone=reader_zone)
    return Promise("reply_when_open", when.replace(" at ", " by "), due)
