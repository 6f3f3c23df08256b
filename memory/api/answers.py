"""Stored answers in their very words: one by one, as a list, as a file to keep."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema
from ninja import Status as Reply
from ninja.errors import HttpError

from memory import services
from memory.api.scope import DESK, SHARED, actor, api_key, aware, require_desk, require_shared
from memory.models import Answer
from memory.types import Category, Status

router = Router(tags=["answers"])


class AnswerIn(Schema):
    title: str = Field(pattern=r"\S", max_length=1000)
    parts: list[Annotated[str, Field(pattern=r"\S")]] = Field(min_length=1, max_length=50)
    role: str = Field("", max_length=120)
    author_name: str = Field("", max_length=120)
    valid_until: datetime | None = None
    review_on: date | None = None


class ProcedureIn(Schema):
    """Steps for a how-to; `lesson_id` alone takes what the lesson teaches."""

    title: str = Field("", max_length=1000)
    steps: list[Annotated[str, Field(pattern=r"\S")]] = Field([], max_length=50)
    from_answers: list[int] = Field([], max_length=50)
    lesson_id: int | None = None
    role: str = Field("", max_length=120)
    author_name: str = Field("", max_length=120)


class ApproveIn(Schema):
    title: str = Field("", max_length=1000)
    steps: list[Annotated[str, Field(pattern=r"\S")]] = Field([], max_length=50)
    role: str = Field("", max_length=120)
    author_name: str = Field("", max_length=120)


class RetireIn(Schema):
    reason: str = Field(min_length=1, max_length=300)


@router.get("/answers", summary="List the stored answers, newest first", description=SHARED)
def answers(
    request: HttpRequest,
    search: str = "",
    status: Status = Status.ACTIVE,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> dict[str, Any]:
    require_shared(request)
    rows = Answer.objects.filter(status=status).order_by("-recorded_at", "-pk")
    if search:
        rows = rows.filter(title__icontains=search)
    return {"count": rows.count(), "answers": [_answer(a) for a in rows[offset : offset + limit]]}


@router.get(
    "/answers/export",
    summary="Export every stored answer in every version, byte for byte",
    description=SHARED,
)
def export(request: HttpRequest) -> dict[str, Any]:
    require_shared(request)
    rows = Answer.objects.order_by("pk").iterator(chunk_size=500)
    return {"exported_at": timezone.now(), "answers": [_answer(a) for a in rows]}


@router.get("/answers/{int:answer_id}", summary="Read one stored answer", description=SHARED)
def answer(request: HttpRequest, answer_id: int) -> dict[str, Any]:
    require_shared(request)
    return _answer(Answer.objects.get(pk=answer_id))


@router.post(
    "/answers",
    response={201: dict[str, Any]},
    summary="Add an answer for everyone",
    description=DESK,
)
def add(request: HttpRequest, payload: AnswerIn) -> Any:
    require_desk(request)
    key = api_key(request)
    made = services.add_answer(
        title=payload.title,
        parts=payload.parts,
        by=actor(request),
        staff_id=key.user_id,
        author_name=payload.author_name,
        role=payload.role,
        now=timezone.now(),
        source_ref=f"api:{key.prefix}",
        valid_until=aware(payload.valid_until) if payload.valid_until else None,
        review_on=payload.review_on,
    )
    return Reply(201, _answer(made))


@router.post(
    "/answers/{int:answer_id}/retire", summary="Take an answer out of use", description=DESK
)
def retire(request: HttpRequest, answer_id: int, payload: RetireIn) -> dict[str, Any]:
    require_desk(request)
    row = Answer.objects.get(pk=answer_id)
    services.retire_answer(row.pk, by=actor(request), reason=payload.reason, now=timezone.now())
    row.refresh_from_db()
    return _answer(row)


@router.post(
    "/answers/procedures",
    response={201: dict[str, Any]},
    summary="Propose an ordered how-to",
    description=f"Nobody is given it before staff approve it. {DESK}",
)
def propose(request: HttpRequest, payload: ProcedureIn) -> Any:
    require_desk(request)
    key = api_key(request)
    who: dict[str, Any] = {"by": actor(request), "now": timezone.now()}
    try:
        if payload.lesson_id is not None and not payload.steps:
            made = services.propose_from_lesson(payload.lesson_id, **who)
        else:
            made = services.propose_procedure(
                title=payload.title,
                steps=payload.steps,
                staff_id=key.user_id,
                role=payload.role,
                author_name=payload.author_name,
                from_answers=payload.from_answers,
                lesson_id=payload.lesson_id,
                **who,
            )
    except ValueError as exc:
        raise HttpError(422, f"Not proposed: {exc}.") from exc
    if made is None:
        raise HttpError(409, "The same was proposed before.")
    return Reply(201, _answer(made))


@router.post(
    "/answers/{int:answer_id}/approve",
    summary="Give everyone an answer that waits",
    description="`title` and `steps` change a how-to first; an answer's words stay as they were"
    f" said. {DESK}",
)
def approve(request: HttpRequest, answer_id: int, payload: ApproveIn) -> dict[str, Any]:
    require_desk(request)
    row = Answer.objects.get(pk=answer_id)
    who: dict[str, Any] = {"by": actor(request), "now": timezone.now()}
    try:
        if row.category == Category.LEARNED_PROCEDURE:
            told = {"staff_id": api_key(request).user_id, **payload.dict(), **who}
            return _answer(services.approve_procedure(row.pk, **told))
        return _answer(services.approve_answer(row.pk, **who))
    except Answer.DoesNotExist as exc:
        raise HttpError(409, f"It does not wait: it is {row.status}.") from exc
    except ValueError as exc:
        raise HttpError(422, f"Not approved: {exc}.") from exc


@router.post(
    "/answers/{int:answer_id}/reject", summary="Turn down a how-to that waits", description=DESK
)
def reject(request: HttpRequest, answer_id: int, payload: RetireIn) -> dict[str, Any]:
    require_desk(request)
    row = Answer.objects.get(pk=answer_id)
    try:
        return _answer(
            services.reject_procedure(
                row.pk, by=actor(request), reason=payload.reason, now=timezone.now()
            )
        )
    except Answer.DoesNotExist as exc:
        raise HttpError(409, "No how-to waits under this number.") from exc


def _answer(a: Answer) -> dict[str, Any]:
    fields = ("id", "title", "parts", "text", "category", "status", "author_name", "role")
    more = (
        "owner_id",
        "said_at",
        "recorded_at",
        "review_on",
        "valid_from",
        "valid_until",
        "superseded_by_id",
    )
    return {name: getattr(a, name) for name in (*fields, *more)}
