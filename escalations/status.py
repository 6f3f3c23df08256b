"""What every page of the desk says by itself: what is mine, what goes wrong, what is new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from chat.models import Message

from . import claim, delivery
from .models import Escalation, Question

MOST = 200  # rows that a page looks through for what is new


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
    mine: list[Escalation] = []
    signs: dict[str, int] = {}
    for e in _mine_or_late(staff):
        if e.claimed_by_id is None:
            signs[f"again-{e.pk}"] = e.alert_step
            continue
        mine.append(e)
        signs[f"said-{e.pk}"] = e.said or 0  # type: ignore[attr-defined]
        signs[f"emergency-{e.pk}"] = e.emergencies  # type: ignore[attr-defined]
        if e.assigned_by_id is not None and e.claimed_at is not None:
            signs[f"given-{e.pk}"] = int(e.claimed_at.timestamp())
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


def _mine_or_late(staff: User) -> list[Escalation]:
    """What I have, and what nobody took after more people than its queue were told."""
    shown = Q(claimed_by=staff) | Q(claimed_by=None, alert_step__gt=1)
    said = Message.objects.filter(conversation=OuterRef("conversation"), sender="customer")
    alarms = Question.objects.filter(escalation=OuterRef("pk"), reason="emergency").order_by()
    rows = Escalation.objects.open().filter(shown).select_related("queue", "conversation__customer")
    return list(
        rows.annotate(
            said=Subquery(said.order_by("-seq").values("seq")[:1]),
            emergencies=Coalesce(
                Subquery(alarms.values("reason").annotate(n=Count("pk")).values("n")), 0
            ),
        ).order_by("pk")[:MOST]
    )
