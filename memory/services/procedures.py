"""Ordered how-tos: proposed from kept answers or a validated lesson, approved by staff, then given
word for word like any answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from memory.lifecycle import validate
from memory.lifecycle.locks import in_turn
from memory.lifecycle.steps import steps_of
from memory.lifecycle.write import record_event
from memory.models import Answer, Lesson
from memory.types import Category, Status

from .answers import add_answer, approve_answer

__all__ = [
    "approve_procedure",
    "propose_from_answer",
    "propose_from_lesson",
    "propose_procedure",
    "reject_procedure",
    "steps_of",
]

PROCEDURE = Category.LEARNED_PROCEDURE


@transaction.atomic
def propose_procedure(
    *,
    title: str,
    steps: Sequence[str],
    by: str,
    now: datetime,
    staff_id: int | None = None,
    role: str = "",
    author_name: str = "",
    owner_id: int | None = None,
    valid_until: datetime | None = None,
    from_answers: Sequence[int] = (),
    lesson_id: int | None = None,
) -> Answer | None:
    """Put an ordered how-to before staff; nobody is given it till one of them approved it.

    None where the same was proposed before, also where it was turned down. Raises ValueError.
    """
    in_turn("answers")  # before any row of them: the order of locks, and two at once are one
    made_of = [f"answer:{pk}" for pk in from_answers]
    made_of += [f"lesson:{lesson_id}"] if lesson_id is not None else []
    same = Answer.objects.filter(category=PROCEDURE, parts=list(steps), title=title.strip())
    if same.exists():
        return None
    return add_answer(
        title=title,
        parts=steps,
        by=by,
        now=now,
        staff_id=staff_id,
        role=role,
        author_name=author_name,
        owner_id=owner_id,
        category=PROCEDURE,
        source_ref=",".join(made_of),
        share_reason=_why(from_answers, lesson_id),
        valid_until=valid_until,
        pending=True,
    )


def _why(from_answers: Sequence[int], lesson_id: int | None) -> str:
    if lesson_id is not None:
        return "a lesson that its evidence bears out"
    return "the kept words are steps in an order" if from_answers else "written as steps"


def propose_from_answer(answer_id: int, *, by: str, now: datetime) -> Answer | None:
    """Propose a how-to where a kept answer is one: its own words, one step a part."""
    answer = Answer.objects.get(pk=answer_id)
    steps = steps_of(answer.parts)
    if len(steps) < 2 or answer.category == PROCEDURE or answer.status != Status.ACTIVE:
        return None
    return propose_procedure(
        title=answer.title,
        steps=steps,
        by=by,
        now=now,
        staff_id=answer.author_id,
        role=answer.role,
        author_name=answer.author_name,
        owner_id=answer.owner_id,
        valid_until=answer.valid_until,
        from_answers=[answer.pk],
    )


def propose_from_lesson(lesson_id: int, *, by: str, now: datetime) -> Answer | None:
    """Propose what a lesson teaches. Raises ValueError unless its evidence bears it out."""
    lesson = Lesson.objects.get(pk=lesson_id)
    verdict = validate.check_lesson(lesson.text, lesson.evidence)
    if lesson.status != Status.ACTIVE or not verdict.ok:
        raise ValueError(verdict.reason or f"the lesson is {lesson.status}")
    return propose_procedure(
        title=lesson.about, steps=[lesson.text], by=by, now=now, lesson_id=lesson.pk
    )


@transaction.atomic
def approve_procedure(
    answer_id: int,
    *,
    by: str,
    now: datetime,
    staff_id: int | None = None,
    title: str = "",
    steps: Sequence[str] = (),
    role: str = "",
    author_name: str = "",
) -> Answer:
    """Give it to everyone. What staff changed are their words, under their name.

    Raises Answer.DoesNotExist, and ValueError where a lesson's subject still stands for a question.
    """
    in_turn("answers")
    waits = Answer.objects.select_for_update().filter(status=Status.PENDING, category=PROCEDURE)
    answer = waits.get(pk=answer_id)
    if steps and list(steps) != answer.parts:
        answer.parts = list(steps)
        answer.author_id, answer.role, answer.author_name = staff_id, role, author_name
    asked = title.strip() or answer.title
    if answer.source_ref.startswith("lesson:") and asked == answer.title:
        raise ValueError("write the question that it answers: customers see it")
    answer.title, answer.share_reason = asked, "approved by staff"
    if not answer.author_name and staff_id is not None:  # a lesson has no author of its own
        answer.author_id, answer.role, answer.author_name = staff_id, role, author_name
    answer.owner_id = answer.owner_id or staff_id
    answer.save()
    return approve_answer(answer.pk, by=by, now=now)


@transaction.atomic
def reject_procedure(answer_id: int, *, by: str, now: datetime, reason: str = "") -> Answer:
    """Turn it down: the same is not proposed again. Raises Answer.DoesNotExist."""
    in_turn("answers")
    waits = Answer.objects.select_for_update().filter(status=Status.PENDING, category=PROCEDURE)
    answer = waits.get(pk=answer_id)
    answer.status, answer.ended_at, answer.needs_review = Status.REJECTED, now, False
    answer.save(update_fields=["status", "ended_at", "needs_review"])
    record_event("answer.rejected", at=now, actor=by, answer_id=answer.pk, reason=reason)
    return answer
