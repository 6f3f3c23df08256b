"""What the desk teaches: answers, gaps, what did not help; and finding things."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from chat.models import Conversation
from escalations import broadcast, gaps, people, search
from escalations.forms import AnswerForm
from escalations.models import Gap, RatingLook
from escalations.review import used_in
from memory import services

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
            owner_id=form.cleaned_data["owner"] and form.cleaned_data["owner"].pk,
            source_ref="desk",
            now=now,
        )
        messages.success(request, _("Added. The next person who asks this gets these words."))
        if gap is not None:
            gaps.close(gap, answer, now=now)
            return redirect("escalations:waiting", gap.pk)
        return redirect("escalations:inbox")
    return page(request, "escalations/add_answer.html", {"form": form, "gap": gap, "tab": "add"})


@require_POST
@for_staff
def looked(request: DeskRequest, pk: int) -> HttpResponse:
    """Somebody has read a conversation that did not help."""
    conversation = get_object_or_404(Conversation, pk=pk)
    now = timezone.now()
    RatingLook.objects.get_or_create(
        conversation=conversation, defaults={"staff": request.user, "at": now}
    )
    used = used_in([conversation]).get(conversation.pk)
    services.feedback(
        conversation.customer_id,
        kind="thumbs_down",
        tried=used.title if used else "",
        worked=request.POST.get("worked", "")[:500],
        evidence={"conversation": conversation.pk, "rating": -1, "by": f"staff:{request.user.pk}"},
        now=now,
    )
    return _to_review()


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
