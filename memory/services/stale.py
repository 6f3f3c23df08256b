"""Answers that are due for a look: still right, or not."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from memory.lifecycle.write import record_event
from memory.models import Answer
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
