"""The keeping step: what of staff's words is remembered, for whom, and as the answer to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from chat import conversations
from chat.models import Message
from memory import services
from memory.likeness import normalise
from memory.models import Answer, Memory
from memory.types import AnswerCandidate, ShareVerdict, Status

from . import gaps
from .models import Escalation, Question
from .querysets import GRAVE

Scope = Literal["everyone", "later", "customer"]
# "later": for everyone, but nobody is given it before somebody looked at it again.
SCOPES: tuple[Scope, ...] = ("everyone", "later", "customer")
# From this likeness on a stored answer is shown side by side before another one is kept beside it.
SAME_QUESTION = 0.8
# What brings a person and asks nothing that a kept answer could stand under.
NO_QUESTION = (Escalation.Reason.ASKED, *GRAVE)


class NotSaid(Exception):
    """What is to be kept must be staff's own words since the claim."""

    def __init__(self) -> None:
        super().__init__("None of these messages was written by staff since the claim.")


@dataclass(frozen=True, slots=True)
class Part:
    """One staff message since the claim, with what is proposed for it."""

    message: Message
    verdict: ShareVerdict

    @property
    def choice(self) -> Literal["everyone", "later", "customer", "none"]:
        """What is preselected: what is not whole by itself waits for another look."""
        return "later" if self.verdict.pending else self.verdict.choice


@dataclass(frozen=True, slots=True)
class Step:
    parts: list[Part]
    questions: list[Question]
    title: str
    question_id: int | None  # what the words answer, where that is clear
    rival: AnswerCandidate | None  # what is stored already for this question, in other words
    zone: str = "UTC"  # days are meant there

    @property
    def until(self) -> date | None:
        """The last day of what is bound to now, by its own words: the first to end, of several."""
        ends = [p.verdict.valid_until for p in self.parts if p.verdict.valid_until]
        if not ends:
            return None
        return (min(ends) - timedelta(seconds=1)).astimezone(ZoneInfo(self.zone)).date()

    def same_title(self, title: str) -> bool:
        """Two answers cannot stand under one question."""
        return self.rival is not None and normalise(self.rival.title) == normalise(title)


@dataclass(frozen=True, slots=True)
class Keep:
    """The ticked messages of one choice: one answer of several messages."""

    scope: Scope
    seqs: tuple[int, ...]
    title: str
    question_id: int | None = None
    replaces: int | None = None  # an answer that these words take the place of
    valid_until: datetime | None = None
    # Who keeps it saw the proposed end, and None is "without end"; else the words decide.
    end_told: bool = False
    review_on: date | None = None
    owner_id: int | None = None  # who looks at it again then; None: whose words they are


@dataclass(frozen=True, slots=True)
class Kept:
    scope: str
    answer: Answer | None = None
    memory: Memory | None = None
    question: Question | None = field(default=None)


def propose(escalation: Escalation, *, now: datetime, title: str = "") -> Step:
    """Return each staff message since the claim with its preselected choice and the reason.

    `title`: as staff edited it, else the question that the words answer.
    """
    questions = list(escalation.questions.order_by("asked_at", "pk"))
    question = _answered(questions, [m.text for m in staff_messages(escalation)])
    title = title or (question.text if question else "")
    parts = _parts(escalation, title, now)
    return Step(
        parts=parts,
        questions=questions,
        title=title,
        question_id=question.pk if question else None,
        rival=rival_of(title, [p.message.text for p in parts], now=now) if title else None,
        zone=_zone(escalation),
    )


def _answered(questions: Sequence[Question], said: Sequence[str]) -> Question | None:
    """Return the question that the words answer: of several only one that asks, if one is clear.

    Else the only one for which a stored answer was sent: what was written besides belongs to it.
    """
    if len(questions) == 1:
        return questions[0]
    asked = [q for q in questions if q.reason not in NO_QUESTION and services.asks(q.text)]
    best = services.answered_by(said, [q.text for q in asked])
    if best is not None:
        return asked[best]
    sent = [q for q in asked if q.answer_id is not None]
    return sent[0] if len(sent) == 1 else None


def _parts(escalation: Escalation, title: str, now: datetime) -> list[Part]:
    """Each message by itself, unless it leans on the one before it, which goes with it."""
    parts: list[Part] = []
    run: list[Message] = []  # what stands for everyone, and what followed it at once
    for message in staff_messages(escalation):
        verdict = _verdict(escalation, [message], title, now)
        if verdict.pending and run and message.seq == run[-1].seq + 1:
            both = _verdict(escalation, [*run, message], title, now)
            if both.choice == "everyone" and not both.pending:
                verdict = replace(both, reason="goes with the message before it")
        whole = verdict.choice == "everyone" and not verdict.pending
        run = [*run, message] if whole else []
        parts.append(Part(message, verdict))
    return parts


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
    near = [
        k for k in services.similar_answers(title, now=now, limit=3) if k.score >= SAME_QUESTION
    ]
    near.sort(key=lambda known: normalise(known.title) != normalise(title))
    return next((k for k in near[:1] if list(k.parts) != list(texts)), None)


