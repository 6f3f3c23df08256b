"""What is grave about a customer, beside a stored answer that somebody is about to send her."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial

from django.contrib.auth.models import User

from chat import conversations
from chat.models import Conversation
from memory import services
from memory.models import Answer
from memory.types import AnswerCandidate, Fact

from . import looks
from .models import Question


def touched(
    conversation: Conversation, question: str, answers: Sequence[AnswerCandidate], *, now: datetime
) -> dict[int, tuple[Fact, ...]]:
    """Return by answer the facts that its words, or those of the question, touch."""
    grave = _grave(conversation.customer_id, conversation, now)
    return {a.answer_id: grave.touched(question, [a]) for a in answers}


def candidate(answer_id: int) -> AnswerCandidate | None:
    """Return an answer as `touched_by` compares it, for however many customers."""
    answer = Answer.objects.filter(pk=answer_id).first()
    return services.as_candidate(answer) if answer else None


def touched_by(
    answer: AnswerCandidate | None,
    conversation: Conversation,
    question: Question | None,
    *,
    now: datetime,
) -> tuple[Fact, ...]:
    """The same for one answer that is about to be sent; nothing for one that is there no more."""
    if answer is None:
        return ()
    text = question.text if question else ""
    return touched(conversation, text, [answer], now=now)[answer.answer_id]


def touched_by_words(
    text: str,
    customer_id: int,
    conversation: Conversation | None,
    question: Question | None,
    *,
    now: datetime,
) -> tuple[Fact, ...]:
    """The same for what somebody has typed."""
    typed = AnswerCandidate(
        answer_id=0, title="", parts=(text,), role="", author="", said_on=now, score=1.0
    )
    asked = question.text if question else ""
    return _grave(customer_id, conversation, now).touched(asked, [typed])


def _grave(customer_id: int, conversation: Conversation | None, now: datetime) -> services.Grave:
    chat = partial(conversations.transcript_of, conversation) if conversation else None
    return services.Grave(customer_id, now=now, chat=chat)


def labels(facts: Iterable[Fact]) -> str:
    return ", ".join(sorted({f.label for f in facts}))


def record(facts: Iterable[Fact], *, staff: User, now: datetime) -> None:
    """They are shown beside the answer, so that nobody overlooks them: a look like any other."""
    seen = looks.looking(staff, now=now)
    shown: dict[int, set[str]] = {}
    for f in facts:
        if f.sensitive and f.topic and (f.customer_id, f.topic) not in seen:
            shown.setdefault(f.customer_id, set()).add(f.topic)
    for customer_id, topics in sorted(shown.items()):
        services.looked(customer_id, topics, staff_id=staff.pk, now=now)
