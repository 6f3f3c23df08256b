"""What of a customer lies at the desk: erased with her, and part of her export."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import ngettext

from memory import services

from . import broadcast, looks
from .models import Delivery, Escalation, Gap, MemoryView, Question, StaffNote


def register() -> None:
    """Notes and drafts of staff go with the conversation (chat's eraser), by foreign key."""
    services.register(
        "escalations",
        eraser=erase,
        exporter=export,
        merger=merge,
        forgetter=forget,
        unfinished=unfinished,
        models=[
            "escalations.Escalation",
            "escalations.Question",
            "escalations.StaffNote",
            "escalations.Draft",
            "escalations.Presence",
            "escalations.Delivery",
            "escalations.MemoryView",
            "escalations.RatingLook",
        ],
    )
    services.record_looks_by(looks.record)


def unfinished(customer_id: int) -> str:
    """What somebody who is about to erase the customer should know."""
    open_ = Escalation.objects.open().filter(conversation__customer_id=customer_id)
    number = Question.objects.filter(escalation__in=open_, answer=None).count()
    if not open_.exists():
        return ""
    words = ngettext(
        "Still waits for a person: {n} question. Nobody will answer it.",
        "Still waits for a person: {n} questions. Nobody will answer them.",
        max(number, 1),
    )
    return words.format(n=max(number, 1))


def erase(customer_id: int) -> dict[str, int]:
    """Delete what the desk holds of the customer; a gap whose title were her words goes too."""
    questions = Question.objects.filter(escalation__conversation__customer_id=customer_id)
    gaps = set(questions.exclude(gap=None).values_list("gap_id", flat=True))
    counts: dict[str, int] = {}
    for rows in (
        Escalation.objects.filter(conversation__customer_id=customer_id),
        Delivery.objects.filter(customer_id=customer_id),
        MemoryView.objects.filter(customer_id=customer_id),
        StaffNote.objects.filter(customer_id=customer_id),
    ):
        for label, number in rows.delete()[1].items():
            counts[label] = counts.get(label, 0) + number
    for gap in Gap.objects.filter(pk__in=gaps):
        other = gap.questions.order_by("asked_at").first()
        if other is None:
            gap.delete()
        else:  # somebody else asks it too: in her words from now on
            Gap.objects.filter(pk=gap.pk).update(title=other.text)
    return counts


def forget(customer_id: int, words: Collection[str]) -> None:
    """Her lock comes after an escalation's: what is blanked here waits for it to be let go."""
    transaction.on_commit(lambda: _blank(customer_id, words), robust=True)


def _blank(customer_id: int, words: Collection[str]) -> None:
    with transaction.atomic():
        hers = Escalation.objects.filter(conversation__customer_id=customer_id)
        for escalation in hers.select_for_update().order_by("pk"):
            told = {
                "detail": services.without(escalation.detail, words)[:300],
                "request": services.without_in(escalation.request, words),
            }
            if told != {"detail": escalation.detail, "request": escalation.request}:
                Escalation.objects.filter(pk=escalation.pk).update(**told)
        for question in Question.objects.filter(escalation__in=hers):
            text = services.without(question.text, words)
            if text == question.text:
                continue
            Question.objects.filter(pk=question.pk).update(text=text)
            # A gap's title may be her words: they are blanked where they stand.
            Gap.objects.filter(questions=question.pk, title=question.text).update(title=text)


def merge(visitor_id: int, into_id: int, now: datetime) -> None:
    """What hangs on a conversation goes with it."""
    for model in (Delivery, MemoryView, StaffNote):
        rows: QuerySet[Any] = model._default_manager.filter(customer_id=visitor_id)
        rows.update(customer_id=into_id)
    broadcast.changed_on_commit()


def export(customer_id: int) -> dict[str, Any]:
    """Staff's notes are no part of it: they are the business's own words."""
    rows = (
        Escalation.objects.filter(conversation__customer_id=customer_id)
        .prefetch_related("questions")
        .order_by("pk")
    )
    return {
        "escalations": [
            {
                "opened_at": e.opened_at.isoformat(),
                "closed_at": e.closed_at.isoformat() if e.closed_at else None,
                "promise": e.promise,
                "questions": [q.text for q in e.questions.all()],
            }
            for e in rows
        ]
    }
