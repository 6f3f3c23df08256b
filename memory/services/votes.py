"""What people said of an answer: a vote a customer, answer and wording; staff's word stands."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models import Q

from memory import secrets
from memory.lifecycle.locks import in_turn
from memory.lifecycle.write import record_event
from memory.likeness import normalise
from memory.llm.embeddings import embedder
from memory.models import Answer, AnswerMatch

from .asking import vector_of
from .stock import is_verified

Outcome = Literal["chosen", "refused", "something_else", "confirmed"]


@transaction.atomic
def confirm_match(
    match_id: int,
    *,
    outcome: Outcome,
    now: datetime,
    answer_id: int | None = None,
    customer_id: int | None = None,
    staff_id: int | None = None,
) -> None:
    """Write down what became of one question. A customer speaks for her own questions alone.

    Raises AnswerMatch.DoesNotExist for another customer's, ValueError for what was not offered.
    """
    rows = AnswerMatch.objects.select_for_update()
    if staff_id is None:
        rows = rows.filter(_of(customer_id))
    match = rows.get(pk=match_id)
    if staff_id is not None:
        _by_staff(match, outcome, answer_id, staff_id, now)
        return
    if outcome == "confirmed":
        raise ValueError("only staff confirm a wording")
    if match.outcome == AnswerMatch.Outcome.CONFIRMED:
        return  # staff's word stands
    answer = answer_id if answer_id is not None else match.answer_id
    if outcome == "chosen" and answer not in match.offered:
        raise ValueError("this answer was not offered")
    match.answer_id = None if outcome == "something_else" else answer
    _cast(match, outcome, now)


@transaction.atomic
def confirm_wording(
    answer_id: int,
    *,
    asked: str,
    now: datetime,
    staff_id: int | None = None,
    customer_id: int | None = None,
) -> None:
    """Staff say that this wording means this answer: the next to use it gets it at once."""
    asked = secrets.blank(asked)
    vector = vector_of(asked)
    _take_from_others(asked, answer_id, now)
    same = {
        "answer_id": answer_id,
        "asked_normalised": normalise(asked),
        "outcome": AnswerMatch.Outcome.CONFIRMED,
        "customer_id": customer_id,
    }
    said = {
        "asked": asked,
        "staff_id": staff_id,
        "embedding": vector,
        "embedding_model": embedder().model if vector is not None else "",
        "created_at": now,
        "decided_at": now,
    }
    # There may be two: a visitor's and a customer's, who turned out to be one person.
    if not AnswerMatch.objects.filter(**same).update(**said):
        AnswerMatch.objects.create(**same, **said)


def _take_from_others(asked: str, answer_id: int, now: datetime) -> None:
    """A wording means one answer: staff's later word takes it from the one that had it."""
    text = normalise(asked)
    in_turn(f"wording {text}")  # two at once: the second finds what the first wrote
    AnswerMatch.objects.filter(
        asked_normalised=text, outcome=AnswerMatch.Outcome.CONFIRMED
    ).exclude(answer_id=answer_id).update(
        outcome=AnswerMatch.Outcome.SOMETHING_ELSE, answer=None, decided_at=now
    )


def _of(customer_id: int | None) -> Q:
    return Q(customer=None) if customer_id is None else Q(customer_id=customer_id)


def _by_staff(
    match: AnswerMatch, outcome: Outcome, answer_id: int | None, staff_id: int, now: datetime
) -> None:
    match.staff_id, match.decided_at = staff_id, now
    match.answer_id = answer_id if answer_id is not None else match.answer_id
    match.outcome = outcome
    if outcome == "confirmed" and match.answer_id is not None:
        _take_from_others(match.asked, match.answer_id, now)
    match.save(update_fields=["staff", "decided_at", "answer", "outcome"])
    record_event(
        f"match.{outcome}",
        at=now,
        actor=f"staff:{staff_id}",
        customer_id=match.customer_id,
        answer_id=match.answer_id,
        after={"match": match.pk},
    )


def _cast(match: AnswerMatch, outcome: Outcome, now: datetime) -> None:
    """One voice a customer, answer and wording: saying it again moves the vote, adds none."""
    match.verified = is_verified(match.customer_id)
    match.outcome, match.decided_at = outcome, now
    voted = (AnswerMatch.Outcome.CHOSEN, AnswerMatch.Outcome.REFUSED)
    answer_id = match.answer_id
    if outcome in voted and answer_id is not None and match.customer_id is not None:
        earlier = AnswerMatch.objects.filter(
            answer_id=answer_id,
            customer_id=match.customer_id,
            asked_normalised=match.asked_normalised,
            outcome__in=voted,
        ).exclude(pk=match.pk)
        if earlier.update(outcome=outcome, decided_at=now, verified=match.verified):
            match.offered, match.answer_id = [answer_id], None
    match.save(update_fields=["verified", "outcome", "decided_at", "offered", "answer"])
    if outcome == "refused" and match.verified:
        _flag(match, now)


def _flag(match: AnswerMatch, now: datetime) -> None:
    answer_id = match.answer_id or (match.offered[0] if match.offered else None)
    if answer_id is None:
        return
    changed = Answer.objects.filter(pk=answer_id, needs_review=False).update(
        needs_review=True, review_reason="a customer said that it does not answer the question"
    )
    if changed:
        record_event("answer.refused", at=now, actor="customer", answer_id=answer_id)
