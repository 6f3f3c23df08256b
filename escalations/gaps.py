"""The gap ledger: the same open question from several customers is one gap, answered once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, DateTimeField, Exists, F, Min, OuterRef, Q, QuerySet
from pgvector.django import CosineDistance

from chat import rehearsal
from memory.models import Answer, AnswerMatch
from memory.prepared import Prepared, argument

from . import rules
from .models import Escalation, Gap, Question

# Questions that an answer for everyone would settle; a personal matter is nobody else's gap.
SHARED_REASONS = (Escalation.Reason.NO_ANSWER, Escalation.Reason.UNSURE)
# Cosine distance up to which two wordings are proposed as one question; staff confirm the list.
NEAR = 0.25


def file(escalation: Escalation, *, now: datetime) -> None:
    """Put the question that has just come under the gap that it repeats, or open one.

    What tells or wants something opens none, but may say in other words what somebody has asked.
    """
    for question in _UNFILED.instances(escalation=escalation.pk, asked_at=now):
        same = nearest(question, _open_questions())
        if same is None and not rehearsal.for_everyone(question.text):
            continue
        gap = same.gap if same else Gap.objects.create(title=question.text, opened_at=now)
        Question.objects.filter(pk=question.pk).update(gap=gap)


def ledger() -> QuerySet[Gap]:
    """What is still to be done: nobody answered it, or not all who wait were told.

    Answered ones first, whose people wait for a click; then the most asked and longest waiting.
    """
    waits = Question.objects.filter(gap=OuterRef("pk"), answer=None, escalation__closed_at=None)
    return (
        Gap.objects.filter(Q(answered_at=None) | Exists(waits))
        .annotate(
            customers=Count("questions__escalation__conversation__customer", distinct=True),
            waiting=Count(
                "questions__escalation",
                filter=Q(questions__escalation__closed_at=None, questions__answer=None),
                distinct=True,
            ),
            since=Min("questions__asked_at"),
        )
        .filter(customers__gt=0)
        .order_by(F("answered_at").asc(nulls_last=True), "-customers", "since", "pk")
    )


def unanswered() -> QuerySet[Gap]:
    """Those of the ledger that still lack an answer, for reports."""
    return ledger().filter(answered_at=None)


def also_waiting(gap_ids: list[int], *, but: int) -> list[Question]:
    """Return other customers' open questions of these gaps, in order of their escalation's key."""
    return list(
        Question.objects.filter(gap_id__in=gap_ids, answer=None, escalation__closed_at=None)
        .exclude(escalation_id=but)
        .select_related("escalation__conversation__customer", "escalation__claimed_by", "gap")
        .order_by("escalation_id", "pk")
    )


def answered(question: Question, answer: Answer, *, now: datetime) -> None:
    """An answer for everyone closes the gap; who waits is told after staff confirmed the list."""
    Question.objects.filter(pk=question.pk).update(answer=answer)
    if question.gap_id is not None:
        Gap.objects.filter(pk=question.gap_id, answered_at=None).update(
            answered_at=now, answer=answer
        )


def nearest(question: Question, among: QuerySet[Question]) -> Question | None:
    """Return the one that asks the same, in the same words or in words that lie near."""
    others = among.exclude(pk=question.pk)
    literally = others.filter(text__iexact=question.text).first()
    if literally is not None:
        return literally
    asked = AnswerMatch.objects.filter(pk=question.match_id or 0).first()
    if asked is None or asked.embedding is None:
        return None
    near = (
        AnswerMatch.objects.filter(
            pk__in=others.values("match_id"),
            embedding_model=asked.embedding_model,
            embedding__isnull=False,
        )
        .annotate(distance=CosineDistance("embedding", asked.embedding))
        .order_by("distance")
        .first()
    )
    if near is None or near.distance > NEAR:
        return None
    return others.filter(match_id=near.pk).first()


def close(gap: Gap, answer: Answer, *, now: datetime) -> None:
    Gap.objects.filter(pk=gap.pk, answered_at=None).update(answered_at=now, answer=answer)


@transaction.atomic
def set_apart(questions: Iterable[Question]) -> None:
    """These mean something else: each is an open question of its own again, and not told."""
    # One that somebody answers this very moment keeps its place.
    still = Question.objects.select_for_update().filter(answer=None)
    for question in still.filter(pk__in=[q.pk for q in questions]).order_by("pk"):
        own = Gap.objects.create(title=question.text, opened_at=question.asked_at)
        Question.objects.filter(pk=question.pk).update(gap=own)


def reopen(escalation: Escalation, *, now: datetime) -> None:
    """The same customer asks the same again: what was resolved before was not."""
    since = now - timedelta(days=rules.current().reopened_within_days)
    resolved = _RESOLVED(hers=escalation.conversation.customer_id, since=since)
    if not resolved:
        return  # as most of the time
    before = Question.objects.filter(pk__in=[pk for (pk,) in resolved])
    for question in escalation.questions.filter(asked_at=now):
        same = nearest(question, before)
        if same is not None:
            Escalation.objects.filter(pk=same.escalation_id, reopened_at=None).update(
                reopened_at=now
            )


_UNFILED = Prepared(
    lambda: Question.objects.filter(
        escalation_id=argument("escalation"),
        asked_at=argument("asked_at", DateTimeField()),
        gap=None,
        reason__in=SHARED_REASONS,
    )
)
_RESOLVED = Prepared(
    lambda: Question.objects.filter(
        escalation__conversation__customer=argument("hers"),
        escalation__resolution="resolved",
        escalation__closed_at__gt=argument("since", DateTimeField()),
    ).values_list("pk")
)


def _open_questions() -> QuerySet[Question]:
    return Question.objects.filter(gap__isnull=False, gap__answered_at=None, answer=None)
