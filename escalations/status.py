"""What every page of the desk says by itself: what is mine, what goes wrong, what is new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce

from chat.models import Message

from . import claim, delivery
from .models import Escalation, Question


@dataclass(frozen=True, slots=True)
class Leaving:
    """A claim of mine that goes back to the queue soon."""

    escalation: Escalation
    at: datetime


@dataclass(frozen=True, slots=True)
class Status:
    unclaimed: int
    leaving: list[Leaving]
    mails_lost: int
    # What an open page compares with what it knew: a sign that is new or has grown rings.
    signs: dict[str, int]


def of(staff: User, *, now: datetime, unclaimed: int | None = None) -> Status:
    """`unclaimed`: how many nobody has, where it was counted already."""
    mine = _mine(staff)
    signs: dict[str, int] = {}
    for e in mine:
        signs[f"said-{e.pk}"] = e.said or 0  # type: ignore[attr-defined]
        signs[f"emergency-{e.pk}"] = e.emergencies  # type: ignore[attr-defined]
        if e.assigned_by_id is not None and e.claimed_at is not None:
            signs[f"given-{e.pk}"] = int(e.claimed_at.timestamp())
    if again := _told_again():
        signs["again"] = int(again.timestamp())
    return Status(
        unclaimed=Escalation.objects.unclaimed().count() if unclaimed is None else unclaimed,
        leaving=[
            Leaving(e, at)
            for e in mine
            if (at := claim.returns_at(e)) is not None and now < at <= now + claim.WARNING
        ],
        mails_lost=delivery.given_up(),
        signs=signs,
    )


def _mine(staff: User) -> list[Escalation]:
    said = Message.objects.filter(conversation=OuterRef("conversation"), sender="customer")
    alarms = Question.objects.filter(escalation=OuterRef("pk"), reason="emergency").order_by()
    rows = Escalation.objects.open().filter(claimed_by=staff)
    return list(
        rows.select_related("queue", "conversation__customer").annotate(
            said=Subquery(said.order_by("-seq").values("seq")[:1]),
            emergencies=Coalesce(
                Subquery(alarms.values("reason").annotate(n=Count("pk")).values("n")), 0
            ),
        )
    )


def _told_again() -> datetime | None:
    """When more people than a queue's own were last told of what nobody took.

    One time for all of them, however many wait: one that is taken rings nowhere.
    """
    again = Escalation.objects.unclaimed().filter(alert_step__gt=1)
    latest: datetime | None = again.aggregate(at=Max("alerted_at"))["at"]
    return latest
