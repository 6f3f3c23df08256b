"""Checking what is remembered: each card one decision, one key; the last one can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from escalations import broadcast, review
from memory import services
from memory.services.review import Verdict

from .base import DeskRequest, for_staff, number, page

UNDO = "desk_review_undo"


@for_staff
def cards(request: DeskRequest) -> HttpResponse:
    now = timezone.now()
    context = {
        "cards": review.cards(staff=request.user, now=now),
        "undo": request.session.get(UNDO),
        "now": now,
        "tab": "inbox",
    }
    return page(request, "escalations/review.html", context)


@require_POST
@for_staff
def look(request: DeskRequest) -> HttpResponse:
    """Show what is sensitive on one card, and write down who looked."""
    kind, pk = request.POST.get("kind", ""), number(request.POST.get("pk")) or 0
    review.look(kind, pk, staff=request.user, now=timezone.now())
    return redirect(f"{reverse('escalations:review')}#{kind}-{pk}")


@require_POST
@for_staff
def decide(request: DeskRequest) -> HttpResponse:
    kind, decision = request.POST.get("kind", ""), request.POST.get("decision", "")
    pk, do = number(request.POST.get("pk")), _DECISIONS.get((kind, decision))
    if do is None or pk is None:
        messages.warning(request, _("That is no decision: nothing was changed."))
        return redirect("escalations:review")
    try:
        do(pk, request.user.pk, timezone.now())
    except (services.Touched, LookupError, ObjectDoesNotExist, ValueError):
        messages.warning(request, _("This was changed meanwhile. Look at it again."))
    else:
        _remember(request, kind, pk, decision)
    broadcast.changed_on_commit()
    return redirect("escalations:review")


def _remember(request: DeskRequest, kind: str, pk: int, decision: str) -> None:
    if decision == "undo":
        request.session.pop(UNDO, None)
        messages.success(request, _("Undone: it waits again."))
    elif (kind, "undo") in _DECISIONS:
        request.session[UNDO] = {"kind": kind, "pk": pk}
        messages.success(request, _("Decided. The bot uses it from the next message on."))
    else:
        request.session.pop(UNDO, None)
        messages.success(request, _("Decided."))


def _who(staff_id: int, now: datetime) -> dict[str, Any]:
    return {"by": f"staff:{staff_id}", "now": now}


def _judge(*, approve: bool) -> Callable[[int, int, datetime], object]:
    return lambda pk, staff_id, now: services.review(
        pk, approve=approve, staff_id=staff_id, **_who(staff_id, now)
    )


def _conflict(decision: Verdict) -> Callable[[int, int, datetime], object]:
    return lambda pk, staff_id, now: services.decide_conflict(
        pk, decision=decision, staff_id=staff_id, now=now
    )


def _retire(pk: int, staff_id: int, now: datetime) -> None:
    services.retire_answer(pk, reason="not right, says staff", **_who(staff_id, now))


_DECISIONS: dict[tuple[str, str], Callable[[int, int, datetime], object]] = {
    ("memory", "approve"): _judge(approve=True),
    ("memory", "reject"): _judge(approve=False),
    ("memory", "undo"): lambda pk, staff, now: services.undo_review(pk, **_who(staff, now)),
    ("conflict", "keep"): _conflict("keep"),
    ("conflict", "replace"): _conflict("replace"),
    ("conflict", "both"): _conflict("both"),
    ("conflict", "undo"): lambda pk, staff, now: services.undo_conflict(
        pk, staff_id=staff, now=now
    ),
    ("answer", "approve"): lambda pk, staff, now: services.still_right(pk, **_who(staff, now)),
    ("answer", "reject"): _retire,
    ("wording", "approve"): lambda pk, staff, now: services.approve_answer(pk, **_who(staff, now)),
    ("wording", "reject"): _retire,
    ("procedure", "approve"): lambda pk, staff, now: services.approve_procedure(
        pk, staff_id=staff, **_who(staff, now)
    ),
    ("procedure", "reject"): lambda pk, staff, now: services.reject_procedure(
        pk, reason="not right, says staff", **_who(staff, now)
    ),
}
