"""The keeping step: what of staff's words is remembered, for whom, and as the answer to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from django.contrib.auth.models import User

from chat.models import Message
from memory import services
from memory.models import Answer, Memory
from memory.types import AnswerCandidate, ShareVerdict

from . import gaps
from .models import Escalation, Question

SCOPES: tuple[Literal["everyone", "customer"], ...] = ("everyone", "customer")
# From this likeness on a stored answer is shown side by side before another one is kept beside it.
SAME_QUESTION = 0.8


class NotSaid(Exception):
    """What is to be kept must be staff's own words since the claim."""

    def __init__(self) -> None:
        super().__init__("None of these messages was written by staff since the claim.")


@dataclass(frozen=True, slots=True)
class Part:
    """One staff message since the claim, with what is proposed for it."""

    message: Message
    verdict: ShareVerdict


@dataclass(frozen=True, slots=True)
class Step:
    parts: list[Part]
    questions: list[Question]
    title: str
    question_id: int | None
    rival: AnswerCandidate | None  # what is stored already for this question, in other words


@dataclass(frozen=True, slots=True)
class Keep:
    """The ticked messages of one choice: one answer of several messages."""

    scope: Literal["everyone", "customer"]
    seqs: tuple[int, ...]
    title: str
    question_id: int | None = None
    replaces: int | None = None  # an answer that these words take the place of
    valid_until: datetime | None = None
    review_on: date | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    scope: str
    answer: Answer | None = None
    memory: Memory | None = None
    question: Question | None = field(default=None)


def propose(escalation: Escalation, *, now: datetime) -> Step:
    """Return each staff message since the claim with its preselected choice and the reason."""
    questions = list(escalation.questions.order_by("asked_at", "pk"))
    open_first = [q for q in questions if q.answer_id is None] or questions
    title = open_first[0].text if open_first else ""
    parts = [
        Part(message, _verdict(escalation, message, title, now))
        for message in staff_messages(escalation)
    ]
    return Step(
        parts=parts,
        questions=questions,
        title=title,
        question_id=open_first[0].pk if open_first else None,
        rival=rival_of(title, [p.message.text for p in parts], now=now) if title else None,
    )


def staff_messages(escalation: Escalation) -> list[Message]:
    """Staff's own words since the claim, oldest first; a stored answer sent again is not new."""
    return list(
        Message.objects.filter(
            conversation_id=escalation.conversation_id,
            sender=Message.Sender.STAFF,
            kind=Message.Kind.MESSAGE,
            seq__gt=escalation.claimed_seq,
        ).order_by("seq")
    )


def rival_of(title: str, texts: Sequence[str], *, now: datetime) -> AnswerCandidate | None:
    """Return the stored answer to the same question, if one says it in other words."""
    for known in services.similar_answers(title, now=now, limit=1):
        same_words = list(known.parts) == list(texts)
        if known.score >= SAME_QUESTION and not same_words:
            return known
    return None


def keep_all(
    escalation: Escalation, keeps: Sequence[Keep], *, staff: User, now: datetime
) -> list[Kept]:
    """Store each choice as one answer, letter for letter. Inside the transaction that resolves.

    Raises NotSaid.
    """
    return [
        _keep(escalation, keep, staff=staff, now=now)
        for keep in keeps
        if keep.seqs and keep.title.strip()
    ]


def _keep(escalation: Escalation, keep: Keep, *, staff: User, now: datetime) -> Kept:
    messages = [m for m in staff_messages(escalation) if m.seq in keep.seqs]
    if not messages:
        raise NotSaid
    question = escalation.questions.filter(pk=keep.question_id or 0).first()
    parts = [m.text for m in messages]
    last = messages[-1]
    author = last.author or staff
    if keep.replaces is not None and keep.scope == "everyone":
        answer = services.revise_answer(
            keep.replaces, title=keep.title, parts=parts, by=f"staff:{staff.pk}", now=now
        )
        if question is not None:
            services.confirm_wording(
                answer.pk,
                asked=question.text,
                staff_id=staff.pk,
                customer_id=escalation.conversation.customer_id,
                now=now,
            )
    else:
        stored = services.capture_answer(
            title=keep.title,
            parts=parts,
            scope=keep.scope,
            customer_id=escalation.conversation.customer_id,
            staff_id=author.pk,
            author_name=last.author_name,
            role=last.role,
            now=now,
            source_ref=_source(escalation, messages),
            explicit=True,
            valid_until=keep.valid_until,
            review_on=keep.review_on,
            asked=question.text if question else "",
        )
        if isinstance(stored, Memory):
            return Kept(keep.scope, memory=stored, question=question)
        if stored is None:
            return Kept(keep.scope, question=question)
        answer = stored
    if question is not None:
        gaps.answered(question, answer, now=now)
    return Kept(keep.scope, answer=answer, question=question)


def _verdict(escalation: Escalation, message: Message, title: str, now: datetime) -> ShareVerdict:
    return services.share_verdict(
        [message.text],
        title=title,
        customer_id=escalation.conversation.customer_id,
        now=now,
        timezone=_zone(escalation),
        said=_said(escalation),
    )


def _said(escalation: Escalation) -> list[str]:
    """The customer's own words: what is in them must reach nobody else by way of the answer."""
    rows = Message.objects.filter(
        conversation_id=escalation.conversation_id, sender=Message.Sender.CUSTOMER
    )
    return list(rows.order_by("-seq").values_list("text", flat=True)[:40])


def _zone(escalation: Escalation) -> str:
    return escalation.queue.calendar.timezone if escalation.queue else "UTC"


def _source(escalation: Escalation, messages: Sequence[Message]) -> str:
    seqs = ",".join(str(m.seq) for m in messages)
    return f"conversation:{escalation.conversation_id}:{seqs}"[:120]
