"""What comes to the desk: one open escalation per conversation, in the queue of its topic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from chat.models import Conversation
from memory.models import Topic

from . import broadcast, promise
from .models import Escalation, Question, Queue

STEM = 5  # letters: "rescheduling" and "reschedule" are one word to a router
SHORTEST = 4  # shorter words name nothing: "the", "day"


def open_or_join(
    conversation: Conversation,
    *,
    question: str,
    question_seq: int | None,
    reason: str,
    now: datetime,
    detail: str = "",
    request: Mapping[str, Any] | None = None,
    match_id: int | None = None,
) -> tuple[Escalation, str, bool]:
    """Open an escalation, or add the question to the open one.

    Also return what the customer is told ("" while a person reads anyway), and if it is new.

    Runs under the lock of the conversation, and updates no escalation that is there: a claim locks
    Escalation → Conversation, and an update here would lock them the other way round.
    """
    waiting = Escalation.objects.open().select_related("queue__calendar")
    escalation = waiting.filter(conversation=conversation).first()
    queue = escalation.queue if escalation else route(question, request or {})
    urgent = reason == Escalation.Reason.EMERGENCY
    told = promise.make(queue, now, reader_zone=conversation.customer.timezone, urgent=urgent)
    text = ""
    if opened := escalation is None:
        text = told.said(conversation)
        escalation = Escalation.objects.create(
            conversation=conversation,
            queue=queue,
            reason=reason,
            detail=detail[:300],
            request=dict(request or {}),
            opened_at=now,
            due_at=told.due_at,
            promise=text[:300],
        )
    else:
        if escalation.claimed_by_id is None:
            text = told.said(conversation, first="queued_too")
        if urgent:
            _raise_on_commit(escalation.pk, now)
    Question.objects.create(
        escalation=escalation,
        text=question,
        message_seq=question_seq,
        reason=reason,
        match_id=match_id,
        asked_at=now,
    )
    broadcast.changed_on_commit()
    return escalation, text, opened


def _raise_on_commit(escalation_id: int, now: datetime) -> None:
    transaction.on_commit(lambda: raise_to_emergency(escalation_id, now), robust=True)


def raise_to_emergency(escalation_id: int, now: datetime) -> None:
    Escalation.objects.open().filter(pk=escalation_id).update(
        reason=Escalation.Reason.EMERGENCY, due_at=now
    )
    broadcast.changed()


def route(question: str, request: Mapping[str, Any]) -> Queue | None:
    """Return the queue whose topic the request or the question names, else the default one."""
    queues = list(Queue.objects.select_related("calendar").prefetch_related("topics"))
    named = request.get("topic")
    for queue in queues:
        topics = queue.topics.all()
        if any(t.key == named for t in topics) or any(names(question, t) for t in topics):
            return queue
    return next((q for q in queues if q.is_default), queues[0] if queues else None)


def names(text: str, topic: Topic) -> bool:
    """Say whether the text uses a word of the topic's label."""
    said = {stem for word in _words(text) if (stem := word[:STEM])}
    return any(word[:STEM] in said for word in _words(topic.label))


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"[^\W\d_]+", text.casefold()) if len(w) >= SHORTEST]
