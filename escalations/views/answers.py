"""One stored answer at the desk: its words, whose they are, where they come from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.frames import BadFrame, clean
from escalations import people
from memory import services
from memory.models import Answer

from .base import DeskRequest, for_staff, number, page


@for_staff
def answer(request: DeskRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Answer.objects.select_related("owner", "superseded_by"), pk=pk)
    context = {
        "answer": found,
        "owner": people.name_of(found.owner) if found.owner else "",
        "kind": services.kind_to_review(found),
        "said_in": _conversation(found.source_ref),
        "now": timezone.now(),
        "tab": "inbox",
    }
    return page(request, "escalations/answer.html", context)


@for_staff
def how_to(request: DeskRequest) -> HttpResponse:
    """Make an ordered how-to of kept answers (`answer`, once or more), or from nothing."""
    pks = [pk for text in request.GET.getlist("answer") if (pk := number(text))]
    now = timezone.now()
    found = Answer.objects.active(now).in_bulk(pks)
    made_of = [found[pk] for pk in pks if pk in found]
    start = [part for one in made_of for part in steps_of(one)]
    form = HowTo(request, title=made_of[0].title if made_of else "", steps=start)
    if form.complete:
        who: dict[str, Any] = {"by": f"staff:{request.user.pk}", "now": now}
        mine = _signed(request)
        whose = _whose(made_of[0]) if len(made_of) == 1 and form.steps == start else mine
        made = services.propose_procedure(
            title=form.title, steps=form.steps, from_answers=[a.pk for a in made_of], **whose, **who
        )
        if made is None:
            messages.warning(request, _("There is this very how-to already."))
            return redirect("escalations:review")
        services.approve_procedure(made.pk, **mine, **who)
        messages.success(request, _("Customers who ask this are given these steps now."))
        return redirect("escalations:answer", made.pk)
    return page(request, "escalations/how_to.html", {"form": form, "tab": "add"})


@for_staff
def approve_how_to(request: DeskRequest, pk: int) -> HttpResponse:
    """Look at what is proposed, change it where it has to be, and say yes."""
    found = get_object_or_404(Answer, pk=pk, category="learned_procedure")
    if found.status != "pending":
        return _decided(request)
    by_lesson = found.source_ref.startswith("lesson:")
    form = HowTo(request, title="" if by_lesson else found.title, steps=found.parts)
    if form.complete:
        try:
            services.approve_procedure(
                pk, title=form.title, steps=form.steps, by=f"staff:{request.user.pk}",
                now=timezone.now(), **_signed(request),
            )  # fmt: skip
        except Answer.DoesNotExist:
            return _decided(request)
        except ValueError:
            form.fault = _("Write the question that these steps answer: customers see it.")
        else:
            messages.success(request, _("Customers who ask this are given these steps now."))
            return redirect("escalations:review")
    context = {"form": form, "proposed": found, "tab": "inbox"}
    return page(request, "escalations/how_to.html", context)


def _decided(request: DeskRequest) -> HttpResponse:
    messages.warning(request, _("A colleague has decided on this meanwhile."))
    return redirect("escalations:review")


class HowTo:
    """A question and its steps, as typed: a box for each, empty ones left out."""

    def __init__(self, request: DeskRequest, *, title: str, steps: Sequence[str]) -> None:
        self.title, self.steps, self.fault = title, list(steps), ""
        if request.method == "POST":
            self._read(request)
        self.complete = request.method == "POST" and not self.fault

    @property
    def boxes(self) -> list[str]:
        return [*self.steps, "", ""]

    def _read(self, request: DeskRequest) -> None:
        self.title = request.POST.get("title", "").strip()[:300]
        try:
            typed = [clean(text) for text in request.POST.getlist("step")]
        except BadFrame as exc:
            self.fault = str(exc)
            return
        self.steps = [text for text in typed if text.strip()]
        if not self.title or not self.steps:
            self.fault = _("It needs a question and at least one step.")


def _signed(request: DeskRequest) -> dict[str, Any]:
    user = request.user
    return {"staff_id": user.pk, "role": people.role_of(user), "author_name": people.signs_as(user)}


def _whose(answer: Answer) -> dict[str, Any]:
    """Cut into steps, the words are still whose they were."""
    return {
        "staff_id": answer.author_id,
        "role": answer.role,
        "author_name": answer.author_name,
        "owner_id": answer.owner_id,
        "valid_until": answer.valid_until,
    }


def steps_of(answer: Answer) -> list[str]:
    return list(services.steps_of(answer.parts) or answer.parts)


def _conversation(source_ref: str) -> int | None:
    said = re.match(r"conversation:(\d{1,15})\b", source_ref)
    return int(said[1]) if said else None
