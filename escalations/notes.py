"""Notes for colleagues, on a conversation or on a customer. No customer ever sees one."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from chat import frames
from chat.models import Conversation
from memory.models import Customer

from . import broadcast
from .models import StaffNote


def write(
    text: str,
    *,
    author: User,
    now: datetime,
    conversation: Conversation | None = None,
    customer: Customer | None = None,
) -> StaffNote | None:
    """Keep it; what is empty is no note. Raises frames.BadFrame."""
    text = frames.clean(text)
    if not text.strip():
        return None
    made = StaffNote.objects.create(
        conversation=conversation, customer=customer, author=author, text=text, created_at=now
    )
    broadcast.changed_on_commit()
    return made


def of(customer: Customer) -> QuerySet[StaffNote]:
    """All that was noted of a customer, the newest first."""
    mine = Q(customer=customer) | Q(conversation__customer=customer)
    return StaffNote.objects.filter(mine).select_related("author").order_by("-created_at")
