"""What of a customer lies at the desk: erased with her, and part of her export."""

from __future__ import annotations

from typing import Any

from memory import services

from .models import Delivery, Escalation, Gap, MemoryView, Question


def register() -> None:
    """Notes and drafts of staff go with the conversation (chat's eraser), by foreign key."""
    services.register(
        "escalations",
        eraser=erase,
        exporter=export,
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


def erase(customer_id: int) -> dict[str, int]:
    """Delete what the desk holds of the customer; a gap whose title were her words goes too."""
    questions = Question.objects.filter(escalation__conversation__customer_id=customer_id)
    gaps = set(questions.exclude(gap=None).values_list("gap_id", flat=True))
    counts: dict[str, int] = {}
    for rows in (
        Escalation.objects.filter(conversation__customer_id=customer_id),
        Delivery.objects.filter(customer_id=customer_id),
        MemoryView.objects.filter(customer_id=customer_id),
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
