"""Conversations over HTTP, for programs of the business: with a staff key, never a customer's."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema
from ninja.errors import HttpError
from ninja.security import HttpBearer

from chat import conversations, feed, frames
from chat.events import Failed
from chat.frames import BadFrame, Say
from chat.models import Conversation, Message
from chat.turns import in_db_thread, take_turn
from memory import services
from memory.api.scope import DESK
from memory.models import ApiKey

router = Router(tags=["conversations"])
MOST = 200


class KeyInThread(HttpBearer):
    """The API's key, for the one address that waits for a turn and so runs in the loop."""

    async def authenticate(self, request: HttpRequest, token: str) -> ApiKey | None:
        return await in_db_thread(services.key_for)(token, now=timezone.now())


class RowOut(Schema):
    seq: int
    kind: str
    sender: str
    text: str
    at: str
    role: str
    name: str
    meta: dict[str, Any]
    client_id: str | None = None


class ConversationOut(Schema):
    id: int
    customer: int
    handler: str
    started_at: datetime
    last_message_at: datetime
    closed_at: datetime | None
    last_seq: int
    rating: int | None


class StartIn(Schema):
    external_id: str = Field(min_length=1, max_length=200)  # the business's own id of the customer
    name: str = Field("", max_length=200)


class SayIn(Schema):
    client_id: str = Field(min_length=1, max_length=frames.MAX_ID)  # the same again is stored once
    text: str


class CloseIn(Schema):
    reason: Literal["ended"] = "ended"


class Filter(Schema):
    handler: Literal["bot", "waiting", "staff"] | None = None
    customer: int | None = None
    closed: bool | None = None
    before: int | None = None  # an id: the page before it
    limit: int = Field(50, ge=1, le=MOST)


@router.get(
    "/conversations",
    response=list[ConversationOut],
    summary="List conversations, newest first",
    description=DESK,
)
def listed(request: HttpRequest, by: Query[Filter]) -> list[dict[str, Any]]:
    _desk_key(request)
    rows = Conversation.objects.order_by("-pk")
    if by.handler:
        rows = rows.filter(handler=by.handler)
    if by.customer is not None:
        rows = rows.of_customer(by.customer)
    if by.closed is not None:
        rows = rows.filter(closed_at__isnull=not by.closed)
    if by.before is not None:
        rows = rows.filter(pk__lt=by.before)
    return [_out(c) for c in rows[: by.limit]]


@router.post(
    "/conversations",
    response={201: ConversationOut},
    summary="Start a conversation for a customer of your own number, known or new",
    description=DESK,
)
def started(request: HttpRequest, given: StartIn) -> tuple[int, dict[str, Any]]:
    _desk_key(request)
    now = timezone.now()
    customer = services.identify(given.external_id, name=given.name, now=now)
    return 201, _out(conversations.start(customer.pk, now=now, verified=True))


@router.get(
    "/conversations/{conversation_id}",
    response=ConversationOut,
    summary="Read one conversation",
    description=DESK,
)
def one(request: HttpRequest, conversation_id: int) -> dict[str, Any]:
    _desk_key(request)
    return _out(_found(conversation_id))


@router.get(
    "/conversations/{conversation_id}/messages",
    response=list[RowOut],
    summary="Read what was said after a seq, letter for letter as the customer sees it",
    description=DESK,
)
def messages(
    request: HttpRequest, conversation_id: int, after: int = 0, limit: int = MOST
) -> list[dict[str, Any]]:
    _desk_key(request)
    conversation = _found(conversation_id)
    rows = Message.objects.filter(conversation=conversation, seq__gt=after).order_by("seq")
    return [frames.row(m, names=True) for m in rows[: max(1, min(limit, MOST))]]


@router.post(
    "/conversations/{conversation_id}/messages",
    response=list[RowOut],
    auth=KeyInThread(),
    summary="Say something as the customer, and read what comes of it",
    description="The same turn as in the chat; the rows from it on. " + DESK,
)
async def say(request: HttpRequest, conversation_id: int, given: SayIn) -> list[dict[str, Any]]:
    _desk_key(request)
    conversation = await in_db_thread(_found)(conversation_id)
    try:
        act = frames.parse({"type": "say", **given.dict()})
    except BadFrame as exc:
        raise HttpError(413 if exc.code == "too_long" else 422, str(exc)) from exc
    before = conversation.last_seq
    assert isinstance(act, Say)  # noqa: S101 - for the type checker
    async for event in take_turn(conversation_id, act, now=timezone.now()):
        if isinstance(event, Failed):
            raise HttpError(409, event.text)
    seen = await in_db_thread(_rows)(conversation_id, before)
    return list(seen)


@router.post(
    "/conversations/{conversation_id}/close",
    response=ConversationOut,
    summary="End a conversation; memory reads what was said",
    description="Twice is no error. " + DESK,
)
def closed(request: HttpRequest, conversation_id: int, given: CloseIn) -> dict[str, Any]:
    _desk_key(request)
    conversations.close(_found(conversation_id).pk, reason=given.reason, now=timezone.now())
    return _out(_found(conversation_id))


def _desk_key(request: HttpRequest) -> None:
    """An agent's key, held to its namespaces, opens no conversation."""
    key = getattr(request, "auth", None)
    if not isinstance(key, ApiKey) or key.namespaces:
        raise HttpError(403, "This key is for memory alone.")


def _found(conversation_id: int) -> Conversation:
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404
    return conversation


def _rows(conversation_id: int, after: int) -> list[dict[str, Any]]:
    rows = Message.objects.filter(conversation_id=conversation_id, seq__gt=after).order_by("seq")
    return [frames.row(m, names=True) for m in rows[: feed.MOST]]


def _out(c: Conversation) -> dict[str, Any]:
    return {
        "id": c.pk,
        "customer": c.customer_id,
        "handler": c.handler,
        "started_at": c.started_at,
        "last_message_at": c.last_message_at,
        "closed_at": c.closed_at,
        "last_seq": c.last_seq,
        "rating": c.rating,
    }
