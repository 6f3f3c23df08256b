"""What staff and the desk do: take over, reply, give back, post a quiet line."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from chat import wordings
from chat.models import Conversation, Message
from memory.models import Answer

from .log import Handler, Kind, Sender, append, locked, save


class Stale(Exception):
    """The customer said more after what the writer had seen."""


def post_staff_reply(
    conversation_id: int,
    *,
    text: str,
    staff: AbstractUser,
    now: datetime,
    seen_seq: int | None = None,
    role: str = "",
    name: str = "",
) -> Message:
    """Store staff's words, letter for letter. A closed conversation opens again. Raises Stale."""
    return _post(
        conversation_id, staff=staff, now=now, seen_seq=seen_seq, name=name, role=role, text=text
    )


@transaction.atomic
def _post(
    conversation_id: int,
    *,
    staff: AbstractUser,
    now: datetime,
    seen_seq: int | None,
    name: str,
    **fields: Any,
) -> Message:
    conversation = locked(conversation_id)
    if seen_seq is not None:
        newer = conversation.messages.filter(sender=Sender.CUSTOMER, seq__gt=seen_seq)
        if newer.exists():
            raise Stale
    message = append(
        conversation,
        sender=Sender.STAFF,
        author=staff,
        author_name=name or staff.get_full_name() or staff.get_username(),
        now=now,
        **fields,
    )
    save(
        conversation,
        now=now,
        changed={"closed_at": None, "close_reason": "", "answer_due_at": None},
    )
    return message


def post_answer(
    conversation_id: int,
    *,
    answer_id: int,
    staff: AbstractUser,
    now: datetime,
    seen_seq: int | None = None,
    role: str = "",
    name: str = "",
) -> Message:
    """Send a stored answer in its very words, as its card, by a member of staff. Raises Stale."""
    answer = Answer.objects.active(now).get(pk=answer_id)
    return _post(
        conversation_id,
        staff=staff,
        now=now,
        seen_seq=seen_seq,
        name=name,
        role=role,
        text=answer.text,
        kind=Kind.ANSWER,
        meta={
            "answer_id": answer.pk,
            "title": answer.title,
            "role": answer.role,
            "author": answer.author_name,
            "said_on": answer.said_at.isoformat(),
            "parts": answer.parts,
        },
    )


@transaction.atomic
def post_state(conversation_id: int, *, state: str, text: str, now: datetime) -> Message:
    """Post a quiet line in the log: queued, claimed, returned …"""
    return add_state(locked(conversation_id), state=state, text=text, now=now)


def add_state(conversation: Conversation, *, state: str, text: str, now: datetime) -> Message:
    """The same, where the caller holds the conversation already."""
    message = append(
        conversation,
        sender=Sender.SYSTEM,
        kind=Kind.STATE,
        text=text,
        meta={"state": state},
        now=now,
    )
    save(conversation, now=now)
    return message


@transaction.atomic
def take_over(
    conversation_id: int, *, staff: AbstractUser, now: datetime, who: str = ""
) -> Message:
    """Give the conversation to a person. A bot reply in flight is dropped by what this writes.

    `who`: how the customer is told of them ("Sam, dental hygienist").
    """
    conversation = locked(conversation_id)
    message = append(
        conversation,
        sender=Sender.SYSTEM,
        kind=Kind.STATE,
        text=wordings.say(
            "claimed",
            conversation.pk,
            conversation.last_seq,
            who=who or wordings.say("who_team", 0, 0),
        ),
        author=staff,
        meta={"state": "claimed"},
        now=now,
    )
    changed = {"handler": Handler.STAFF, "answer_due_at": None, "asked_topic": ""}
    save(conversation, now=now, changed=changed)
    return message


@transaction.atomic
def wait(conversation_id: int, *, now: datetime | None = None) -> None:
    """A person put it back in line.

    The bot answers what it knows again, and somebody is still to come.
    """
    conversation = locked(conversation_id)
    changed = {"handler": Handler.WAITING, "answer_due_at": None}
    save(conversation, now=now or conversation.last_message_at, changed=changed)


@transaction.atomic
def release(conversation_id: int, *, now: datetime, state: str) -> Message:
    """Give it back to the bot, which starts afresh: what was said before opens nothing again.

    `state`: returned or resolved.
    """
    conversation = locked(conversation_id)
    message = append(
        conversation,
        sender=Sender.SYSTEM,
        kind=Kind.STATE,
        text=wordings.say(state, conversation.pk, conversation.last_seq),
        meta={"state": state},
        now=now,
    )
    changed = {"handler": Handler.BOT, "bot_since_seq": conversation.last_seq, "asked_topic": ""}
    save(conversation, now=now, changed=changed)
    return message
