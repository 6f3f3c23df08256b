"""The review queue: what waits for a decision, the most needed first; one key decides, one
undoes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from memory import services
from memory.admin.base import REFUSED, actor, now, staff_id
from memory.admin.memories import source_link
from memory.models import Answer, AnswerMatch, Conflict, Memory
from memory.services.review import Verdict
from memory.types import Status

WEEK = timedelta(days=7)
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
    since: datetime


def cards(when: datetime) -> list[Card]:
    needed = _needed(when)
    found = [*_pending(needed), *_conflicts(needed), *_answers(needed, when)]
    return sorted(found, key=lambda c: (-c.needed, c.since))[:LIMIT]


def _needed(when: datetime) -> Counter[tuple[str, int]]:
    """Count last week's questions by customer and by answer."""
    recent = AnswerMatch.objects.filter(created_at__gt=when - WEEK)
    count: Counter[tuple[str, int]] = Counter()
    for customer, answer, offered in recent.values_list("customer_id", "answer_id", "offered"):
        if customer is not None:
            count["customer", customer] += 1
        for pk in {answer, *(offered or [])} - {None}:
            count["answer", pk] += 1
    return count


def _pending(needed: Counter[tuple[str, int]]) -> list[Card]:
    rows = Memory.objects.filter(status=Status.PENDING).select_related("topic", "customer")
    in_conflict = Conflict.objects.filter(decided_at=None).values("new_id")
    return [
        Card(
            kind="memory",
            pk=m.pk,
            heading="Is this so?",
            about=f"{m.customer}: {m.topic.label if m.topic else m.category}",
            before=_known(m),
            after=m.text,
            quote=m.quote,
            source=source_link(m),
            page=reverse("admin:memory_memory_change", args=[m.pk]),
            needed=needed["customer", m.customer_id],
            since=m.recorded_at,
        )
        for m in rows.exclude(pk__in=in_conflict).order_by("recorded_at")[:500]
    ]


def _known(m: Memory) -> str:
    if m.topic_id is None or not m.single_valued:
        return ""
    active = Memory.objects.for_customer(m.customer_id).filter(topic=m.topic_id)
    known = active.filter(status=Status.ACTIVE).first()
    return known.text if known else ""


def _conflicts(needed: Counter[tuple[str, int]]) -> list[Card]:
    rows = Conflict.objects.filter(decided_at=None)
    return [
        Card(
            kind="conflict",
            pk=c.pk,
            heading="Staff corrected this; now the customer says otherwise",
            about=f"{c.customer}: {c.topic.label}",
            before=c.old.text,
            after=c.new.text,
            quote=c.new.quote,
            source=source_link(c.new),
            page=reverse("admin:memory_memory_change", args=[c.new_id]),
            needed=needed["customer", c.customer_id] + 1,  # withheld till then: never the last
            since=c.opened_at,
        )
        for c in rows.select_related("customer", "topic", "old", "new").order_by("due_at")[:500]
    ]


def _answers(needed: Counter[tuple[str, int]], when: datetime) -> list[Card]:
    """Stale ones, doubted ones, and those that wait before anybody else sees them."""
    doubted = Q(review_on__lte=when.date()) | Q(needs_review=True)
    rows = Answer.objects.filter(Q(status=Status.ACTIVE) & doubted | Q(status=Status.PENDING))
    return [
        Card(
            kind="wording" if a.status == Status.PENDING else "answer",
            pk=a.pk,
            heading="May everyone see this answer?"
            if a.status == Status.PENDING
            else "Is this answer still right?",
            about=f"{a.title} – {a.role}, {a.said_at:%-d %B %Y}",
            before="",
            after=a.text,
            quote=a.review_reason or a.share_reason,
            source="",
            page=reverse("admin:memory_answer_change", args=[a.pk]),
            needed=needed["answer", a.pk],
            since=a.said_at,
        )
        for a in rows.order_by("review_on")[:500]
    ]


def queue(request: HttpRequest) -> HttpResponse:
    _may(request)
    context = {
        **admin.site.each_context(request),
        "title": "Review",
        "cards": cards(now()),
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
}
