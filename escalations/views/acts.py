"""Changes of hands: claim, release, assign, take over, return to the bot."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from chat.models import Conversation
from escalations import claim, people
from escalations.models import Escalation

from .base import DeskRequest, back_to, for_staff, number
from .console import find


@require_POST
@for_staff
def claim_view(request: DeskRequest, pk: int) -> HttpResponse:
    return _act(request, pk, lambda: claim.claim(pk, staff=request.user, now=timezone.now()))


@require_POST
@for_staff
def release(request: DeskRequest, pk: int) -> HttpResponse:
    return _act(request, pk, lambda: claim.release(pk, staff=request.user, now=timezone.now()))


@require_POST
@for_staff
def assign(request: DeskRequest, pk: int) -> HttpResponse:
    """Give it to a colleague, or take it from one: as the page showed it, or not at all."""
    to = get_object_or_404(User, pk=number(request.POST.get("to")), is_staff=True, is_active=True)
    expected = number(request.POST.get("expected"))
    return _act(
        request,
        pk,
        lambda: claim.assign(pk, to=to, expected=expected, by=request.user, now=timezone.now()),
        done=_("{name} has it now.").format(name=people.name_of(to)),
    )


@require_POST
@for_staff
def return_to_bot(request: DeskRequest, pk: int) -> HttpResponse:
    return _act(
        request,
        pk,
        lambda: claim.return_to_bot(pk, staff=request.user, now=timezone.now()),
        done=_("The bot has this conversation again."),
    )


@require_POST
@for_staff
def take_over(request: DeskRequest, pk: int) -> HttpResponse:
    """Step into any chat. `pk` is the conversation's."""
    get_object_or_404(Conversation, pk=pk)
    try:
        claim.take_over(pk, staff=request.user, now=timezone.now())
    except claim.AlreadyClaimed as exc:
        messages.warning(request, _taken(exc))
    except claim.Closed:  # between finding what waits and taking it
        messages.warning(request, _("This was settled meanwhile."))
    newest = Escalation.objects.filter(conversation_id=pk).order_by("-pk")
    return back_to(request, newest[0])  # settled since or not, there is one


def _act(
    request: DeskRequest, pk: int, act: Callable[[], Escalation], *, done: str = ""
) -> HttpResponse:
    find(pk)  # or there is nothing here under that number
    try:
        act()
    except claim.AlreadyClaimed as exc:
        messages.warning(request, _taken(exc))
    except claim.Closed:
        messages.warning(request, _("This was settled meanwhile."))
    except claim.MoreAsked:
        messages.error(request, _("Something urgent came in here. Please read it first."))
    except claim.NotYours:
        messages.warning(request, _("You do not have this any more."))
    else:
        if done:
            messages.success(request, done)
    return back_to(request, find(pk))


def _taken(exc: claim.AlreadyClaimed) -> str:
    return _("{name} is on it.").format(name=people.name_of(exc.by))
