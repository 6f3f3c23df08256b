"""The review queue: what waits for a decision, the most needed first; one key decides, one
undoes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from memory import services
from memory.admin.base import REFUSED, actor, now, staff_id
from memory.admin.memories import source_link
from memory.models import Answer, Conflict
from memory.services.review import Verdict
from memory.services.waiting import Waiting

LIMIT = 50  # cards on the page; the rest comes up as these are decided
UNDO = "memory_review_undo"


@dataclass(frozen=True, slots=True)
class Card:
    kind: str  # "memory", "conflict", "answer", "wording" (an answer that waits)
    pk: int
    heading: str
    about: str
    before: str
    after: str
    quote: str
    source: str
    page: str
    needed: int  # questions of the last week that it would have had a part in
    due_at: datetime | None


_ASKS = {
    "wording": "May everyone see this answer?",
    "procedure": "May everyone have this how-to, in these steps?",
    "answer": "Is this answer still right?",
}


def cards(waiting: list[Waiting]) -> list[Card]:
    return [_card(w) for w in waiting]


def _card(w: Waiting) -> Card:
    subject = w.subject
    if isinstance(subject, Answer):
        told = {
            "heading": _ASKS[w.kind],
            "about": f"{subject.title} – {subject.role}, {subject.said_at:%-d %B %Y}",
            "page": reverse("admin:memory_answer_change", args=[subject.pk]),
        }
    else:
        shown = subject.new if isinstance(subject, Conflict) else subject
        label = shown.topic.label if shown.topic else shown.category
        told = {
            "heading": "Is this so?"
            if w.kind == "memory"
            else "Staff corrected this; now the customer says otherwise",
            "about": f"{subject.customer}: {label}",
            "page": reverse("admin:memory_memory_change", args=[shown.pk]),
        }
    return Card(
        kind=w.kind,
        pk=w.pk,
        before=w.before,
        after=w.after,
        quote=w.quote or w.why,
        source=source_link(w.made_from) if w.made_from else "",
        needed=w.needed,
        due_at=w.due_at,
        **told,
    )


def queue(request: HttpRequest) -> HttpResponse:
    """What is shown of sensitive topics is written down, as at the desk."""
    _may(request)
    waiting = services.to_review(now())[:LIMIT]
    shown = [m for w in waiting for m in w.memories]
    services.looked_at(shown, staff_id=staff_id(request), now=now())
    context = {
        **admin.site.each_context(request),
        "title": "Review",
        "cards": cards(waiting),
        "undo": request.session.get(UNDO),
    }
    return TemplateResponse(request, "admin/memory/review.html", context)


@require_POST
def decide(request: HttpRequest) -> HttpResponse:
    _may(request)
    kind, pk = request.POST.get("kind", ""), request.POST.get("pk", "")
    decision = request.POST.get("decision", "")
    do = _DECISIONS.get((kind, decision))
    if do is None or not pk.isdecimal():
        messages.warning(request, "That is no decision: nothing was changed.")
        return redirect("admin:memory_review")
    try:
        do(request, int(pk))
    except REFUSED as exc:
        messages.warning(request, f"Not possible any more: {exc}.")
    else:
        if (kind, "undo") in _DECISIONS and decision != "undo":
            request.session[UNDO] = {"kind": kind, "pk": int(pk)}
        else:
            request.session.pop(UNDO, None)
        messages.success(request, "Undone." if decision == "undo" else f"Decided: {decision}.")
    return redirect("admin:memory_review")


def _may(request: HttpRequest) -> None:
    if not request.user.has_perm("memory.change_memory"):
        raise PermissionDenied


def _who(request: HttpRequest) -> dict[str, Any]:
    return {"by": actor(request), "staff_id": staff_id(request), "now": now()}


def _conflict(request: HttpRequest, pk: int, decision: Verdict) -> None:
    services.decide_conflict(pk, decision=decision, staff_id=staff_id(request), now=now())


def _still_right(request: HttpRequest, pk: int) -> None:
    services.still_right(pk, by=actor(request), now=now())


def _share(request: HttpRequest, pk: int) -> None:
    services.approve_answer(pk, by=actor(request), now=now())


def _retire(request: HttpRequest, pk: int) -> None:
    services.retire_answer(pk, by=actor(request), reason="not right any more", now=now())


_DECISIONS: dict[tuple[str, str], Callable[[HttpRequest, int], object]] = {
    ("memory", "approve"): lambda r, pk: services.review(pk, approve=True, **_who(r)),
    ("memory", "reject"): lambda r, pk: services.review(pk, approve=False, **_who(r)),
    ("memory", "undo"): lambda r, pk: services.undo_review(pk, by=actor(r), now=now()),
    ("conflict", "keep"): lambda r, pk: _conflict(r, pk, "keep"),
    ("conflict", "replace"): lambda r, pk: _conflict(r, pk, "replace"),
    ("conflict", "both"): lambda r, pk: _conflict(r, pk, "both"),
    ("conflict", "undo"): lambda r, pk: services.undo_conflict(pk, staff_id=staff_id(r), now=now()),
    ("answer", "keep"): _still_right,
    ("answer", "retire"): _retire,
    ("wording", "approve"): _share,
    ("wording", "reject"): _retire,
    ("procedure", "approve"): lambda r, pk: services.approve_procedure(
        pk, **_who(r), author_name=r.user.get_username()
    ),
    ("procedure", "reject"): lambda r, pk: services.reject_procedure(pk, by=actor(r), now=now()),
}
