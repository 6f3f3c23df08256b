"""More than one agent: what each may read, what becomes everybody's, what goes when a task ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from memory.lifecycle.write import record_event
from memory.models import Lesson, Memory, StoreItem
from memory.types import AnswerCandidate, Fact, Status

from . import asking, reading
from .lessons import lessons_for
from .stock import is_verified

Namespace = tuple[str, ...]
SHARED: Namespace = ("shared",)
BOT, KNOWLEDGE_AGENT, STAFF_COPILOT = "bot", "knowledge agent", "staff copilot"


class NotValidated(Exception):
    """Nothing outside the agent bears the lesson out, and no person has approved it."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What one agent may read. `customer_facts`: of the one customer it works for, never
    another's."""

    namespaces: tuple[Namespace, ...]
    customer_facts: bool = False
    pending_facts: bool = False
    answers: bool = False
    instructions: str = ""  # the kind of admins' instructions it follows


SIGHT = {
    BOT: Sight(
        (SHARED, ("agents", BOT)), customer_facts=True, answers=True, instructions="guidance"
    ),
    KNOWLEDGE_AGENT: Sight(
        (SHARED, ("agents", KNOWLEDGE_AGENT)),
        customer_facts=True,
        pending_facts=True,
        instructions="knowledge",
    ),
    STAFF_COPILOT: Sight((SHARED, ("agents", STAFF_COPILOT)), answers=True),
}


def agent_namespace(agent: str) -> Namespace:
    return ("agents", agent)


def task_namespace(task_id: str) -> Namespace:
    return ("tasks", task_id)


def sight(agent: str) -> Sight:
    """Any other agent sees what is shared and what is its own."""
    return SIGHT.get(agent) or Sight((SHARED, agent_namespace(agent)))


@dataclass(frozen=True, slots=True)
class Seen:
    """What one agent has before it for one message."""

    lessons: tuple[Lesson, ...] = ()
    facts: tuple[Fact, ...] = ()
    pending: tuple[str, ...] = ()  # sentences that wait for a person
    answers: tuple[AnswerCandidate, ...] = ()


def seen_by(
    agent: str, message: str, *, customer_id: int | None, about: str, now: datetime
) -> Seen:
    """Put together what `agent` may read, and nothing else."""
    may = sight(agent)
    facts: list[Fact] = []
    pending: list[str] = []
    verified = is_verified(customer_id)  # a visitor may be anybody: nothing sensitive for those
    if customer_id is not None and may.customer_facts:
        found = reading.recall(customer_id, message, now=now, gate=False, verified=verified)
        facts = list(found.facts)
    if customer_id is not None and may.pending_facts:
        waiting = Memory.objects.for_customer(customer_id).filter(status=Status.PENDING)
        waiting = waiting if verified else waiting.filter(sensitive=False)
        pending = list(waiting.order_by("pk").values_list("text", flat=True))
    return Seen(
        lessons=tuple(lessons_for(about, namespaces=may.namespaces)),
        facts=tuple(facts),
        pending=tuple(pending),
        answers=tuple(asking.similar_answers(message, now=now) if may.answers else ()),
    )


@transaction.atomic
def promote(lesson_id: int, *, by: str, now: datetime, approved_by: int | None = None) -> Lesson:
    """Copy a lesson to what all agents read. Raises NotValidated.

    It takes a person's approval, or evidence from outside the agent: conclusions are shared, not
    noise, and never a task's scratch.
    """
    lesson = Lesson.objects.select_for_update().get(pk=lesson_id)
    if tuple(lesson.namespace) == SHARED:
        return lesson
    if approved_by is None:
        _insist_on_evidence(lesson)
    shared, made = Lesson.objects.get_or_create(
        namespace=list(SHARED),
        about=lesson.about,
        text=lesson.text,
        status=Status.ACTIVE,
        defaults={
            "conditions": lesson.conditions,
            "evidence": {**lesson.evidence, "promoted_from": lesson.pk},
            "approved_by_id": approved_by,
            "created_at": now,
            "confirmed_at": now,
            "times_seen": lesson.times_seen,
        },
    )
    record_event(
        "lesson.promoted",
        at=now,
        actor=by,
        reason="approved by a person" if approved_by else "its evidence bears it out",
        after={"lesson": shared.pk, "from": lesson.pk, "new": made},
    )
    return shared


# What somebody or something other than the agent itself said; `learn_lesson` has checked it.
OUTSIDE = ("status", "schema_error", "tool_result", "corrected_by", "rating")


def _insist_on_evidence(lesson: Lesson) -> None:
    if lesson.namespace[0] == "tasks":
        raise NotValidated("A task's scratch is never shared: learn it in the agent's namespace.")
    if lesson.status != Status.ACTIVE:
        raise NotValidated(f"The lesson is {lesson.status}.")
    if not any(lesson.evidence.get(kind) not in (None, "", [], {}) for kind in OUTSIDE):
        raise NotValidated("Nothing outside the agent bears this out: a person has to approve it.")


@transaction.atomic
def end_task(task_id: str, *, by: str, now: datetime) -> int:
    """Delete the task's scratch state; return how many rows went."""
    prefix = list(task_namespace(task_id))
    items, _ = StoreItem.objects.filter(namespace__0_2=prefix).delete()
    lessons, _ = Lesson.objects.filter(namespace__0_2=prefix).delete()
    record_event("task.ended", at=now, actor=by, after={"items": items, "lessons": lessons})
    return items + lessons
