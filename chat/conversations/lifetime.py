"""How a conversation starts and ends."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from chat import wordings
from chat.models import Conversation
from memory.prepared import Prepared, argument

from .log import Handler, Kind, Sender, append, flush, in_turn, locked, save
from .zone import business, business_clock, clock_of, customer_clock

__all__ = [
    "business",
    "business_clock",
    "clock_of",
    "close",
    "close_idle",
    "current",
    "current_or_new",
    "customer_clock",
    "latest",
    "of_customer",
    "start",
]


@transaction.atomic
def start(customer_id: int, *, now: datetime, verified: bool) -> Conversation:
    """Open a conversation; the customer's other ones that only the bot has are closed.

    One that she ended while a person still owes her an answer goes on instead: it was promised to
    be found there.
    """
    owed = Conversation.objects.of_customer(customer_id).filter(verified=verified)
    owed = owed.exclude(closed_at=None).exclude(handler=Handler.BOT).exclude(close_reason="erased")
    if (waiting := owed.select_for_update(no_key=True).order_by("-pk").first()) is not None:
        save(waiting, now=now, changed={"closed_at": None, "close_reason": ""})
        return waiting
    idle = Conversation.objects.open().of_customer(customer_id).filter(handler=Handler.BOT)
    for pk in idle.order_by("pk").values_list("pk", flat=True):
        close(pk, reason="replaced", now=now)
    return Conversation.objects.create(
        customer_id=customer_id, started_at=now, last_message_at=now, verified=verified
    )


def current(customer_id: int, *, now: datetime) -> Conversation | None:
    """Return the customer's open conversation.

    One that nobody wrote in for long is as good as closed.
    """
    newest = next(iter(_OPEN.instances(hers=customer_id)), None)
    if newest and newest.handler == Handler.BOT and newest.last_message_at < _idle_since(now):
        close(newest.pk, reason="idle", now=now)
        return None
    return newest


def current_or_new(customer_id: int, *, now: datetime, verified: bool) -> Conversation:
    """Return the open conversation or start one: one alone, however many tabs speak at once."""
    if (open_one := current(customer_id, now=now)) is not None:
        return open_one
    with transaction.atomic():
        in_turn(f"start:{customer_id}")
        return current(customer_id, now=now) or start(customer_id, now=now, verified=verified)


def latest(customer_id: int) -> Conversation | None:
    """Return the conversation whose rows a page shows, open or not."""
    return next(iter(_LATEST.instances(hers=customer_id)), None)


_OPEN = Prepared(
    lambda: Conversation.objects.open().of_customer(argument("hers")).order_by("-pk")[:1]
)
_LATEST = Prepared(  # PostgreSQL sorts NULL (open) first when descending
    lambda: Conversation.objects.of_customer(argument("hers")).order_by("-closed_at", "-pk")[:1]
)


def of_customer(conversation_id: int, customer_id: int) -> Conversation | None:
    """Return the conversation if it is that customer's own."""
    return Conversation.objects.of_customer(customer_id).filter(pk=conversation_id).first()


@transaction.atomic
def close(conversation_id: int, *, reason: str, now: datetime) -> bool:
    """End it and hand memory the rest, in one transaction. False: it was closed before."""
    conversation = locked(conversation_id)
    if conversation.closed_at:
        return False
    if conversation.last_seq:
        append(
            conversation,
            sender=Sender.SYSTEM,
            kind=Kind.STATE,
            text=wordings.say(f"closed_{reason}", conversation.pk, conversation.last_seq),
            meta={"state": "closed"},
            now=conversation.last_message_at if reason in {"idle", "waiting"} else now,
        )
    flush(conversation, now=now)
    ended = {
        "closed_at": now,
        "close_reason": reason,
        "working_memory": [],
        "asked_topic": "",
        "answer_due_at": None,
    }
    save(conversation, now=now, changed=ended)
    return True


def close_idle(*, now: datetime) -> int:
    """Close what nobody wrote in for long, whoever has it; say how many.

    What waits for a person has longer, and its answer opens it again.
    """
    quiet = Conversation.objects.open().filter(answer_due_at=None)
    alone = quiet.filter(handler=Handler.BOT, last_message_at__lt=_idle_since(now))
    put_aside = now - timedelta(hours=settings.CHAT_WAITING_HOURS)
    waiting = quiet.exclude(handler=Handler.BOT).filter(last_message_at__lt=put_aside)
    return sum(
        close(pk, reason=reason, now=now)
        for rows, reason in ((alone, "idle"), (waiting, "waiting"))
        for pk in list(rows.order_by("pk").values_list("pk", flat=True))
    )


def _idle_since(now: datetime) -> datetime:
    return now - timedelta(minutes=settings.CHAT_IDLE_MINUTES)
