"""Mails that did not go: to staff, to customers, the links back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from escalations import broadcast, delivery

from .base import DeskRequest, for_staff, page


@for_staff
def failed(request: DeskRequest) -> HttpResponse:
    return page(request, "escalations/mails.html", {"mails": delivery.failed()[:200]})


@require_POST
@for_staff
def again(request: DeskRequest, pk: int) -> HttpResponse:
    """Try one again, or take it off the list."""
    if request.POST.get("do") == "dismiss":
        delivery.dismiss(pk)
    elif delivery.try_again(pk, now=timezone.now()):
        messages.success(request, _("It is tried again now."))
    broadcast.changed_on_commit()
    return redirect("escalations:mails")
