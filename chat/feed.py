"""What a customer's tab, page or program sees of a conversation.

Rows, state, and nothing internal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import JSONField, Q

from chat import conversations, frames, wordings
from chat.identity import Who
from chat.models import Business, Conversation, Message
from memory.models import Customer
from memory.prepared import Prepared, argument

MOST = 500  # rows at once: a longer log is read in several goes


@dataclass(frozen=True, slots=True)
class Feed:
    """`rows`: as `frames.row` gives them, after the seq asked for; `state`: the state frame."""

    conversation: Conversation | None
    rows: list[dict[str, Any]]
    state: dict[str, Any]


def since(
    customer_id: int | None,
    *,
    conversation_id: int | None = None,
    after: int = 0,
    shown: Mapping[str, Any] | None = None,
) -> Feed:
    """Return what the customer has not seen of the conversation that a tab shows.

    `after` counts only in `conversation_id`: where another has begun, its rows come from the first.
    `shown`: the state that the tab has. Told of one message several times, a tab looks as often:
    where nothing is new, that costs one query.
    """
    conversation = conversations.latest(customer_id) if customer_id is not None else None
    if conversation is not None and shown and conversation.last_seq <= after:
        now = _shows(conversation)
        if now == {key: shown.get(key) for key in now} and conversation.pk == conversation_id:
            return Feed(conversation, [], dict(shown))
    business = conversations.business()
    if conversation is None:
        return Feed(None, [], state(None, business))
    if conversation.pk != conversation_id:
        after = 0
    found = _FRESH.instances(conversation=conversation.pk, after=after, removed=str(after))
    rows = [frames.row(m, names=business.show_staff_names) for m in found]
    return Feed(conversation, rows, state(conversation, business))


_FRESH = Prepared(  # also rows from which words were removed since
    lambda: Message.objects.filter(
        Q(seq__gt=argument("after")) | Q(meta__removed__gt=argument("removed", JSONField())),
        conversation_id=argument("conversation"),
    ).order_by("seq")[:MOST]
)


def state(conversation: Conversation | None, business: Business) -> dict[str, Any]:
    closed = conversation is not None and conversation.closed_at is not None
    handler = conversation.handler if conversation else Conversation.Handler.BOT
    pk = conversation.pk if conversation else 0
    hours = ""
    if business.hours_in_words:
        hours = wordings.say("hours", pk, 0, hours=business.hours_in_words)
    key = "state_closed" if closed else f"state_{handler}"
    line = wordings.say(key, pk, 0, hours=hours)
    return {"type": "state", **_shows(conversation), "open": not closed, "line": line}


def _shows(conversation: Conversation | None) -> dict[str, Any]:
    """What the state of a conversation depends on."""
    if conversation is None:
        return {"conversation": None, "handler": str(Conversation.Handler.BOT), "closed": False}
    return {
        "conversation": conversation.pk,
        "handler": str(conversation.handler),
        "closed": conversation.closed_at is not None,
    }


def open_for(who: Who, *, client_id: str, now: datetime) -> int:
    """Return the conversation that a new message belongs to; a late retry goes where it went."""
    if known := conversations.find(who.customer_id, client_id):
        return known.conversation_id
    return conversations.current_or_new(who.customer_id, now=now, verified=who.verified).pk


def may_leave_email(conversation: Conversation | None) -> bool:
    """A visitor has no other way to hear of an answer; a named customer's address is known."""
    return (
        conversation is not None
        and not conversation.reply_email
        and conversation.customer.kind == Customer.Kind.VISITOR
    )
