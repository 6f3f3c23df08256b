"""What the bot does: reply if it still may, note things for the moment, step back for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from chat.models import Conversation, Message, Turn
from memory.prepared import Prepared, argument

from .log import Handler, Kind, Overtaken, Sender, append, locked, save


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row that is still to get its seq."""

    text: str
    kind: Kind = Kind.MESSAGE
    meta: dict[str, Any] = field(default_factory=dict)
    role: str = ""
    author_name: str = ""
    sender: Sender = Sender.BOT


@transaction.atomic
def record_bot_reply(
    conversation_id: int,
    *,
    answering_seq: int,
    rows: Sequence[NewRow],
    outcome: str,
    trace: dict[str, Any],
    now: datetime,
    asked_topic: str = "",
    reason: str = "",
) -> list[Message] | None:
    """Store the reply to `answering_seq` if the bot may still speak and nothing newer was said.

    None: a person has it, the customer said more, or the turn was handed over meanwhile. The
    draft is dropped.
    """
    conversation = locked(conversation_id)
    if not _may_speak(conversation, answering_seq):
        record_turn(conversation_id, answering_seq, outcome="dropped", trace=trace, now=now)
        return None
    stored = [_append(conversation, row, now) for row in rows]
    save(conversation, now=now, changed={"answer_due_at": None, "asked_topic": asked_topic})
    record_turn(
        conversation_id,
        answering_seq,
        outcome=outcome,
        trace=trace,
        reply_seq=stored[-1].seq if stored else None,
        reason=reason,
        now=now,
    )
    return stored


@transaction.atomic
def record_emergency(conversation_id: int, *, text: str, now: datetime) -> Message:
    """Post the business's emergency text, whoever has the conversation."""
    conversation = locked(conversation_id)
    message = _append(conversation, NewRow(text, meta={"emergency": True}), now)
    save(conversation, now=now)
    return message


@transaction.atomic
def hand_to_waiting(
    conversation_id: int,
    *,
    rows: Sequence[NewRow] = (),
    awaited: bool,
    answering_seq: int,
    now: datetime,
) -> Conversation:
    """Let a person have it: BOT becomes WAITING, no automatic reply is due any more.

    `awaited`: a turn or the sweep hands over, and only one of them may. Raises Overtaken, to undo
    all.
    """
    conversation = locked(conversation_id)
    if conversation.closed_at or (awaited and not _may_speak(conversation, answering_seq)):
        raise Overtaken
    for row in rows:
        _append(conversation, row, now)
    changed: dict[str, Any] = {"answer_due_at": None, "asked_topic": ""}
    if conversation.handler == Handler.BOT:
        changed["handler"] = Handler.WAITING
    save(conversation, now=now, changed=changed)
    return conversation


@transaction.atomic
def note_for_now(conversation_id: int, candidates: Sequence[dict[str, Any]]) -> None:
    """Add to the conversation's working memory.

    A newer word on a topic is read before an older one.
    """
    conversation = locked(conversation_id)
    conversation.working_memory = [*conversation.working_memory, *candidates][-40:]
    conversation.save(update_fields=["working_memory"])


@transaction.atomic
def drop_noted(conversation_id: int, topics: set[str] | None) -> list[dict[str, Any]]:
    """Take what is noted about `topics` (None: all) out of working memory, and return it."""
    conversation = locked(conversation_id)
    noted = conversation.working_memory
    kept = [c for c in noted if topics is not None and c.get("topic") not in topics]
    conversation.working_memory = kept
    conversation.save(update_fields=["working_memory"])
    return [c for c in noted if c not in kept]


def record_turn(
    conversation_id: int,
    question_seq: int,
    *,
    outcome: str,
    trace: dict[str, Any],
    now: datetime,
    reply_seq: int | None = None,
    reason: str = "",
) -> Turn:
    return Turn.objects.create(
        conversation_id=conversation_id,
        question_seq=question_seq,
        reply_seq=reply_seq,
        outcome=outcome,
        reason=reason[:200],
        trace=trace,
        created_at=now,
    )


def _may_speak(conversation: Conversation, answering_seq: int) -> bool:
    if conversation.handler == Handler.STAFF or conversation.closed_at:
        return False
    if conversation.answer_due_at is None:  # the sweep, or another turn, took care of it
        return False
    return not _NEWER(conversation=conversation.pk, seq=answering_seq)


_NEWER = Prepared(
    lambda: Message.objects.filter(
        conversation_id=argument("conversation"), sender=Sender.CUSTOMER, seq__gt=argument("seq")
    ).values_list("pk")[:1]
)


def _append(conversation: Conversation, row: NewRow, now: datetime) -> Message:
    return append(
        conversation,
        sender=row.sender,
        kind=row.kind,
        text=row.text,
        meta=row.meta,
        role=row.role,
        author_name=row.author_name,
        now=now,
    )
