"""How much each list of the desk holds: three queries, whatever the size of the desk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, DateTimeField, Max, Q, QuerySet, Value

from chat.models import Conversation
from memory import services
from memory.prepared import Prepared, argument

from . import delivery
from .models import Escalation
from .querysets import CLAIMED, HER_TURN, UNCLAIMED, mine, overdue

LIVE = timedelta(minutes=30)  # a chat with the bot that somebody wrote in lately


@dataclass(frozen=True, slots=True)
class Figures:
    """`told_again`: when more people than a queue's own were last told of what nobody took.

    One time for all of them, however many wait: one that is taken rings nowhere.
    """

    lists: dict[str, int]
    told_again: datetime | None
    mails_lost: int


def of_lists(*, staff: User, now: datetime) -> Figures:
    lists, told_again = _open(staff, now)
    rest = dict(_REST(since=now - LIVE))
    lists |= {"customer": rest["customer"], "bot": rest["bot"]}
    lists["review"] = services.number_to_review(now, staff_id=staff.pk) + rest["not_helped"]
    return Figures(lists, told_again, rest["mails_lost"])


def without_lists(*, staff: User, now: datetime) -> Figures:
    """For a page that shows no list: what it has to say all the same."""
    return Figures(*_open(staff, now), delivery.given_up())


def live(since: datetime) -> QuerySet[Conversation]:
    return Conversation.objects.filter(
        closed_at=None, handler=Conversation.Handler.BOT, last_message_at__gt=since
    )


def not_helped() -> QuerySet[Conversation]:
    """Conversations that a customer said did not help, and nobody has looked at."""
    return Conversation.objects.filter(rating=-1, rating_look=None)


def _open(staff: User, now: datetime) -> tuple[dict[str, int], datetime | None]:
    unclaimed, hers, everyone, late, again = _OPEN(staff=staff.pk, now=now)[0]
    lists = {"unclaimed": unclaimed, "mine": hers, "everyone": everyone, "overdue": late}
    return lists, again


# One pass over what is open; what a year has closed is not looked at.
_OPEN = Prepared(
    lambda: (
        Escalation.objects.open()
        .order_by()
        .values(every=Value(1))
        .annotate(
            unclaimed=Count("pk", filter=UNCLAIMED),
            hers=Count("pk", filter=mine(argument("staff"))),
            everyone=Count("pk", filter=CLAIMED),
            late=Count("pk", filter=overdue(argument("now", DateTimeField()))),
            again=Max("alerted_at", filter=UNCLAIMED & Q(alert_step__gt=1)),
        )
        .values_list("unclaimed", "hers", "everyone", "late", "again")
    )
)


def _counted(name: str, rows: QuerySet[Any]) -> QuerySet[Any, tuple[str, int]]:
    named = rows.order_by().values(list=Value(name)).annotate(number=Count("pk"))
    found: QuerySet[Any, tuple[str, int]] = named.values_list("list", "number")
    return found


_REST: Prepared[Any] = Prepared(
    lambda: _counted("customer", Escalation.objects.filter(HER_TURN)).union(
        _counted("bot", live(argument("since", DateTimeField()))),
        _counted("not_helped", not_helped()),
        _counted("mails_lost", delivery.lost()),
        all=True,
    )
)
