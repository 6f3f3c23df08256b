"""Answers that are due for a look: still right, or not."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from memory.lifecycle.write import record_event
from memory.models import Answer, MemoryEvent
from memory.types import Status

from .answers import next_review


@transaction.atomic
def still_right(answer_id: int, *, by: str, now: datetime) -> Answer:
    """Somebody read it again: its next review is a whole term away. Raises LookupError."""
    answer = Answer.objects.select_for_update().filter(pk=answer_id, status=Status.ACTIVE).first()
    if answer is None:
        raise LookupError(f"answer {answer_id} is not in use")
    before = answer.review_on
    answer.review_on = next_review(now)
    answer.needs_review, answer.review_reason = False, ""
    answer.save(update_fields=["review_on", "needs_review", "review_reason"])
    record_event(
        "answer.reviewed",
        at=now,
        actor=by,
        answer_id=answer.pk,
        before={"review_on": before and before.isoformat()},
        after={"review_on": answer.review_on.isoformat()},
    )
    return answer


OWNER_TOLD = "answer.owner_told"


@transaction.atomic
def tell_owners(*, now: datetime) -> dict[int, list[Answer]]:
    """Return what is due for a look by owner, each answer once for each of its review dates.

    The events that say so are written with it: who calls this sends the mails in one transaction.
    """
    stale = Answer.objects.stale(now).filter(owner__is_active=True).order_by("review_on", "pk")
    rows = list(stale.select_for_update(of=("self",)))
    told = MemoryEvent.objects.filter(kind=OWNER_TOLD, answer__in=rows)
    said = set(told.values_list("answer_id", "after__review_on"))
    due: dict[int, list[Answer]] = {}
    for answer in rows:
        day = answer.review_on.isoformat() if answer.review_on else ""
        if (answer.pk, day) in said or answer.owner_id is None:
            continue
        due.setdefault(answer.owner_id, []).append(answer)
        record_event(
            OWNER_TOLD, at=now, actor="system", answer_id=answer.pk, after={"review_on": day}
        )
    return due
