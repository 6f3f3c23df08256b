"""What is to be checked at the desk: memory's own queue, and chats that did not help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.urls import reverse

from chat.models import Conversation, Message
from memory import services
from memory.models import Answer, Customer, Memory
from memory.services.waiting import Waiting

from . import looks
from .figures import not_helped

SHOWN = 50  # cards on the page; the rest comes up as these are decided
FROM_CHAT = re.compile(r"conversation:(\d+):")


@dataclass(frozen=True, slots=True)
class Card:
    """`waiting` is none for a chat that did not help."""

    kind: str
    pk: int
    customer: Customer | None
    label: str
    needed: int
    since: datetime
    hidden: bool = False
    source: str = ""  # where it was said
    waiting: Waiting | None = None
    chat: Conversation | None = None
    used: Answer | None = None  # what was given in that chat


def cards(*, staff: User, now: datetime) -> list[Card]:
    """The most needed of last week first, then the oldest."""
    seen = looks.looking(staff, now=now)
    found = [_card(w, seen) for w in services.to_review(now)]
    chats = list(not_helped().select_related("customer").order_by("-last_message_at")[:SHOWN])
    used = used_in(chats)
    found += [_of_chat(c, used.get(c.pk)) for c in chats]
    return sorted(found, key=lambda c: (-c.needed, c.since))[:SHOWN]


def look(kind: str, pk: int, *, staff: User, now: datetime) -> None:
    """Write down that somebody looks at a card; it is shown for some minutes."""
    for w in services.to_review(now):
        if (w.kind, w.pk) == (kind, pk):
            services.looked_at(w.memories, staff_id=staff.pk, now=now)


def _card(w: Waiting, seen: set[tuple[int, str]]) -> Card:
    customer, label = None, ""
    if w.memories:
        m = w.memories[-1]
        customer = m.customer if w.kind == "memory" else w.subject.customer  # type: ignore[union-attr]
        label = _label(m)
    return Card(
        kind=w.kind,
        pk=w.pk,
        customer=customer,
        label=label,
        needed=w.needed,
        since=w.since,
        hidden=any(m.sensitive and (m.customer_id, _key(m)) not in seen for m in w.memories),
        source=_said_in(w.made_from),
        waiting=w,
    )


def _of_chat(c: Conversation, used: Answer | None) -> Card:
    return Card(
        kind="chat",
        pk=c.pk,
        customer=c.customer,
        label="",
        needed=0,
        since=c.last_message_at,
        source=reverse("escalations:chat", args=[c.pk]),
        chat=c,
        used=used,
    )


def used_in(chats: Sequence[Conversation]) -> dict[int, Answer]:
    """Return by conversation the stored answer that was given last in it."""
    given = Message.objects.filter(conversation__in=chats, kind=Message.Kind.ANSWER)
    last = given.order_by("conversation", "-seq").distinct("conversation")
    by_chat = {m.conversation_id: m.meta.get("answer_id") for m in last}
    answers = Answer.objects.in_bulk([pk for pk in by_chat.values() if pk])
    return {chat: answers[pk] for chat, pk in by_chat.items() if pk in answers}


def _said_in(m: Memory | None) -> str:
    """The conversation at the message itself; what a program told of has none here."""
    found = FROM_CHAT.match(m.episode.ref) if m and m.episode else None
    if m is None or found is None:
        return ""
    page = reverse("escalations:chat", args=[int(found.group(1))])
    return f"{page}#said-{m.source_seq}" if m.source_seq else page


def _label(m: Memory) -> str:
    return m.topic.label if m.topic else m.get_category_display()


def _key(m: Memory) -> str:
    return m.topic.key if m.topic else m.category
