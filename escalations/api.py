"""The desk's part of the API: what waits, who has it, reply and resolve; no staff notes."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema
from ninja.errors import HttpError
from pydantic import AfterValidator

from chat import frames
from escalations import claim, lists, looks, people, reply
from escalations.capture import Keep, Kept, NotSaid
from escalations.models import Escalation, Question
from memory import services
from memory.api.scope import DESK
from memory.types import told_time

router = Router(tags=["escalations"])

ListName = Literal["unclaimed", "mine", "everyone", "customer", "overdue", "resolved"]


class ReplyIn(Schema):
    text: str = Field(min_length=1, max_length=frames.MAX_TEXT)
    seen_seq: int | None = None  # refuses the reply when the customer said more after it


class KeepIn(Schema):
    scope: Literal["everyone", "later", "customer"]
    seqs: list[int] = Field(min_length=1)
    title: str = Field(pattern=r"\S", max_length=300)
    question_id: int | None = None
    valid_until: Annotated[datetime, AfterValidator(told_time)] | None = None
    review_on: date | None = None


class ResolveIn(Schema):
    """`keep` not told: each run of staff's messages is judged by itself. []: nothing is kept."""

    keep: list[KeepIn] | None = None


@router.get("/escalations", summary="List what waits for a person", description=DESK)
def escalations(
    request: HttpRequest,
    list: ListName = "unclaimed",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    staff = _staff(request)
    found = lists.listed(list, staff=staff, now=timezone.now(), limit=limit)
    # The desk's rows are narrow: these here are fetched whole, all at once.
    whole = _whole().in_bulk([e.pk for e in found.rows])
    rows = [whole[e.pk] for e in found.rows if e.pk in whole]
    topics = looks.sensitive_topics()
    told = [_escalation(e, hidden=looks.sensitive_in(e, topics)) for e in rows]
    return {"list": list, "more": found.more, "escalations": told}


@router.get(
    "/escalations/{int:pk}", summary="Read one escalation with its conversation", description=DESK
)
def escalation(request: HttpRequest, pk: int) -> dict[str, Any]:
    staff = _staff(request)
    found = _whole().get(pk=pk)
    rows = found.conversation.messages.order_by("seq")
    services.looked(
        found.conversation.customer_id,
        looks.sensitive_in(found).values(),
        staff_id=staff.pk,
        now=timezone.now(),
    )
    return _escalation(found, hidden=()) | {
        "rows": [frames.row(m, names=True) for m in rows],
    }


@router.post(
    "/escalations/{int:pk}/claim",
    summary="Claim an escalation; the bot is silent from here on",
    description=DESK,
)
def claim_it(request: HttpRequest, pk: int) -> dict[str, Any]:
    staff = _staff(request)
    return _do(pk, lambda now: claim.claim(pk, staff=staff, now=now))


@router.post(
    "/escalations/{int:pk}/release",
    summary="Put an escalation back into the queue",
    description=DESK,
)
def release(request: HttpRequest, pk: int) -> dict[str, Any]:
    staff = _staff(request)
    return _do(pk, lambda now: claim.release(pk, staff=staff, now=now))


@router.post(
    "/escalations/{int:pk}/reply",
    summary="Write to the customer; nothing of it is kept for others",
    description=DESK,
)
def reply_to(request: HttpRequest, pk: int, payload: ReplyIn) -> dict[str, Any]:
    staff = _staff(request)
    try:
        text = frames.clean(payload.text)
        if not text.strip():
            raise frames.BadFrame("empty", "There is nothing to send yet.")
    except frames.BadFrame as exc:
        raise HttpError(422, str(exc)) from exc
    return _do(
        pk,
        lambda now: reply.send(pk, staff=staff, text=text, seen_seq=payload.seen_seq, now=now),
    )


@router.post(
    "/escalations/{int:pk}/resolve",
    summary="Resolve an escalation, and say what is kept of it",
    description=DESK,
)
def resolve(request: HttpRequest, pk: int, payload: ResolveIn) -> dict[str, Any]:
    staff = _staff(request)
    keeps = (
        None
        if payload.keep is None
        else [
            Keep(
                k.scope,
                tuple(k.seqs),
                k.title,
                k.question_id,
                valid_until=k.valid_until,
                end_told="valid_until" in k.model_fields_set,
                review_on=k.review_on,
            )
            for k in payload.keep
        ]
    )
    kept: list[Kept] = []
    done = _do(pk, lambda now: kept.extend(reply.resolve(pk, staff=staff, now=now, keep=keeps)))
    return done | {"kept": [_kept(k) for k in kept]}


def _kept(kept: Kept) -> dict[str, Any]:
    stored = kept.answer or kept.memory
    return {
        "scope": kept.scope,
        "answer_id": kept.answer and kept.answer.pk,
        "memory_id": kept.memory and kept.memory.pk,
        "status": stored.status if stored else "",
        "reason": kept.answer.share_reason if kept.answer else "",
        "valid_until": stored.valid_until if stored else None,
    }


def _do(pk: int, act: Any) -> dict[str, Any]:
    """Do it, or say in words why not."""
    Escalation.objects.only("pk").get(pk=pk)
    try:
        act(timezone.now())
    except claim.AlreadyClaimed as exc:
        raise HttpError(409, str(exc)) from exc
    except claim.Closed as exc:
        raise HttpError(409, "This was settled meanwhile.") from exc
    except claim.NotYours as exc:
        raise HttpError(409, "Claim it first: only who has it can do this.") from exc
    except claim.MoreAsked as exc:
        raise HttpError(409, "Something urgent came in here. Please read it first.") from exc
    except NotSaid as exc:
        raise HttpError(422, str(exc)) from exc
    except reply.Stale as exc:
        raise HttpError(409, "The customer said more after what you have seen.") from exc
    found = _whole().get(pk=pk)
    return _escalation(found, hidden=looks.sensitive_in(found))


def _whole() -> QuerySet[Escalation]:
    asked = Prefetch("questions", Question.objects.order_by("asked_at", "pk"))
    rows = Escalation.objects.select_related("conversation__customer", "claimed_by")
    return rows.prefetch_related(asked)


def _staff(request: HttpRequest) -> User:
    """Agents' keys reach memory alone."""
    key = request.auth  # type: ignore[attr-defined]
    if key.namespaces:
        raise PermissionDenied("This takes a key of the desk.")
    user: User = key.user
    return user


def _escalation(e: Escalation, *, hidden: Collection[str]) -> dict[str, Any]:
    """`hidden`: labels of the request's facts that are not handed out."""
    return {
        "id": e.pk,
        "conversation": e.conversation_id,
        "customer": {
            "id": e.conversation.customer_id,
            "external_id": e.conversation.customer.external_id,
            "name": e.conversation.customer.name,
        },
        "reason": e.reason,
        "detail": e.detail,
        "request": looks.request_without(e, hidden),
        "questions": [
            {"id": q.pk, "text": q.text, "seq": q.message_seq, "asked_at": q.asked_at}
            for q in e.questions.all()
        ],
        "opened_at": e.opened_at,
        "due_at": e.due_at,
        "promise": e.promise,
        "claimed_by": people.name_of(e.claimed_by) if e.claimed_by else None,
        "claimed_at": e.claimed_at,
        "first_reply_at": e.first_reply_at,
        "closed_at": e.closed_at,
        "resolution": e.resolution,
    }
