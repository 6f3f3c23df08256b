"""The lists of the inbox, each with a constant number of queries however much is waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.contrib.auth.models import User
from django.db.models import (
    BooleanField,
    Case,
    Count,
    DateTimeField,
    ExpressionWrapper,
    F,
    OuterRef,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models import Conversation, Message
from memory.kept import Kept
from memory.prepared import Prepared, argument

from . import figures, people, spans
from .drafts import VIEWING
from .models import Escalation, Presence, Question, Queue
from .querysets import CLAIMED, GRAVE, HER_TURN, RESOLVED, UNCLAIMED, mine, overdue

PAGE = 50
MY_QUEUES = "mine"  # all queues that the staff member is in

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


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list, in words: fifty of them are a page, and a template is slow to find them."""

    pk: int
    key: str  # in addresses
    title: str
    questions: int
    why: str
    customer: str
    at: str
    ago: str
    due: str  # while nobody has replied
    unread: bool
    urgent: bool
    late: bool
    owner_id: int | None
    owner: str  # of what is resolved: who did it
    looking: str  # a colleague


@dataclass(frozen=True, slots=True)
class Chat:
    """The same of a chat with the bot."""

    pk: int
    key: str
    title: str
    customer: str
    at: str
    ago: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A queue to look at alone."""

    pk: int
    name: str
    mine: bool


@dataclass(frozen=True, slots=True)
class Listed:
    name: str
    rows: Sequence[Row | Chat]
    more: bool


def listed(
    name: str, *, staff: User, now: datetime, queue: int | str | None = None, limit: int = PAGE
) -> Listed:
    """Return the rows of one list. The unknown name is the first list."""
    if name == "bot":
        rows: Sequence[Row | Chat] = _with_the_bot(now, limit + 1)
    else:
        rows = _escalations(name, staff, now, queue, limit + 1)
    return Listed(name, rows[:limit], len(rows) > limit)


def queues(staff: User) -> list[Choice]:
    return [Choice(pk, name, staff.pk in members) for pk, name, members in _queues()]


def _read_queues() -> tuple[tuple[int, str, frozenset[int]], ...]:
    found = Queue.objects.order_by("name").prefetch_related("members")
    return tuple((q.pk, q.name, frozenset(u.pk for u in q.members.all())) for q in found)


_queues = Kept(_read_queues, "escalations_queue", "escalations_queue_members")


def _escalations(
    name: str, staff: User, now: datetime, queue: int | str | None, limit: int
) -> list[Row]:
    of_queue = queue if queue in (None, MY_QUEUES) else "one"
    found = _rows(name, of_queue, limit)(staff=staff.pk, now=now, queue=queue)
    looking = _looking(staff, now) if found else {}
    why = {reason: str(label) for reason, label in Escalation.Reason.choices}
    return [_row(columns, why, looking, now) for columns in found]


def _row(
    columns: tuple[Any, ...], why: dict[str, str], looking: dict[int, str], now: datetime
) -> Row:
    (pk, reason, opened_at, closed_at, due_at, first_reply_at, gravity, late, her_turn, title,
     number, customer_id, name, kind, owner_id, *owner) = columns  # fmt: skip
    return Row(
        pk=pk,
        key=str(pk),
        title=title or why[reason],
        questions=number or 0,
        why=why[reason],
        customer=people.called(customer_id, name, kind),
        at=_moment(opened_at),
        ago=spans.ago(closed_at or opened_at, now),
        due="" if first_reply_at else spans.due_in_list(due_at, now),
        unread=not her_turn and closed_at is None,
        urgent=gravity < len(GRAVE),
        late=bool(late),
        owner_id=owner_id,
        owner=people.named(*owner),
        looking=looking.get(pk, ""),
    )


def _moment(at: datetime) -> str:
    return timezone.localtime(at).isoformat(timespec="seconds")


# How many of these there are is bounded by the lists, and by "Show more".
@lru_cache(maxsize=128)
def _rows(name: str, queue: int | str | None, limit: int) -> Prepared[Escalation]:
    """Sort narrow rows first, then fetch what is shown of the few at the top."""
    return Prepared(lambda: _shown(name, _top(name, queue).values("pk")[:limit]))


def _title(question: Subquery) -> Case:
    """A chat that staff began is not about an earlier question, and mostly has none."""
    said = Message.objects.filter(
        conversation=OuterRef("conversation"),
        sender=Message.Sender.CUSTOMER,
        kind=Message.Kind.MESSAGE,
    )
    latest = Subquery(said.order_by("-seq").values("text")[:1])
    return Case(
        When(reason=Escalation.Reason.STAFF_FIRST, then=latest), default=Coalesce(question, latest)
    )


def _top(name: str, queue: int | str | None) -> QuerySet[Escalation]:
    now, staff = argument("now", DateTimeField()), argument("staff")
    condition = {
        "mine": mine(staff),
        "everyone": CLAIMED,
        "customer": HER_TURN,
        "overdue": overdue(now),
        "resolved": RESOLVED,
    }.get(name, UNCLAIMED)
    rows = Escalation.objects.with_urgency(now).filter(condition)
    if queue == MY_QUEUES:
        rows = rows.filter(queue__members=staff)
    elif queue is not None:
        rows = rows.filter(queue_id=argument("queue"))
    return rows.order_by(*_order(name))


def _order(name: str) -> tuple[Any, ...]:
    if name == "resolved":
        return (F("closed_at").desc(),)
    return "gravity", "-is_overdue", F("due_at").asc(nulls_last=True), "pk"


def _shown(name: str, top: QuerySet[Any, Any]) -> QuerySet[Escalation, tuple[Any, ...]]:
    asked = Question.objects.filter(escalation=OuterRef("pk"))
    owner = "closed_by" if name == "resolved" else "claimed_by"
    return (
        Escalation.objects.with_urgency(argument("now", DateTimeField()))
        .filter(pk__in=top)
        .annotate(
            hers=ExpressionWrapper(HER_TURN, BooleanField()),
            title=_title(Subquery(asked.order_by("asked_at", "pk").values("text")[:1])),
            number=Subquery(
                asked.order_by().values("escalation").annotate(n=Count("pk")).values("n")
            ),
        )
        .order_by(*_order(name))
        .values_list(
            *("pk", "reason", "opened_at", "closed_at", "due_at", "first_reply_at"),
            *("gravity", "is_overdue", "hers", "title", "number"),
            *(f"conversation__customer__{part}" for part in ("pk", "name", "kind")),
            *(f"{owner}__{part}" for part in ("pk", "first_name", "last_name", "username")),
        )
    )


def _looking(staff: User, now: datetime) -> dict[int, str]:
    """Who of my colleagues looks at what: as many as there are people."""
    found = _PRESENT(since=now - VIEWING, staff=staff.pk)
    return {pk: people.named(*who) for pk, *who in found}


_PRESENT = Prepared(
    lambda: (
        Presence.objects.filter(seen_at__gt=argument("since", DateTimeField()))
        .exclude(staff=argument("staff"))
        .order_by("-pk")  # of several, the first who came
        .values_list(
            "escalation_id", *(f"staff__{p}" for p in ("first_name", "last_name", "username"))
        )
    )
)


def _with_the_bot(now: datetime, limit: int) -> list[Chat]:
    return [
        Chat(
            *(pk, str(pk), said, people.called(*customer)),
            *(_moment(at), spans.ago(at, now)),
        )
        for pk, said, at, *customer in _chats(limit)(since=now - figures.LIVE)
    ]


@lru_cache(maxsize=32)
def _chats(limit: int) -> Prepared[Conversation]:
    said = Message.objects.filter(
        conversation=OuterRef("pk"), sender=Message.Sender.CUSTOMER
    ).order_by("-seq")
    return Prepared(
        lambda: (
            figures.live(argument("since", DateTimeField()))
            .annotate(said=Subquery(said.values("text")[:1]))
            .exclude(said=None)
            .order_by("-last_message_at")
            .values_list(
                *("pk", "said", "last_message_at"),
                *(f"customer__{part}" for part in ("pk", "name", "kind")),
            )[:limit]
        )
    )
