"""One stored answer at the desk: its words, whose they are, where they come from."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone

from escalations import people
from memory.models import Answer

from .base import DeskRequest, for_staff, page


@for_staff
def answer(request: DeskRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Answer.objects.select_related("owner", "superseded_by"), pk=pk)
    context = {
        "answer": found,
        "owner": people.name_of(found.owner) if found.owner else "",
        "kind": kind_of(found),
        "said_in": _conversation(found.source_ref),
        "now": timezone.now(),
        "tab": "inbox",
    }
    return page(request, "escalations/answer.html", context)


def kind_of(found: Answer) -> str:
    """What a decision about it is called, as in the list of what is to be checked."""
    return "wording" if found.status == "pending" else "answer"


def _conversation(source_ref: str) -> int | None:
    said = re.match(r"conversation:(\d{1,15})\b", source_ref)
    return int(said[1]) if said else None
