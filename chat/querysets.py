"""Conversations as somebody may see them: a customer his own, nobody else's."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from .models import Conversation, VisitorToken


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of_customer(self, customer_id: int) -> ConversationQuerySet:
        return self.filter(customer_id=customer_id)

    def open(self) -> ConversationQuerySet:
        return self.filter(closed_at=None)

    def overdue(self, now: datetime) -> ConversationQuerySet:
        """Those whose automatic reply did not come in time."""
        return self.open().filter(answer_due_at__lte=now)


class VisitorTokenQuerySet(models.QuerySet["VisitorToken"]):
    def valid(self, digest: str, now: datetime) -> VisitorTokenQuerySet:
        return self.filter(digest=digest, expires_at__gt=now)
