"""The gap ledger: the same open question from several customers is one gap, answered once."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet
from pgvector.django import CosineDistance

from memory.models import Answer, AnswerMatch

from .models import Escalation, Gap, Question

# Questions that an answer for everyone would settle; a personal matter is nobody else's gap.
SHARED_REASONS = (Escalation.Reason.NO_ANSWER, Escalation.Reason.UNSURE)
# Cosine distance up to which two wordings are proposed as one question; staff confirm the list.
NEAR = 0.25


def file(escalation: Escalation, *, now: datetime) -> None:
    """Put the escalation's new questions under the gap that they repeat, or open one."""
    for question in escalation.questions.filter(gap=None, reason__in=SHARED_REASONS):
        gap = _same(question) or Gap.objects.create(title=question.text, opened_at=now)
        Question.objects.filter(pk=question.pk).update(gap=gap)


def ledger() -> QuerySet[Gap]:
    """Open gaps, the most asked and longest waiting first."""
    return (
        Gap.objects.filter(answered_at=None)
        .annotate(
            customers=Count("questions__escalation__conversation__customer", distinct=True),
            waiting=Count(
                "questions__escalation",
                filter=Q(questions__escalation__closed_at=None),
                distinct=True,
            ),
            since=Min("questions__asked_at"),
        )
        .filter(customers__gt=0)
        .order_by("-customers", "since", "pk")
    )


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


def _same(question: Question) -> Gap | None:
    open_questions = Question.objects.filter(
        gap__isnull=False, gap__answered_at=None, answer=None
    ).exclude(pk=question.pk)
    literally = open_questions.filter(text__iexact=question.text).first()
    if literally is not None:
        return literally.gap
    asked = AnswerMatch.objects.filter(pk=question.match_id or 0).first()
    if asked is None or asked.embedding is None:
        return None
    nearest = (
        AnswerMatch.objects.filter(
            pk__in=open_questions.values("match_id"),
            embedding_model=asked.embedding_model,
            embedding__isnull=False,
        )
        .annotate(distance=CosineDistance("embedding", asked.embedding))
        .order_by("distance")
        .first()
    )
    if nearest is None or nearest.distance > NEAR:
        return None
    found = open_questions.filter(match_id=nearest.pk).first()
    return found.gap if found else None


def close(gap: Gap, answer: Answer, *, now: datetime) -> None:
    Gap.objects.filter(pk=gap.pk, answered_at=None).update(answered_at=now, answer=answer)