def keep_all(
    escalation: Escalation, keeps: Sequence[Keep], *, staff: User, now: datetime
) -> list[Kept]:
    """Store each choice as one answer, letter for letter. Inside the transaction that resolves.

    Raises NotSaid.
    """
    kept = [
        _keep(escalation, keep, staff=staff, now=now)
        for keep in keeps
        if keep.seqs and keep.title.strip()
    ]
    _reflect(kept, now)
    return kept


def judge_all(escalation: Escalation, *, now: datetime) -> list[Kept]:
    """Without a keeping step: each run of staff's messages since the claim is judged by itself."""
    written = {m.seq: m for m in staff_messages(escalation)}
    told = conversations.transcript_of(escalation.conversation)
    said = tuple(m for m in told.messages if m.sender != "staff" or m.seq in written)
    stored = services.capture_staff_words(
        replace(told, messages=said, timezone=_zone(escalation)),
        customer_id=escalation.conversation.customer_id,
        now=now,
        source_ref=f"conversation:{escalation.conversation_id}",
        authors={seq: m.author_id for seq, m in written.items() if m.author_id is not None},
    )
    kept = [_judged(escalation, one, now) for one in stored]
    _reflect(kept, now)
    return kept


def _reflect(kept: Sequence[Kept], now: datetime) -> None:
    """What staff answered was right, where the bot had something else for it. After all answers:
    the customer is locked last."""
    for one in kept:
        asked = one.question and one.question.match_id
        if asked and one.answer is not None and one.answer.status == Status.ACTIVE:
            services.helped(asked, event="milestone", answer_id=one.answer.pk, now=now)


def _judged(escalation: Escalation, stored: Answer | Memory, now: datetime) -> Kept:
    if isinstance(stored, Memory):
        return Kept("customer", memory=stored)
    if stored.status != Status.ACTIVE:
        return Kept("later", answer=stored)
    waiting = list(escalation.questions.filter(answer=None).order_by("asked_at", "pk"))
    meant = [q for q in waiting if services.title_of(q.text) == stored.title] or waiting
    question = meant[0] if len(meant) == 1 else None
    if question is not None:
        gaps.answered(question, stored, now=now)
    return Kept("everyone", answer=stored, question=question)


def _keep(escalation: Escalation, keep: Keep, *, staff: User, now: datetime) -> Kept:
    messages = [m for m in staff_messages(escalation) if m.seq in keep.seqs]
    if not messages:
        raise NotSaid
    question = escalation.questions.filter(pk=keep.question_id or 0).first()
    last = messages[-1]
    verdict = _verdict(escalation, messages, keep.title, now)
    until = keep.valid_until if keep.end_told else keep.valid_until or verdict.valid_until
    stored = services.capture_answer(
        title=keep.title,
        parts=[m.text for m in messages],
        scope="customer" if keep.scope == "customer" else "everyone",
        customer_id=escalation.conversation.customer_id,
        staff_id=(last.author or staff).pk,
        author_name=last.author_name,
        role=last.role,
        now=now,
        source_ref=_source(escalation, messages),
        explicit=True,
        pending=keep.scope == "later",
        replaces=keep.replaces if keep.scope == "everyone" else None,
        verdict=verdict,
        valid_until=until,
        review_on=keep.review_on,
        owner_id=keep.owner_id,
        asked=question.text if question else "",
    )
    if isinstance(stored, Memory):
        return Kept(keep.scope, memory=stored, question=question)
    if stored is None:
        return Kept(keep.scope, question=question)
    if keep.scope == "everyone":
        services.propose_from_answer(stored.pk, by="system", now=now)
    if question is not None and stored.status == Status.ACTIVE:
        gaps.answered(question, stored, now=now)
    return Kept(keep.scope, answer=stored, question=question)


def _verdict(
    escalation: Escalation, messages: Sequence[Message], title: str, now: datetime
) -> ShareVerdict:
    """ "Today" is the day on which it was written; what is over by now is not proposed."""
    verdict = services.share_verdict(
        [m.text for m in messages],
        title=title,
        customer_id=escalation.conversation.customer_id,
        now=messages[-1].created_at,
        timezone=_zone(escalation),
        said=_said(escalation),
    )
    if verdict.valid_until is not None and verdict.valid_until <= now:
        return ShareVerdict("none", "it was true for a time that is over")
    return verdict


def _said(escalation: Escalation) -> list[str]:
    """The customer's own words: what is in them must reach nobody else by way of the answer."""
    rows = Message.objects.filter(
        conversation_id=escalation.conversation_id, sender=Message.Sender.CUSTOMER
    )
    return list(rows.order_by("-seq").values_list("text", flat=True)[:40])


def _zone(escalation: Escalation) -> str:
    queue = escalation.queue
    return queue.calendar.timezone if queue else conversations.business_clock().key


def _source(escalation: Escalation, messages: Sequence[Message]) -> str:
    seqs = ",".join(str(m.seq) for m in messages)
    return f"conversation:{escalation.conversation_id}:{seqs}"[:120]
