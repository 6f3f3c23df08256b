"""Two customers that are one: what a visitor told goes to the person the business knows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat, Left

from memory.lifecycle import locks, write
from memory.likeness import normalise
from memory.models import AnswerMatch, Conflict, Customer, Episode, Memory, MemoryEvent
from memory.types import Status

from . import registry

WHY = "said in a chat before this customer was known"


@transaction.atomic
def merge(visitor_id: int, into_id: int, *, by: str, now: datetime) -> Customer:
    """Give all that is kept of a visitor to an identified customer; the visitor is no more.

    What contradicts what is known waits for a person. The visitor's browser proves nothing: it
    is not signed in by this. Raises ValueError. Locks what upper apps lock first, customers last.
    """
    visitor, into = Customer.objects.get(pk=visitor_id), Customer.objects.get(pk=into_id)
    if visitor.kind != Customer.Kind.VISITOR or into.kind != Customer.Kind.IDENTIFIED:
        raise ValueError("a visitor is merged into a customer whom the business has named")
    if visitor.erase_requested_at or into.erase_requested_at:
        raise ValueError("one of them asked to be forgotten")
    for keeper in registry.keepers().values():
        keeper.merger(visitor_id, into_id, now)
    write.record_event(
        "customer.merged",
        at=now,
        actor=by,
        customer_id=into_id,
        evidence={"visitor": visitor_id},
    )
    if _left(visitor_id):
        raise ValueError("this visitor is writing at the moment: please try again")
    visitor.delete()
    return into


def move(visitor_id: int, into_id: int, now: datetime) -> None:
    """Memory's own part. Locks both customers, the older row first."""
    ids = sorted((visitor_id, into_id))
    list(Customer.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    memories = Memory.objects.for_customer(visitor_id)
    locks.hold_topics(memories.values_list("topic_id", flat=True))
    _move_episodes(visitor_id, into_id)
    _settle_conflicts(visitor_id, into_id, now)
    _make_way(visitor_id, into_id, now)
    votes = AnswerMatch.objects.filter(customer_id=visitor_id, outcome__in=("chosen", "refused"))
    for vote in votes:
        twice = AnswerMatch.objects.filter(
            customer_id=into_id, outcome__in=("chosen", "refused"), answer=vote.answer,
            asked_normalised=vote.asked_normalised,
        )  # fmt: skip
        if twice.exists():
            vote.delete()
    for model in (AnswerMatch, Conflict, Memory, MemoryEvent):
        rows: QuerySet[Any] = model._default_manager.filter(customer_id=visitor_id)
        rows.update(customer_id=into_id)


def _move_episodes(visitor_id: int, into_id: int) -> None:
    """A ref names one part of a talk of one customer: one that is there already gets a mark."""
    theirs = Episode.objects.filter(customer_id=into_id).values("ref")
    mine = Episode.objects.filter(customer_id=visitor_id)
    marked = Concat(Left(F("ref"), 60), Value(f":{visitor_id}"))
    mine.filter(ref__in=list(theirs.values_list("ref", flat=True))).update(ref=marked)
    mine.update(customer_id=into_id)


def _settle_conflicts(visitor_id: int, into_id: int, now: datetime) -> None:
    """One open card a topic: the customer's own stands, the visitor's value waits by itself."""
    theirs = Conflict.objects.filter(customer_id=into_id, decided_at=None).values("topic")
    twice = Conflict.objects.filter(customer_id=visitor_id, decided_at=None, topic__in=theirs)
    twice.update(decision="keep", decided_at=now)


def _make_way(visitor_id: int, into_id: int, now: datetime) -> None:
    """Of one value one row may stand, and it is the customer's own."""
    standing = {
        m.topic_id: m
        for m in Memory.objects.for_customer(into_id).filter(
            status=Status.ACTIVE, single_valued=True, valid_until=None
        )
    }
    told = Memory.objects.for_customer(visitor_id).filter(
        status=Status.ACTIVE, single_valued=True, valid_until=None, topic__in=standing
    )
    for m in told.select_related("topic"):
        own = standing[m.topic_id]
        before = write.snapshot(m)
        if normalise(m.value or m.text) == normalise(own.value or own.text):
            m.status, m.ended_at, m.superseded_by = Status.SUPERSEDED, now, own
        else:
            m.status, m.needs_review, m.review_reason = Status.PENDING, True, WHY
        m.save()
        write.record_event(
            "memory.merged", at=now, actor="merge", customer_id=visitor_id, memory_id=m.pk,
            topic_key=m.topic.key if m.topic else "", reason=WHY, before=before,
            after=write.snapshot(m),
        )  # fmt: skip


def _left(visitor_id: int) -> bool:
    """Whether anything of any app still belongs to the visitor: deleting would take it along."""
    return any(
        relation.related_model._base_manager.filter(**{relation.field.name: visitor_id}).exists()
        for relation in Customer._meta.related_objects
    )
