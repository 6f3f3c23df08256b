"""Memory for agents of your own: observe, recall, answer_for, remember, forget, history, as_of."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema
from ninja import Status as Reply
from ninja.errors import HttpError, ValidationError
from pydantic import AfterValidator

from memory import services
from memory.api.scope import CUSTOMERS, actor, api_key, aware, customer_of, require, zone
from memory.models import Customer, Memory, MemoryEvent, Topic
from memory.types import AnswerCandidate, Category, Fact, Said, Transcript

router = Router(tags=["memory"])

Zone = Annotated[str, AfterValidator(zone)]
MESSAGE_LENGTH = 10_000  # characters, as in the chat


class MessageIn(Schema):
    sender: Literal["customer", "bot", "staff"]
    text: str = Field(min_length=1, max_length=MESSAGE_LENGTH)
    at: datetime | None = None
    name: str = Field("", max_length=120)


class ObserveIn(Schema):
    ref: str = Field(min_length=1, max_length=80)  # the same part of a talk is stored once
    messages: list[MessageIn] = Field(min_length=1, max_length=500)
    timezone: Zone = Field("UTC", min_length=1, max_length=64)


class RecallIn(Schema):
    message: str = Field(min_length=1, max_length=MESSAGE_LENGTH)
    before: list[str] = Field(default=[], max_length=20)


class QuestionIn(Schema):
    question: str = Field(min_length=1, max_length=MESSAGE_LENGTH)
    customer_id: int | None = None
    before: list[str] = Field(default=[], max_length=20)


class RememberIn(Schema):
    text: str = Field(min_length=1, max_length=1000)
    value: str = Field("", max_length=500)
    topic: str | None = Field(None, max_length=64)
    category: Category = Category.PREFERENCE  # the topic's own wins
    quote: str = Field("", max_length=MESSAGE_LENGTH)


class ForgetIn(Schema):
    """One of the three: a topic, one memory, or the customer's own words."""

    topic: str | None = None
    memory_id: int | None = None
    request: str = Field("", max_length=MESSAGE_LENGTH)


class CustomerIn(Schema):
    external_id: str = Field(min_length=1, max_length=200)
    name: str = Field("", max_length=200)
    timezone: Zone = Field("", max_length=64)


@router.post(
    "/memory/customers",
    summary="Find or make the customer of your own number",
    description="Takes an agent's key with the namespace customers.",
)
def identify(request: HttpRequest, payload: CustomerIn) -> dict[str, Any]:
    require(request, "customers")
    customer = services.identify(**payload.dict(), now=timezone.now())
    return {"customer_id": customer.pk, "external_id": customer.external_id}


@router.post(
    "/memory/{int:customer_id}/observe",
    response={202: dict[str, Any]},
    summary="Hand over a transcript; what is worth keeping is remembered soon after",
    description=CUSTOMERS,
)
def observe(request: HttpRequest, customer_id: int, payload: ObserveIn) -> Any:
    customer, now = customer_of(request, customer_id), timezone.now()
    said = tuple(
        Said(seq=i, sender=m.sender, text=m.text, at=aware(m.at or now), name=m.name)
        for i, m in enumerate(payload.messages, 1)
    )
    episode = services.remember_later(
        Transcript(said, timezone=payload.timezone),
        customer_id=customer.pk,
        ref=payload.ref,
        now=now,
    )
    return Reply(202, {"episode_id": episode and episode.pk, "new": episode is not None})


@router.post(
    "/memory/{int:customer_id}/recall",
    summary="Recall what is known that this message needs",
    description=CUSTOMERS,
)
def recall(request: HttpRequest, customer_id: int, payload: RecallIn) -> dict[str, Any]:
    customer = customer_of(request, customer_id)
    gate = services.needs_past(payload.message, payload.before)
    found = services.recall(
        customer.pk,
        payload.message,
        now=timezone.now(),
        before=payload.before,
        gate=services.second_look_now(gate, payload.message, before=payload.before),
        verified=_verified(customer),
    )
    return {
        "facts": _handed_out(request, customer, found.facts),
        "context": found.context,
        "withheld": list(found.withheld),
        "skipped": found.skipped,
    }


@router.post(
    "/memory/answer_for",
    summary="Find a stored answer, an offer, or that a person is needed",
    description="Takes an agent's key with the namespace shared, and with that customer's where"
    " one is named.",
)
def answer_for(request: HttpRequest, payload: QuestionIn) -> dict[str, Any]:
    require(request, "shared")
    if payload.customer_id is not None:
        customer_of(request, payload.customer_id)
    found = services.answer_for(
        payload.question,
        customer_id=payload.customer_id,
        before=payload.before,
        now=timezone.now(),
        ref=f"api:{api_key(request).prefix}",
    )
    return {
        "way": found.way,
        "reason": found.reason,
        "candidates": [_candidate(c) for c in found.candidates],
        "match_id": found.match_id,
        "blocked_by": [f.label for f in found.blocked],
    }


