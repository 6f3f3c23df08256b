"""The log itself: lock a conversation, append rows with the next seq, hand memory its part."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection

from chat import broadcast
from chat.models import Conversation, Message
from memory import services
from memory.prepared import Prepared, argument

from .transcript import transcript_of

Sender = Message.Sender
Kind = Message.Kind
Handler = Conversation.Handler
ALWAYS = ("last_seq", "last_message_at", "flushed_seq", "answer_due_at")


class Closed(Exception):
    """The conversation is over: a new message starts another one."""


class Overtaken(Exception):
    """Somebody was faster: a person has it, or this turn was taken care of before."""


def locked(conversation_id: int) -> Conversation:
    """Return the conversation, held till the transaction ends."""
    for conversation in _LOCKED.instances(pk=conversation_id):
        return conversation
    raise Conversation.DoesNotExist


_LOCKED = Prepared(
    lambda: Conversation.objects.select_for_update(of=("self",)).filter(pk=argument("pk"))
)


def in_turn(what: str) -> None:
    """Let one transaction at a time make `what`, where there is no row yet that could be locked.

    Taken before any row's lock, or two could wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"chat.{what}"])


def append(
    conversation: Conversation, *, sender: Sender, text: str, now: datetime, **fields: Any
) -> Message:
    """Store the next row of a locked conversation. The caller saves the conversation (`save`)."""
    conversation.last_seq += 1
    conversation.last_message_at = now
    return Message.objects.create(
        conversation=conversation,
        seq=conversation.last_seq,
        sender=sender,
        text=text,
        created_at=now,
        **fields,
    )


def save(conversation: Conversation, *, now: datetime, changed: Mapping[str, Any] = {}) -> None:
    """Write a locked conversation back, tell open tabs, and let memory read what has piled up."""
    for name, value in changed.items():
        setattr(conversation, name, value)
    if conversation.last_seq - conversation.flushed_seq >= settings.CHAT_FLUSH_MESSAGES:
        flush(conversation, now=now)
    conversation.save(update_fields=[*ALWAYS, *changed])
    broadcast.rows_on_commit(conversation.pk, conversation.customer_id)


def flush(conversation: Conversation, *, now: datetime) -> None:
    """Hand all rows since the last flush to memory, in this transaction."""
    first, last = conversation.flushed_seq + 1, conversation.last_seq
    transcript = transcript_of(conversation, after=conversation.flushed_seq)
    conversation.flushed_seq = last
    if transcript.messages:
        services.remember_later(
            transcript,
            customer_id=conversation.customer_id,
            ref=f"conversation:{conversation.pk}:{first}-{last}",
            now=now,
        )
