"""What comes to the desk: one open escalation per conversation, in the queue of its topic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from chat.models import Conversation
from memory import services
from memory.kept import Kept
from memory.models import Topic
from memory.prepared import Prepared, argument, related

from . import broadcast, promise
from .models import Escalation, Question, Queue
from .querysets import GRAVE, EscalationQuerySet

STEM = 5  # letters: "rescheduling" and "reschedule" are one word to a router
MEANT = 0.5  # likeness to a topic's example from which a question is of that topic
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
    topics: Sequence[str] = (),
) -> tuple[Escalation, str, bool]:
    """Open an escalation, or add the question to the open one.

    Also return what the customer is told ("" while a person reads anyway), and if it is new.

    Runs under the lock of the conversation, and updates no escalation that is there: a claim locks
    Escalation → Conversation, and an update here would lock them the other way round.
    """
    urgent = reason in GRAVE
    escalation = next(iter(_OPEN.instances(conversation=conversation.pk)), None)
    if opened := escalation is None:
        queue = route(question, request or {}, topics)
        told = _promise(conversation, queue, now, urgent=urgent)
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
        text = _said_to_wait(escalation, conversation, now, urgent=urgent)
        if urgent:
            _raise_on_commit(escalation.pk, reason, now)
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


def _said_to_wait(
    escalation: Escalation, conversation: Conversation, now: datetime, *, urgent: bool
) -> str:
    """What is said to a further question: nothing while a person reads anyway."""
    if escalation.claimed_by_id is not None:
        return ""
    queue = next((q for q in _queues() if q.pk == escalation.queue_id), None)
    told = _promise(conversation, queue, now, urgent=urgent)
    return told.said(conversation, first="queued_too")


def _promise(
    conversation: Conversation, queue: Queue | None, now: datetime, *, urgent: bool
) -> promise.Promise:
    hers = related(conversation, "customer").timezone
    return promise.make(queue, now, reader_zone=hers, urgent=urgent)


_OPEN = Prepared(
    lambda: Escalation.objects.open().filter(conversation_id=argument("conversation"))[:1]
)
_queues: Kept[tuple[Queue, ...]] = Kept(
    lambda: tuple(
        Queue.objects.select_related("calendar").prefetch_related("topics").order_by("pk")
    ),
    *("escalations_queue", "escalations_queue_topics", "escalations_calendar", "memory_topic"),
)


def _raise_on_commit(escalation_id: int, reason: str, now: datetime) -> None:
    transaction.on_commit(lambda: raise_to(reason, escalation_id, now), robust=True)


def raise_to(reason: str, escalation_id: int, now: datetime) -> None:
    """The graver reason stands, and it is due at once; what is as grave already keeps its time."""
    # The detail told of the reason that stood before.
    raised = (
        lower_than(reason).filter(pk=escalation_id).update(reason=reason, detail="", due_at=now)
    )
    if raised:
        broadcast.changed()


def lower_than(reason: str) -> EscalationQuerySet:
    """Return what is open for a reason less grave than this one."""
    return Escalation.objects.open().exclude(reason__in=GRAVE[: GRAVE.index(reason) + 1])


def route(question: str, request: Mapping[str, Any], topics: Sequence[str] = ()) -> Queue | None:
    """Return the queue of the topic that the request carries, the turn found, or the words mean.

    Where none of them leads to a queue, the default one has it.
    """
    queues = _queues()
    by_topic = {topic.key: queue for queue in reversed(queues) for topic in queue.topics.all()}
    named = [str(request.get("topic") or ""), *topics]
    found = next((by_topic[key] for key in named if key in by_topic), None)
    if found is None and by_topic and question.strip():
        found = _by_words(question, queues) or _by_meaning(question, by_topic)
    return found or next((q for q in queues if q.is_default), queues[0] if queues else None)


def _by_words(question: str, queues: Sequence[Queue]) -> Queue | None:
    return next((q for q in queues if any(names(question, t) for t in q.topics.all())), None)


def _by_meaning(question: str, by_topic: Mapping[str, Queue]) -> Queue | None:
    """The topic whose examples or description the question is nearest to, if it is near."""
    near = services.topics_near(question)
    best = max(near, key=lambda key: near[key], default="")
    return by_topic.get(best) if near.get(best, 0.0) >= MEANT else None


def names(text: str, topic: Topic) -> bool:
    """Say whether the text uses a word of the topic's label."""
    said = {stem for word in _words(text) if (stem := word[:STEM])}
    return any(word[:STEM] in said for word in _words(topic.label))


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"[^\W\d_]+", text.casefold()) if len(w) >= SHORTEST]
