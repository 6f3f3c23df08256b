"""What the desk teaches: answers, contradictions, doubtful memories, gaps; and finding things."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from chat.models import Conversation, Message
from escalations import broadcast, gaps, lists, people, search
from escalations.forms import AnswerForm
from escalations.models import Gap, RatingLook
from memory import services
from memory.models import Answer, Conflict, Memory

from .base import DeskRequest, for_staff, number, page


@for_staff
def add_answer(request: DeskRequest) -> HttpResponse:
    """ "Add answer": what somebody has anyway; with `gap`, for those who wait for it."""
    gap = Gap.objects.filter(pk=number(request.GET.get("gap")) or 0).first()
    start = {"role": people.role_of(request.user), "title": gap.title if gap else ""}
    form = AnswerForm(request.POST or None, initial=start, label_suffix="")
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        answer = services.add_answer(
            title=form.cleaned_data["title"],
            parts=[form.cleaned_data["text"]],
            by=f"staff:{request.user.pk}",
            wordings=[w.strip() for w in form.cleaned_data["wordings"].splitlines() if w.strip()],
            staff_id=request.user.pk,
            author_name=people.signs_as(request.user),
            role=form.cleaned_data["role"],
            review_on=form.cleaned_data["review_on"],
            source_ref="desk",
            now=now,
        )
        messages.success(request, _("Added. The next person who asks this gets these words."))
        if gap is not None:
            gaps.close(gap, answer, now=now)
            return redirect("escalations:waiting", gap.pk)
        return redirect("escalations:inbox")
    return page(request, "escalations/add_answer.html", {"form": form, "gap": gap, "tab": "add"})


@for_staff
def review(request: DeskRequest) -> HttpResponse:
    context = {
        "rows": lists.to_check(),
        "answers": lists.doubtful_answers()[:50],
        "not_helped": [(c, _used(c)) for c in lists.not_helped()[:50]],
        "tab": "inbox",
    }
    return page(request, "escalations/review.html", context)


@require_POST
@for_staff
def decide(request: DeskRequest, pk: int) -> HttpResponse:
    """Settle a contradiction: keep ours, take the customer's, or both."""
    get_object_or_404(Conflict, pk=pk)
    decision = request.POST.get("decision", "")
    try:
        if decision in {"keep", "replace", "both"}:
            services.decide_conflict(
                pk,
                decision=decision,  # type: ignore[arg-type]
                staff_id=request.user.pk,
                now=timezone.now(),
            )
            messages.success(request, _("Decided. The bot uses it from the next message on."))
    except services.Touched:
        messages.warning(request, _("Somebody decided this already."))
    return _to_review()


@require_POST
@for_staff
def judge(request: DeskRequest, pk: int) -> HttpResponse:
    """Approve or reject a memory that waits for a look."""
    memory = get_object_or_404(Memory, pk=pk)
    by, now = f"staff:{request.user.pk}", timezone.now()
    approve = request.POST.get("verdict") == "approve"
    try:
        if memory.status == "pending":
            services.review(pk, approve=approve, by=by, staff_id=request.user.pk, now=now)
        elif approve:
            services.confirm(pk, by=by, now=now)
        else:
            services.forget(memory.customer_id, memory_id=pk, by=by, now=now)
    except services.Touched:
        messages.warning(request, _("This was changed meanwhile. Look at it again."))
    return _to_review()


@require_POST
@for_staff
def judge_answer(request: DeskRequest, pk: int) -> HttpResponse:
    """Let a doubtful answer stand, or take it out."""
    answer = get_object_or_404(lists.doubtful_answers(), pk=pk)
    by, now = f"staff:{request.user.pk}", timezone.now()
    try:
        if request.POST.get("verdict") != "approve":
            services.retire_answer(pk, by=by, reason="not right, says staff", now=now)
        elif answer.status == "pending":
            services.approve_answer(pk, by=by, now=now)
        else:
            services.still_right(pk, by=by, now=now)
    except (LookupError, Answer.DoesNotExist):
        messages.warning(request, _("This was changed meanwhile. Look at it again."))
    return _to_review()


@require_POST
@for_staff
def looked(request: DeskRequest, pk: int) -> HttpResponse:
    """Somebody has read a conversation that did not help."""
    conversation = get_object_or_404(Conversation, pk=pk)
    now = timezone.now()
    RatingLook.objects.get_or_create(
        conversation=conversation, defaults={"staff": request.user, "at": now}
    )
    used = _used(conversation)
    services.feedback(
        conversation.customer_id,
        kind="thumbs_down",
        tried=used.title if used else "",
        worked=request.POST.get("worked", "")[:500],
        evidence={"conversation": conversation.pk, "rating": -1, "by": f"staff:{request.user.pk}"},
        now=now,
    )
    return _to_review()


def _used(conversation: Conversation) -> Answer | None:
    """Return the stored answer that was given last in it."""
    given = conversation.messages.filter(kind=Message.Kind.ANSWER).order_by("-seq").first()
    return Answer.objects.filter(pk=given.meta.get("answer_id") or 0).first() if given else None


@for_staff
def ledger(request: DeskRequest) -> HttpResponse:
    context: dict[str, Any] = {"gaps": gaps.ledger()[:200], "now": timezone.now(), "tab": "gaps"}
    return page(request, "escalations/gaps.html", context)


@for_staff
def find(request: DeskRequest) -> HttpResponse:
    words = request.GET.get("q", "").replace("\x00", "").strip()[:200]
    found = search.search(words) if words else None
    return page(request, "escalations/search.html", {"words": words, "found": found})


def _to_review() -> HttpResponse:
    broadcast.changed_on_commit()
    return redirect("escalations:review")
