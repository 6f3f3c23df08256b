"""What is written at the desk: replies, stored answers, notes, drafts."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from chat import frames
from chat.models import Conversation
from escalations import claim, compare, drafts, looks, notes, people, reply
from escalations.models import Escalation
from memory import services
from memory.models import Answer
from memory.types import Fact

from .base import DeskRequest, back_to, for_staff, list_context, number
from .console import WORK_PARTS, find, fragments, not_compared, suggested, work_context


@require_POST
@for_staff
def send(request: DeskRequest, pk: int) -> HttpResponse:
    """Send to the customer; what nobody has is claimed by it. `then=keep`: and go on to resolve."""
    escalation, now = find(pk), timezone.now()
    try:
        text = frames.clean(request.POST.get("text", ""))
        if not text.strip():
            raise frames.BadFrame("empty", _("There is nothing to send yet."))
        if facts := not_compared(request, escalation, text):
            return _touches(request, escalation, text, facts)
        seen = number(request.POST.get("seen_seq"))
        with transaction.atomic():  # who sends nothing takes nothing
            if escalation.claimed_by_id is None:
                claim.claim(pk, staff=request.user, now=now)
            reply.send(pk, staff=request.user, text=text, seen_seq=seen, now=now)
    except reply.Stale:
        return _stale(request, escalation)
    except frames.BadFrame as exc:
        return _answer(request, pk, fault=str(exc))
    except (claim.AlreadyClaimed, claim.NotYours, claim.Closed):
        return _answer(request, pk, fault=_not_sent(pk))
    if request.POST.get("then") == "keep":
        return _go(request, reverse("escalations:keep", args=[pk]))
    return _answer(request, pk, event="desk:sent")


@require_POST
@for_staff
def send_answer(request: DeskRequest, pk: int, answer_id: int) -> HttpResponse:
    """ "This answers it"."""
    now, escalation = timezone.now(), find(pk)
    question = escalation.questions.filter(pk=number(request.POST.get("question")) or 0).first()
    facts = compare.touched_by(
        compare.candidate(answer_id), escalation.conversation, question, now=now
    )
    if facts and not request.POST.get("compared"):
        fault = _(
            "Not sent: it touches what we know of the customer ({topics}). Compare the two first."
        )
        return _answer(request, pk, fault=fault.format(topics=compare.labels(facts)), anew=True)
    try:
        with transaction.atomic():
            claim.claim(pk, staff=request.user, now=now)
            reply.send_answer(
                pk, answer_id, staff=request.user, question=question,
                seen_seq=number(request.POST.get("seen_seq")), now=now,
            )  # fmt: skip
    except reply.Stale:
        return _stale(request, find(pk))
    except (claim.AlreadyClaimed, claim.NotYours, claim.Closed):
        return _answer(request, pk, fault=_not_sent(pk))
    except Answer.DoesNotExist:
        return _answer(request, pk, fault=_("Not sent: this answer was taken out of use."))
    return _answer(request, pk, event="desk:answered")


@require_POST
@for_staff
def note(request: DeskRequest, conversation_pk: int) -> HttpResponse:
    """A note for colleagues on any chat: a row of its own table, which no customer's page reads."""
    conversation = get_object_or_404(Conversation, pk=conversation_pk)
    escalation = Escalation.objects.filter(
        pk=number(request.POST.get("escalation")) or 0, conversation=conversation
    ).first()
    fault = ""
    try:
        notes.write(
            request.POST.get("text", ""), author=request.user, conversation=conversation,
            now=timezone.now(),
        )  # fmt: skip
    except frames.BadFrame as exc:
        fault = str(exc)
    if escalation is not None:
        return _answer(request, escalation.pk, event="" if fault else "desk:noted", fault=fault)
    if fault:
        messages.error(request, fault)
    return redirect("escalations:chat", conversation.pk)


@require_POST
@for_staff
def draft(request: DeskRequest, pk: int) -> HttpResponse:
    try:
        text = frames.clean(request.POST.get("text", ""))
    except frames.BadFrame:
        return HttpResponse(status=422)  # it stays in the box; sending it says what is wrong
    drafts.save(
        find(pk),
        staff=request.user,
        text=text,
        seen_seq=number(request.POST.get("seen_seq")) or 0,
        now=timezone.now(),
    )
    return HttpResponse(status=204)


@require_POST
@for_staff
def look(request: DeskRequest, pk: int) -> HttpResponse:
    """Show what is sensitive in what is asked for, and write down who looked."""
    escalation = find(pk)
    topics = looks.sensitive_in(escalation).values()
    services.looked(
        escalation.conversation.customer_id, topics, staff_id=request.user.pk, now=timezone.now()
    )
    return _answer(request, pk)


def _touches(
    request: DeskRequest, escalation: Escalation, text: str, facts: tuple[Fact, ...]
) -> HttpResponse:
    """Show beside the words what they touch; sending again, having compared, goes through."""
    if request.htmx:
        context = work_context(request, escalation) | {"touched": facts, "live": True}
        return fragments(request, ["escalations/_touched.html"], context)
    seen = number(request.POST.get("seen_seq")) or 0
    drafts.save(escalation, staff=request.user, text=text, seen_seq=seen, now=timezone.now())
    return back_to(request, escalation)


def _stale(request: DeskRequest, escalation: Escalation) -> HttpResponse:
    """Show what arrived; sending again, having seen it, goes through."""
    seen = number(request.POST.get("seen_seq")) or 0
    context = work_context(request, escalation) | {
        "arrived": drafts.arrived_since(escalation, seen),
        "stale": True,
        "text": request.POST.get("text", ""),
    }
    if request.htmx:
        return fragments(request, WORK_PARTS, context | {"live": True})
    drafts.save(
        escalation, staff=request.user, text=context["text"], seen_seq=seen, now=timezone.now()
    )
    messages.warning(request, _("Not sent yet: more was said meanwhile. Read it, and send again."))
    return back_to(request, escalation)


def _answer(
    request: DeskRequest, pk: int, *, event: str = "", fault: str = "", anew: bool = False
) -> HttpResponse:
    """`anew`: the stored answers too, which the page otherwise keeps as they are."""
    escalation = find(pk)
    if not request.htmx:
        if fault:
            messages.error(request, fault)
        return back_to(request, escalation)
    context: dict[str, Any] = list_context(request) | work_context(request, escalation)
    parts = ["escalations/_tabs.html", "escalations/_list.html", "escalations/_touched.html"]
    parts += WORK_PARTS
    if anew:
        context |= suggested(request, escalation, context["question"])
        parts.append("escalations/_suggest.html")
    response = fragments(request, parts, context | {"live": True, "fault": fault})
    if event:
        seq = escalation.conversation.last_seq
        response["HX-Trigger"] = json.dumps({event: {"seq": seq}})
    return response


def _go(request: DeskRequest, url: str) -> HttpResponse:
    if not request.htmx:
        return redirect(url)
    response = HttpResponse()
    response["HX-Redirect"] = url
    return response


def _not_sent(pk: int) -> str:
    escalation = find(pk)
    if escalation.closed_at is not None:
        return _("Not sent: this was settled meanwhile.")
    name = people.name_of(escalation.claimed_by) if escalation.claimed_by else ""
    return _("Not sent: {name} is on it. Your words are still here.").format(name=name)
