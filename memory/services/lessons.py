"""What an agent learnt from an event, and what worked with one customer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from memory import pipeline, reflection, secrets
from memory.lifecycle import experience, locks, reflect, validate, write
from memory.models import Answer, AnswerMatch, Lesson, Memory
from memory.types import Status

from .reading import Hers

Event = Literal["milestone", "accepted"]


def learn_lesson(
    about: str,
    *,
    text: str,
    conditions: dict[str, Any],
    evidence: dict[str, Any],
    namespace: Sequence[str],
    now: datetime,
) -> Lesson | None:
    """Keep a lesson that its evidence bears out; None if it does not. The failure is not kept.

    `evidence`: "status", "schema_error", "tool_result", "corrected_by" or "rating". The same
    lesson again only counts once more.
    """
    verdict = validate.check_lesson(text, evidence)
    if not verdict.ok:
        write.record_event("lesson.refused", at=now, actor=pipeline.AGENT, reason=verdict.reason)
        return None
    same = Lesson.objects.filter(
        namespace=list(namespace), about=about, text=text, conditions=conditions
    )
    lesson = same.exclude(status=Status.REJECTED).first()
    if lesson is not None:
        lesson.times_seen += 1
        lesson.confirmed_at = now
        lesson.save(update_fields=["times_seen", "confirmed_at"])
        return lesson
    if same.exists():
        return None  # a person turned it down
    lesson = Lesson.objects.create(
        namespace=list(namespace),
        about=about,
        text=text,
        conditions=conditions,
        evidence=evidence,
        created_at=now,
        confirmed_at=now,
    )
    write.record_event("lesson.created", at=now, actor=pipeline.AGENT, reason=about)
    return lesson


def learn_from_tool(
    tool: str,
    *,
    status: int | None = None,
    schema_error: str = "",
    namespace: Sequence[str],
    now: datetime,
) -> Lesson | None:
    """A tool call failed: keep what to do next time, as far as its status says it."""
    learnt = reflect.from_tool(reflect.ToolFailure(tool, status, schema_error))
    if learnt is None:
        return None
    return learn_lesson(
        learnt.about,
        text=learnt.text,
        conditions=learnt.conditions,
        evidence=learnt.evidence,
        namespace=namespace,
        now=now,
    )


def lessons_for(about: str, *, namespaces: Iterable[Sequence[str]]) -> list[Lesson]:
    """Active lessons of exactly these namespaces, the most often seen first."""
    wanted = [list(n) for n in namespaces]
    rows = Lesson.objects.filter(about=about, status=Status.ACTIVE, namespace__in=wanted)
    return list(rows.order_by("-times_seen", "-confirmed_at"))


def feedback(
    customer_id: int,
    *,
    kind: str,
    tried: str,
    worked: str,
    evidence: dict[str, Any],
    now: datetime,
) -> Memory | None:
    """A reply was rejected, and another one accepted: keep what worked, for this customer."""
    found = reflect.from_feedback(kind, tried=tried, worked=worked, evidence=evidence)
    if found is None:
        return None
    with locks.customer_locked(customer_id):
        made = experience.keep(
            customer_id,
            secrets.blank(found.text),
            evidence=found.evidence,
            reason=kind,
            actor=pipeline.AGENT,
            now=now,
        )
    pipeline.embed_missing(customer_id)
    return made


def helped(match_id: int, *, event: Event, now: datetime, answer_id: int | None = None) -> bool:
    """An answer was right for this question of a customer's; say whether something is learnt of it.

    `answer_id`: the answer, where it is not the one that the question was met with.
    """
    match = AnswerMatch.objects.filter(pk=match_id).exclude(customer=None).first()
    if match is None or match.customer_id is None:
        return False
    given = Answer.objects.filter(pk=answer_id).first() if answer_id else None
    worked = given or experience.worked_for(match)
    if worked is None:
        return False
    with locks.customer_locked(match.customer_id):
        made = reflection.on_answer(match, worked, event=event, actor=pipeline.AGENT, now=now)
    return made is not None


def tried_with(hers: Hers) -> bool:
    """Whether something like the message that `hers` was read with was tried with her before."""
    rows = (r for r in hers.rows if r.kind == experience.KIND)
    return any(r.likeness is not None and r.likeness >= experience.LIKE for r in rows)
