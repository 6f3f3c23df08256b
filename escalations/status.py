"""What every page of the desk says by itself: what is mine, what goes wrong, what is new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Case, Count, OuterRef, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from chat.models import Message
from memory.prepared import Prepared, argument

from . import claim, figures, people
from .models import Escalation, Question
from .querysets import GRAVE, HER_TURN, mine


@dataclass(frozen=True, slots=True)
class Leaving:
    """A claim of mine that goes back to the queue soon."""

    escalation_id: int
    customer: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Status:
    unclaimed: int
    leaving: list[Leaving]
    mails_lost: int
    # What an open page compares with what it knew: a sign that is new or has grown rings.
    signs: dict[str, int]


def of(staff: User, *, now: datetime, counted: figures.Figures | None = None) -> Status:
    """`counted`: what a list has counted already."""
    counted = counted or figures.without_lists(staff=staff, now=now)
    leaving: list[Leaving] = []
    signs: dict[str, int] = {}
    for pk, said, alarms, given_at, active_at, minutes, *customer in _MINE(staff=staff.pk):
        signs[f"said-{pk}"] = said or 0
        signs[f"urgent-{pk}"] = alarms
        if given_at is not None:
            signs[f"given-{pk}"] = int(given_at.timestamp())
        at = claim.quiet_at(active_at, minutes)
        if at is not None and now < at <= now + claim.WARNING:
            leaving.append(Leaving(pk, people.called(*customer), at))
    if counted.told_again:
        signs["again"] = int(counted.told_again.timestamp())
    return Status(counted.lists["unclaimed"], leaving, counted.mails_lost, signs)


def _mine() -> QuerySet[Escalation, tuple[object, ...]]:
    """Columns, and no models: who has hundreds looks at every page as fast as anybody."""
    said = Message.objects.filter(conversation=OuterRef("conversation"), sender="customer")
    alarms = Question.objects.filter(escalation=OuterRef("pk"), reason__in=GRAVE).order_by()
    customer = "conversation__customer"
    return (
        Escalation.objects.filter(mine(argument("staff")))
        .annotate(
            said=Subquery(said.order_by("-seq").values("seq")[:1]),
            alarms=Coalesce(
                Subquery(alarms.values("escalation").annotate(n=Count("pk")).values("n")), 0
            ),
            given_at=Case(When(assigned_by__isnull=False, then="claimed_at")),
            owes_since=Case(When(~HER_TURN, then="active_at")),
        )
        .values_list(
            *("pk", "said", "alarms", "given_at", "owes_since"),
            *("queue__claim_quiet_minutes", f"{customer}__pk", f"{customer}__name"),
            f"{customer}__kind",
        )
    )


_MINE = Prepared(_mine)
