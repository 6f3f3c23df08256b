"""The lists of the inbox as conditions: one definition for the rows, the counts and the tests."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Case, F, Q, Value, When

if TYPE_CHECKING:
    from .models import Escalation

# What does not wait in line, the gravest first.
GRAVE = ("emergency", "distress")
OPEN = Q(closed_at=None)
UNCLAIMED = OPEN & Q(claimed_by=None)
CLAIMED = OPEN & Q(claimed_by__isnull=False)
# Nothing was said after staff's last words: the ball is with the customer.
HER_TURN = CLAIMED & Q(last_staff_seq__gt=0, last_staff_seq__gte=F("conversation__last_seq"))
RESOLVED = Q(closed_at__isnull=False)


def mine(staff_id: int) -> Q:
    return OPEN & Q(claimed_by=staff_id)


def overdue(now: datetime) -> Q:
    return OPEN & Q(first_reply_at=None, due_at__lt=now)


class EscalationQuerySet(models.QuerySet["Escalation"]):
    def open(self) -> EscalationQuerySet:
        return self.filter(OPEN)

    def unclaimed(self) -> EscalationQuerySet:
        return self.filter(UNCLAIMED)

    def with_urgency(self, now: datetime) -> EscalationQuerySet:
        """Annotate what sorts a list: what is grave, then what is past due, then by due time."""
        return self.annotate(
            gravity=Case(
                *(When(reason=reason, then=Value(place)) for place, reason in enumerate(GRAVE)),
                default=Value(len(GRAVE)),
                output_field=models.SmallIntegerField(),
            ),
            is_overdue=models.ExpressionWrapper(
                overdue(now), output_field=models.BooleanField(null=True)
            ),
        )
