"""The lists of the inbox, each with a constant number of queries however much is waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, F, OuterRef, Prefetch, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from chat.models import Conversation, Message
from memory import services

from .drafts import VIEWING
from .models import Escalation, Presence, Question
from .querysets import CLAIMED, HER_TURN, RESOLVED, UNCLAIMED, mine, overdue

PAGE = 50
MY_QUEUES = "mine"  # all queues that the staff member is in
LIVE = timedelta(minutes=30)  # a chat with the bot that somebody wrote in lately

NAMES = {
    "unclaimed": _("Nobody has it"),
    "mine": _("Mine"),
    "everyone": _("Everyone’s"),
    "customer": _("Customer’s turn"),
    "overdue": _("Overdue"),
    "bot": _("With the bot"),
    "resolved": _("Resolved"),
    "review": _("To check"),
}
EMPTY = {
    "unclaimed": _("Nobody is waiting. A new question appears here by itself."),
    "mine": _("You have nothing open. Take something from “Nobody has it”."),
    "everyone": _("Nobody at the desk has anything open."),
    "customer": _("No customer owes us an answer."),
    "overdue": _("Nothing is late."),
    "bot": _("Nobody is chatting with the bot at the moment."),
    "resolved": _("Nothing has been resolved yet."),
}


def _people(*names: str) -> Iterator[str]:
    for name in names:
        yield from (f"{name}__{part}" for part in ("first_name", "last_name", "username"))


# What a row shows, and nothing else of the wide tables that it stands on.
SHOWN = (
    "reason",
    "opened_at",
    "closed_at",
    "due_at",
    "first_reply_at",
    "last_staff_seq",
    "conversation__last_seq",
    "conversation__customer__name",
    "conversation__customer__kind",
    *_people("claimed_by", "closed_by"),
)


@dataclass(frozen=True, slots=True)
class Listed:
    name: str
    rows: Sequence[Any]
    more: bool


def listed(
    name: str, *, staff: User, now: datetime, queue: int | str | None = None, limit: int = PAGE
) -> Listed:
    """Return the rows of one list. The unknown name is the first list."""
    if name == "bot":
        rows: Sequence[Any] = _with_the_bot(now, limit + 1)
    else:
        rows = _escalations(name, staff, now, queue, limit + 1)
    return Listed(name, rows[:limit], len(rows) > limit)


def counts(*, staff: User, now: datetime) -> dict[str, int]:
    """Return how many each list holds, in three queries."""
    figures = Escalation.objects.open().aggregate(
        unclaimed=Count("pk", filter=UNCLAIMED),
        mine=Count("pk", filter=mine(staff.pk)),
        everyone=Count("pk", filter=CLAIMED),
        customer=Count("pk", filter=HER_TURN),
        overdue=Count("pk", filter=overdue(now)),
    )
    figures["bot"] = _live(now).count()
    figures["review"] = services.number_to_review(now, staff_id=staff.pk) + not_helped().count()
    return figures


def _escalations(
    name: str, staff: User, now: datetime, queue: int | str | None, limit: int
) -> list[Escalation]:
    """Sort narrow rows first, then fetch what is shown of the few at the top."""
    condition = {
        "mine": mine(staff.pk),
        "everyone": CLAIMED,
        "customer": HER_TURN,
        "overdue": overdue(now),
        "resolved": RESOLVED,
    }.get(name, UNCLAIMED)
    rows = Escalation.objects.with_urgency(now).filter(condition)
    if queue == MY_QUEUES:
        rows = rows.filter(queue__members=staff)
    elif queue is not None:
        rows = rows.filter(queue_id=queue)
    order: tuple[Any, ...] = (
        ("-closed_at",)
        if name == "resolved"
        else ("-is_emergency", "-is_overdue", F("due_at").asc(nulls_last=True), "pk")
    )
    top = list(rows.order_by(*order).values_list("pk", flat=True)[:limit])
    found = (
        Escalation.objects.with_urgency(now)
        .filter(pk__in=top)
        .select_related("conversation__customer", "claimed_by", "closed_by")
        .only(*SHOWN)
        .prefetch_related(_asked(), _looking(staff, now))
        .in_bulk()
    )
    return [found[pk] for pk in top if pk in found]


# To an attribute each: a list of rows then costs no query object of its own for every row.
def _asked() -> Prefetch[Any, Any, Any]:
    rows = Question.objects.order_by("asked_at", "pk").only("escalation_id", "text")
    return Prefetch("questions", rows, to_attr="asked")


def _looking(staff: User, now: datetime) -> Prefetch[Any, Any, Any]:
    rows = Presence.objects.filter(seen_at__gt=now - VIEWING).exclude(staff=staff)
    return Prefetch("presences", rows.select_related("staff"), to_attr="looking")


def _live(now: datetime) -> Any:
    return Conversation.objects.filter(
        closed_at=None, handler=Conversation.Handler.BOT, last_message_at__gt=now - LIVE
    )


def _with_the_bot(now: datetime, limit: int) -> list[Conversation]:
    said = Message.objects.filter(
        conversation=OuterRef("pk"), sender=Message.Sender.CUSTOMER
    ).order_by("-seq")
    return list(
        _live(now)
        .select_related("customer")
        .only("last_message_at", "customer__name", "customer__kind")
        .annotate(said=Subquery(said.values("text")[:1]))
        .exclude(said=None)
        .order_by("-last_message_at")[:limit]
    )


def not_helped() -> QuerySet[Conversation]:
    """Conversations that a customer said did not help, and nobody has looked at."""
    rows = Conversation.objects.filter(rating=-1, rating_look=None)
    return rows.select_related("customer").order_by("-last_message_at")
