"""What of a customer lies in chat: erased with her, and part of her export."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from chat import conversations
from memory import services

from .models import Conversation, Message, VisitorToken


def register() -> None:
    services.register(
        "chat",
        eraser=erase,
        exporter=export,
        merger=merge,
        forgetter=conversations.remove_words,
        models=[
            "chat.Conversation",
            "chat.Message",
            "chat.Turn",
            "chat.VisitorToken",
        ],
    )


def erase(customer_id: int) -> dict[str, int]:
    """Delete the conversations with every row and receipt, and what browsers hold of her."""
    counts: dict[str, int] = {}
    for rows in (
        Conversation.objects.filter(customer_id=customer_id),
        VisitorToken.objects.filter(customer_id=customer_id),
    ):
        for label, number in rows.delete()[1].items():
            counts[label] = counts.get(label, 0) + number
    return counts


def merge(visitor_id: int, into_id: int, now: datetime) -> None:
    """Chats end and go along, but for one that a person still owes an answer in.

    Browsers do not: a token proves who holds it for a visitor alone.
    """
    VisitorToken.objects.filter(customer_id=visitor_id).delete()
    alone = Conversation.objects.open().of_customer(visitor_id).filter(handler="bot")
    for pk in alone.order_by("pk").values_list("pk", flat=True):
        conversations.close(pk, reason="identified", now=now)
    Conversation.objects.of_customer(visitor_id).update(customer_id=into_id)


def export(customer_id: int) -> dict[str, Any]:
    """Every conversation, word for word. Receipts of turns are how the business works, not hers."""
    held = Conversation.objects.of_customer(customer_id).prefetch_related("messages")
    return {
        "conversations": [
            {
                "started_at": c.started_at,
                "closed_at": c.closed_at,
                "reply_email": c.reply_email,
                "rating": c.rating,
                "rating_words": c.rating_words,
                "messages": [_said(m) for m in sorted(c.messages.all(), key=lambda m: m.seq)],
            }
            for c in held.order_by("pk")
        ]
    }


def _said(m: Message) -> dict[str, Any]:
    """A person's answer of several messages is told message by message, as it was shown."""
    said = {"seq": m.seq, "at": m.created_at, "from": m.sender, "text": m.text}
    return said | ({"parts": m.meta["parts"]} if m.meta.get("parts") else {})
