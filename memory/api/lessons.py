"""What agents learn: in their own namespace first, shared once it holds."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema
from ninja import Status as Reply
from ninja.errors import HttpError

from memory import services
from memory.api.scope import actor, customer_of, require
from memory.models import Lesson

router = Router(tags=["lessons"])

NAMESPACE = Field(min_length=1, max_length=8)


class LessonIn(Schema):
    namespace: list[str] = NAMESPACE
    about: str = Field(min_length=1, max_length=120)
    text: str = Field(min_length=1, max_length=2000)
    conditions: dict[str, Any] = {}
    evidence: dict[str, Any]


class ContextIn(Schema):
    message: str = Field(min_length=1, max_length=10_000)
    about: str = Field("", max_length=120)  # "tool:order_status"
    customer_id: int | None = None


@router.post(
    "/agents/{agent}/context",
    summary="Read what that agent may use for this message",
    description="Takes an agent's key with the namespace agents/{agent}, and with that customer's"
    " where one is named.",
)
def context(request: HttpRequest, agent: str, payload: ContextIn) -> dict[str, Any]:
    require(request, "agents", agent)
    if payload.customer_id is not None:
        customer_of(request, payload.customer_id)
    seen = services.seen_by(
        agent,
        payload.message,
        customer_id=payload.customer_id,
        about=payload.about,
        now=timezone.now(),
    )
    return {
        "lessons": [_lesson(x) for x in seen.lessons],
        "facts": [{"topic": f.topic, "text": f.text, "value": f.value} for f in seen.facts],
        "pending": list(seen.pending),
        "answers": [{"id": a.answer_id, "title": a.title, "parts": a.parts} for a in seen.answers],
    }


@router.get(
    "/lessons",
    summary="List the lessons about a thing in one namespace",
    description="`namespace`: segments with a slash between them, e.g. agents/billing. Takes an"
    " agent's key with it.",
)
def lessons(request: HttpRequest, about: str, namespace: str) -> dict[str, Any]:
    segments = tuple(namespace.split("/"))
    require(request, *segments)
    return {"lessons": [_lesson(x) for x in services.lessons_for(about, namespaces=[segments])]}


@router.post(
    "/lessons",
    response={201: dict[str, Any]},
    summary="Keep a lesson with its evidence",
    description="Takes an agent's key with the lesson's namespace.",
)
def learn(request: HttpRequest, payload: LessonIn) -> Any:
    require(request, *payload.namespace)
    if payload.namespace[0] == "shared":
        raise HttpError(403, "Learn it in your own namespace, then promote it.")
    if payload.namespace[0] == "customers":  # erasing her would leave it behind
        raise HttpError(
            422, "A lesson holds nothing of a customer: remember it of the customer instead."
        )
    made = services.learn_lesson(
        payload.about,
        text=payload.text,
        conditions=payload.conditions,
        evidence=payload.evidence,
        namespace=tuple(payload.namespace),
        now=timezone.now(),
    )
    if made is None:
        raise HttpError(422, "The evidence does not bear this lesson out: nothing was kept.")
    return Reply(201, _lesson(made))


@router.post(
    "/lessons/{int:lesson_id}/promote",
    summary="Share a lesson that its evidence proves",
    description="Takes an agent's key with the namespace shared and the lesson's own.",
)
def promote(request: HttpRequest, lesson_id: int) -> dict[str, Any]:
    require(request, "shared")
    lesson = Lesson.objects.get(pk=lesson_id)
    require(request, *lesson.namespace)
    try:
        shared = services.promote(lesson.pk, by=actor(request), now=timezone.now())
    except services.NotValidated as exc:
        raise HttpError(409, str(exc)) from exc
    return _lesson(shared)


@router.delete(
    "/tasks/{task_id}",
    summary="End a task and delete its scratch state",
    description="Takes an agent's key with the namespace tasks/{task_id}.",
)
def end_task(request: HttpRequest, task_id: str) -> dict[str, Any]:
    require(request, "tasks", task_id)
    gone = services.end_task(task_id, by=actor(request), now=timezone.now())
    return {"deleted": gone}


def _lesson(x: Lesson) -> dict[str, Any]:
    fields = ("id", "namespace", "about", "text", "conditions", "evidence", "status", "times_seen")
    return {name: getattr(x, name) for name in (*fields, "created_at", "confirmed_at")}
