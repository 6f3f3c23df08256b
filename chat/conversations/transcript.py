"""Rows as memory reads them: who said what, and which words were buttons or cards."""

from __future__ import annotations

from django.db.models.fields.json import KT

from chat.models import Conversation, Message, Turn
from memory import services
from memory.prepared import Prepared, argument
from memory.types import Said, Sender, Transcript

from .zone import timezone_of

NO_END = 2**31 - 1  # a seq that none reaches
_CANNED = {Message.Kind.ANSWER, Message.Kind.OFFER, Message.Kind.CHOICE}
_SPEAKERS: dict[str, Sender] = {"customer": "customer", "bot": "bot", "staff": "staff"}


def transcript_of(
    conversation: Conversation, *, after: int = 0, up_to: int | None = None
) -> Transcript:
    """Return the rows with `after` < seq ≤ `up_to`; state lines are nobody's words."""
    last = NO_END if up_to is None else up_to
    rows = _SPOKEN.instances(conversation=conversation.pk, after=after, up_to=last)
    asked = _asked(conversation, after=after)
    said = tuple(_said(m, asked.get(m.seq, "")) for m in rows if m.sender in _SPEAKERS)
    return Transcript(messages=said, timezone=timezone_of(conversation))


def earlier(conversation: Conversation, *, before_seq: int, limit: int = 6) -> list[Message]:
    """Return the last rows before `before_seq` that somebody said, oldest first."""
    rows = (
        conversation.messages.filter(seq__lt=before_seq, seq__gt=conversation.bot_since_seq)
        .exclude(kind=Message.Kind.STATE)
        .order_by("-seq")[:limit]
    )
    return list(reversed(rows))


def _asked(conversation: Conversation, *, after: int) -> dict[int, str]:
    """Return the topic of each gap question by the seq of the row that asked it."""
    asked = _ASKED(conversation=conversation.pk, after=after)
    return {seq: topic or "" for seq, topic in asked if seq}


# The topic alone: a whole receipt holds some hundred numbers.
_ASKED = Prepared(
    lambda: Turn.objects.filter(
        conversation_id=argument("conversation"), outcome="asked", reply_seq__gt=argument("after")
    ).values_list("reply_seq", KT("trace__topic"))
)
_SPOKEN = Prepared(
    lambda: (
        Message.objects.filter(
            conversation_id=argument("conversation"),
            seq__gt=argument("after"),
            seq__lte=argument("up_to"),
        )
        .exclude(kind=Message.Kind.STATE)
        .order_by("seq")
    )
)


def _said(message: Message, asks_topic: str) -> Said:
    canned = "canned" in message.meta or message.kind in _CANNED
    name = ", ".join(filter(None, (message.author_name, message.role)))
    return Said(
        seq=message.seq,
        sender=_SPEAKERS[message.sender],
        text=services.legible(message.text),
        at=message.created_at,
        name=name,
        asks_topic=asks_topic,
        offered=message.text if canned else "",
    )
