"""What every page of the desk shares: who may come in, and what stands around it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django_htmx.middleware import HtmxDetails

from chat.conversations import business, business_clock
from escalations import drafts, figures, lists
from escalations import status as desk_status
from escalations.models import Escalation
from memory.kept import looked_once

P = ParamSpec("P")


class DeskRequest(HttpRequest):
    """A request of somebody who works here."""

    user: User  # for_staff turns away everybody else
    htmx: HtmxDetails


def for_staff(
    view: Callable[Concatenate[DeskRequest, P], HttpResponse],
) -> Callable[Concatenate[DeskRequest, P], HttpResponse]:
    """Let staff in; who is not signed in is asked to, everybody else is refused."""

    def guarded(request: DeskRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        visitor: User | AnonymousUser = request.user
        if visitor.is_anonymous:
            return redirect_to_login(request.get_full_path())
        if not (visitor.is_active and visitor.is_staff):
            raise PermissionDenied
        reads = request.method in ("GET", "HEAD")
        with looked_once() if reads else nullcontext(), timezone.override(business_clock()):
            return view(request, *args, **kwargs)

    update_wrapper(guarded, view)
    return guarded


def page(
    request: DeskRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    around = {
        "business": business(),
        "clock": timezone.get_current_timezone_name(),
        "alerts": alerts(request, context),
    }
    return render(request, template, around | context, status=status)


def alerts(request: DeskRequest, context: dict[str, Any] | None = None) -> desk_status.Status:
    """What every page says by itself; a list that counted already need not count again."""
    counted = (context or {}).get("counted")
    return desk_status.of(request.user, now=timezone.now(), counted=counted)


def list_context(request: DeskRequest) -> dict[str, Any]:
    """Return the rows of the chosen list and how much each list holds."""
    now = timezone.now()
    name = request.GET.get("list", "")
    name = name if name in lists.EMPTY else "unclaimed"
    told = request.GET.get("queue")
    queue = lists.MY_QUEUES if told == lists.MY_QUEUES else number(told)
    limit = min(number(request.GET.get("n")) or lists.PAGE, 500)
    counted = figures.of_lists(staff=request.user, now=now)
    if request.htmx.target == "main-pane":  # a click on a row: the list beside it stays as it is
        listed = lists.Listed(name, [], more=False)
    else:
        listed = lists.listed(name, staff=request.user, now=now, queue=queue, limit=limit)
    return {
        "listed": listed,
        "tabs": [(key, label, counted.lists.get(key)) for key, label in lists.NAMES.items()],
        "counted": counted,
        "closed": name == "resolved",
        "empty": lists.EMPTY[name],
        "queues": lists.queues(request.user),
        "queue": queue,
        "query": urlencode({"list": name} | ({"queue": queue} if queue else {})),
        "more": urlencode(
            {"list": name, "n": limit + lists.PAGE} | ({"queue": queue} if queue else {})
        ),
        "now": now,
        "here": _here(request),
        "address": _before_its_key("chat" if name == "bot" else "detail"),
    }


def _before_its_key(name: str) -> str:
    """Where the rows of a list lead to: fifty addresses are looked up once."""
    return reverse(f"escalations:{name}", args=[0]).removesuffix("0/")


def _here(request: DeskRequest) -> str:
    """Return the address that the page shows: changing the list leaves what is open open."""
    opened, chat = number(request.GET.get("open")), number(request.GET.get("chat"))
    match = request.resolver_match
    if match and match.url_name == "chat":
        return request.path
    if match and "pk" in match.kwargs:
        opened = match.kwargs["pk"]
    if opened is not None:
        return reverse("escalations:detail", args=[opened])
    if chat is not None:
        return reverse("escalations:chat", args=[chat])
    return reverse("escalations:inbox")


def back_to(request: DeskRequest, escalation: Escalation | None = None) -> HttpResponse:
    """Return to the escalation, or to the list, that the form came from."""
    name = request.POST.get("list", "")
    query = f"?{urlencode({'list': name})}" if name in lists.NAMES else ""
    if escalation is None:
        return redirect(reverse("escalations:inbox") + query)
    return redirect(reverse("escalations:detail", args=[escalation.pk]) + query)


def others_here(escalation: Escalation, request: DeskRequest) -> list[drafts.Looker]:
    return drafts.lookers(escalation, but=request.user, now=timezone.now())


def number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 16 else None
