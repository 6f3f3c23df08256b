"""Did what the bot said help? Where nobody says so, silence tells: it is taken as a weaker yes."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, QuerySet

from chat import conversations
from chat.models import Conversation
from escalations.models import Escalation

from . import rules

ACTOR = "nightly run"
MISSED = timedelta(days=14)  # nights that are caught up with


def judge(*, now: datetime) -> int:
    """Tell memory of the chats that ended content; return for how many memories that is new."""
    ended = content(now, days=rules.current().reopened_within_days)
    return sum(conversations.tell_outcome(c, "assumed", by=ACTOR, now=now) for c in ended)


def content(now: datetime, *, days: int) -> QuerySet[Conversation]:
    """Return the chats that were over without a rating or a person, and whose customer did not come
    back within so many days."""
    soon = timedelta(days=days)
    back = Conversation.objects.filter(
        customer=OuterRef("customer"),
        last_message_at__gt=OuterRef("last_message_at"),
        started_at__lte=OuterRef("last_message_at") + soon,
    ).exclude(pk=OuterRef("pk"))
    return Conversation.objects.filter(
        ~Exists(Escalation.objects.filter(conversation=OuterRef("pk"))),
        ~Exists(back),
        rating=None,
        last_message_at__lt=now - soon,
        last_message_at__gte=now - soon - MISSED,
    ).order_by("pk")
