"""The only ways to ask for memories: always with a customer, always with a time."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

from .types import Status

if TYPE_CHECKING:
    from .models import Answer, Memory


class MemoryQuerySet(models.QuerySet["Memory"]):
    def for_customer(self, customer_id: int) -> MemoryQuerySet:
        return self.filter(customer_id=customer_id)

    def active(self, now: datetime) -> MemoryQuerySet:
        """Active and in force at `now`: the nightly run only relabels what this already leaves out."""
        return self.filter(_in_force(now), status=Status.ACTIVE)


class AnswerQuerySet(models.QuerySet["Answer"]):
    def active(self, now: datetime) -> AnswerQuerySet:
        return self.filter(_in_force(now), status=Status.ACTIVE)

    def stale(self, now: datetime) -> AnswerQuerySet:
        """Given to customers, and due for somebody's look."""
        return self.active(now).filter(review_on__lte=now.date())


def _in_force(now: datetime) -> Any:
    return (Q(valid_from=None) | Q(valid_from__lte=now)) & (
        Q(valid_until=None) | Q(valid_until__gt=now)
    )
