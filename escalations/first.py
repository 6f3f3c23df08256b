"""Staff write first: the words wait in the customer's chat, and the claim waits for her reply."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from chat import conversations
from memory.models import Customer

from . import claim, reply
from .models import Escalation


@transaction.atomic
def write(customer: Customer, *, staff: User, text: str, now: datetime) -> Escalation:
    """Send `text` into the open conversation, or a new one. Raises claim.AlreadyClaimed."""
    known = customer.kind == Customer.Kind.IDENTIFIED
    conversation = conversations.current_or_new(customer.pk, now=now, verified=known)
    opened = claim.open_claimed(
        conversation.pk, staff=staff, reason=Escalation.Reason.STAFF_FIRST, now=now
    )
    escalation = claim.claim(opened.pk, staff=staff, now=now)
    reply.send(escalation.pk, staff=staff, text=text, seen_seq=None, now=now)
    return escalation
