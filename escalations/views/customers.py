"""A customer at the desk: what is known, put right by hand; and writing to her first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from chat import conversations, frames
from chat.models import Conversation
from escalations import card, claim, compare, first, notes
from escalations.forms import FactForm
from memory import services
from memory.models import Customer, Memory, Topic

from .base import DeskRequest, for_staff, number, page


@for_staff
def customer(request: DeskRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Customer, pk=pk)
    return page(request, "escalations/customer.html", _context(found))


@require_POST
@for_staff
def write_first(request: DeskRequest, pk: int) -> HttpResponse:
    """ "Your crown is in": it waits in her chat, and a mail says so where her address is known."""
    found = get_object_or_404(Customer, pk=pk)
    try:
        text = frames.clean(request.POST.get("text", ""))
        if not text.strip():
            raise frames.BadFrame("empty", _("There is nothing to send yet."))
        chat, now = conversations.latest(pk), timezone.now()
        facts = compare.touched_by_words(text, pk, chat, None, now=now)
        if facts and request.POST.get("compared") != compare.labels(facts):
            compare.record(facts, staff=request.user, now=now)
            context = _context(found) | {"touched": facts, "text": text}
            return page(request, "escalations/customer.html", context, status=409)
        escalation = first.write(found, staff=request.user, text=text, now=now)
    except frames.BadFrame as exc:
        context = _context(found) | {"fault": str(exc), "text": request.POST.get("text", "")}
        return page(request, "escalations/customer.html", context, status=422)
    except claim.AlreadyClaimed as exc:
        context = _context(found) | {"fault": str(exc), "text": request.POST.get("text", "")}
        return page(request, "escalations/customer.html", context, status=409)
    return redirect("escalations:detail", escalation.pk)


@require_POST
@for_staff
def look(request: DeskRequest, pk: int) -> HttpResponse:
    """Show what is sensitive, and write down who looked."""
    found = get_object_or_404(Customer, pk=pk)
    now = timezone.now()
    shown = [*card.known(found, now), *card.faded(found, now)]
    services.looked_at(shown, staff_id=request.user.pk, now=now)
    return _card(request, found, show_sensitive=True)


@require_POST
@for_staff
def note(request: DeskRequest, pk: int) -> HttpResponse:
    """A note on the customer herself, whichever conversation is open."""
    found = get_object_or_404(Customer, pk=pk)
    fault = ""
    try:
        notes.write(
            request.POST.get("text", ""), author=request.user, customer=found, now=timezone.now()
        )
    except frames.BadFrame as exc:
        fault = str(exc)
    return _card(request, found, fault=fault)


@require_POST
@for_staff
def add_fact(request: DeskRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Customer, pk=pk)
    form = FactForm(request.POST)
    if not form.is_valid() or not Topic.objects.filter(key=form.cleaned_data["topic"]).exists():
        return _card(request, found, fault=_("Please say what it is about, and what is so."))
    services.remember(
        pk,
        topic=form.cleaned_data["topic"],
        value=form.cleaned_data["text"],
        text=form.cleaned_data["text"],
        by=f"staff:{request.user.pk}",
        staff_id=request.user.pk,
        now=timezone.now(),
    )
    return _card(request, found)


@require_POST
@for_staff
def correct(request: DeskRequest, pk: int) -> HttpResponse:
    told = request.POST.get("text", "").strip()

    def do(memory: Memory, by: str, now: datetime) -> None:
        if told and told != card.shown(memory):
            value, text = card.corrected(memory, told)
            services.correct(
                memory.pk, value=value, text=text, by=by, staff_id=request.user.pk, now=now
            )

    return _change(request, pk, do)


@require_POST
@for_staff
def confirm(request: DeskRequest, pk: int) -> HttpResponse:
    def do(memory: Memory, by: str, now: datetime) -> None:
        services.confirm(memory.pk, by=by, now=now)

    return _change(request, pk, do)


@require_POST
@for_staff
def forget(request: DeskRequest, pk: int) -> HttpResponse:
    def do(memory: Memory, by: str, now: datetime) -> None:
        services.forget(memory.customer_id, memory_id=memory.pk, by=by, now=now)

    return _change(request, pk, do)


def _change(
    request: DeskRequest, pk: int, do: Callable[[Memory, str, datetime], None]
) -> HttpResponse:
    memory = get_object_or_404(Memory.objects.select_related("customer"), pk=pk)
    fault = ""
    try:
        do(memory, f"staff:{request.user.pk}", timezone.now())
    except services.Touched:
        fault = _("This was changed meanwhile. Look at it again.")
    return _card(request, memory.customer, fault=fault)


def _card(
    request: DeskRequest, found: Customer, *, show_sensitive: bool = False, fault: str = ""
) -> HttpResponse:
    """Return the card alone to an open page, else the customer's page."""
    if not request.htmx:
        if fault:
            messages.error(request, fault)
        if not show_sensitive:
            return redirect("escalations:customer", found.pk)
        return page(request, "escalations/customer.html", _context(found, show_sensitive=True))
    but = number(request.POST.get("conversation"))
    return page(
        request,
        "escalations/_card.html",
        _context(found, but=but, show_sensitive=show_sensitive) | {"fault": fault},
    )


def _context(
    found: Customer, *, but: int | None = None, show_sensitive: bool = False
) -> dict[str, Any]:
    return {
        "customer": found,
        "conversation": Conversation.objects.filter(pk=but or 0).first(),
        "card": card.card(found, now=timezone.now(), but=but, show_sensitive=show_sensitive),
        "topics": Topic.objects.order_by("label"),
    }