@router.post(
    "/memory/{int:customer_id}/remember",
    response={202: dict[str, Any]},
    summary="Propose a fact; it counts once staff have approved it",
    description=CUSTOMERS,
)
def remember(request: HttpRequest, customer_id: int, payload: RememberIn) -> Any:
    customer = customer_of(request, customer_id)
    try:
        made = services.propose(
            customer.pk,
            topic=payload.topic,
            category=payload.category,
            value=payload.value or payload.text,
            text=payload.text,
            evidence={"quote": payload.quote},
            by=actor(request),
            now=timezone.now(),
        )
    except services.NotValidated as exc:
        raise HttpError(422, str(exc)) from None
    except Topic.DoesNotExist:
        wrong = {"loc": ("body", "payload", "topic"), "msg": f"There is no topic {payload.topic}."}
        raise ValidationError([wrong]) from None
    return Reply(202, {"memory": _memory(made)})


@router.post(
    "/memory/{int:customer_id}/forget",
    summary="Forget at the customer's request",
    description=CUSTOMERS,
)
def forget(request: HttpRequest, customer_id: int, payload: ForgetIn) -> dict[str, Any]:
    customer = customer_of(request, customer_id)
    given = [payload.topic, payload.memory_id, payload.request or None]
    if sum(g is not None for g in given) != 1:
        raise HttpError(400, "Say what to forget: a topic, a memory_id, or the request in words.")
    gone = services.forget(
        customer.pk,
        topic=payload.topic,
        memory_id=payload.memory_id,
        request=payload.request,
        by=actor(request),
        now=timezone.now(),
    )
    return {"topics": list(gone.topics), "count": gone.count}


@router.get(
    "/memory/{int:customer_id}",
    summary="Read all that may be used of this customer now",
    description=CUSTOMERS,
)
def known(request: HttpRequest, customer_id: int) -> dict[str, Any]:
    customer = customer_of(request, customer_id)
    facts = services.known_about(customer.pk, now=timezone.now())
    return {"facts": _handed_out(request, customer, facts)}


@router.get(
    "/memory/{int:customer_id}/as_of",
    summary="Read what was believed of this customer at that time",
    description=CUSTOMERS,
)
def as_of(request: HttpRequest, customer_id: int, when: datetime) -> dict[str, Any]:
    customer = customer_of(request, customer_id)
    facts = services.as_of(customer.pk, when=aware(when))
    return {"when": aware(when), "facts": _handed_out(request, customer, facts)}


@router.get(
    "/memory/{int:customer_id}/history",
    summary="Read every version of what was known, and what happened to it",
    description=CUSTOMERS,
)
def history(request: HttpRequest, customer_id: int, topic: str = "") -> dict[str, Any]:
    customer = customer_of(request, customer_id)
    memories = Memory.objects.for_customer(customer.pk).select_related("topic")
    events = MemoryEvent.objects.filter(customer=customer)
    if topic:
        memories, events = memories.filter(topic__key=topic), events.filter(topic_key=topic)
    versions = list(memories.order_by("stated_at", "pk"))
    services.looked_at(versions, staff_id=api_key(request).user_id, now=timezone.now())
    return {
        "memories": [_memory(m) for m in versions],
        "events": [_event(e) for e in events.order_by("at", "pk")],
    }


def _verified(customer: Customer) -> bool:
    return customer.kind == Customer.Kind.IDENTIFIED


def _handed_out(
    request: HttpRequest, customer: Customer, facts: Iterable[Fact]
) -> list[dict[str, Any]]:
    """A visitor may be anybody at that browser: what is sensitive is not said. Of others it is,
    and to whom the key belongs is written down."""
    shown = [f for f in facts if _verified(customer) or not f.sensitive]
    topics = {f.topic or f.category for f in shown if f.sensitive}
    staff = api_key(request).user_id
    services.looked(customer.pk, topics, staff_id=staff, now=timezone.now())
    return [_fact(f) for f in shown]


def _fact(f: Fact) -> dict[str, Any]:
    fields = ("id", "topic", "label", "category", "text", "value", "stated_at", "score")
    return {name: getattr(f, name) for name in fields}


def _candidate(c: AnswerCandidate) -> dict[str, Any]:
    fields = ("memory_id", "title", "parts", "role", "said_on", "score")
    # Told this customer alone, it has no answer for everyone.
    return {"answer_id": c.answer_id or None} | {name: getattr(c, name) for name in fields}


def _memory(m: Memory) -> dict[str, Any]:
    fields = ("id", "category", "status", "text", "value", "quote", "stated_at", "valid_from")
    more = ("valid_until", "recorded_at", "confirmed_at", "ended_at", "superseded_by_id")
    shown = {name: getattr(m, name) for name in (*fields, *more)}
    return {**shown, "topic": m.topic and m.topic.key}


def _event(e: MemoryEvent) -> dict[str, Any]:
    fields = ("id", "at", "kind", "actor", "memory_id", "topic_key", "reason")
    return {name: getattr(e, name) for name in fields}
