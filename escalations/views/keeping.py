"""The end of an escalation: what is kept, and who else was waiting for it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from escalations import capture, claim, compare, fanout, forms, gaps, people, reply
from escalations.models import Gap, Question
from memory import services
from memory.models import Answer

from .base import DeskRequest, back_to, for_staff, list_context, number, page
from .console import find


@for_staff
def keep(request: DeskRequest, pk: int) -> HttpResponse:
    """Show each staff message since the claim with its choice; on "Keep and resolve", do it."""
    escalation = find(pk)
    if escalation.closed_at is not None or escalation.claimed_by_id != request.user.pk:
        messages.warning(request, _("You do not have this any more."))
        return back_to(request, escalation)
    now = timezone.now()
    step = capture.propose(escalation, now=now, title=request.POST.get("title", "").strip())
    faults: list[forms.Fault] = []
    if request.method == "POST":
        kept, faults = forms.keeps(request.POST, step, now)
        if not faults:
            return _resolve(request, pk, kept)
    parts = [_shown(part, request) for part in step.parts]
    chosen = number(request.POST.get("question")) or step.question_id
    waiting = [q for q in step.questions if q.answer_id is None]
    context: dict[str, Any] = {
        "escalation": escalation,
        "customer": escalation.conversation.customer,
        "step": step,
        "parts": parts,
        # What is to stand beside the other answer: greetings are not.
        "mine": [p for p in parts if p["chosen"] in ("everyone", "later")] or parts,
        "chosen_question": chosen,
        "waiting": waiting,
        "rest": [q for q in waiting if not (step.parts and q.pk == chosen)],
        "rival_choice": request.POST.get("rival", _proposed_for(step)),
        "until": request.POST.get("valid_until", step.until.isoformat() if step.until else ""),
        "faults": {f.field: f.text for f in faults},
        "title": request.POST.get("title", step.title),
        "review_on": request.POST.get("review_on", ""),
        "colleagues": people.staff(),
        "owner": number(request.POST.get("owner")),
        "shows": "main",
    }
    return page(
        request, "escalations/keep.html", list_context(request) | context,
        status=422 if faults else 200,
    )  # fmt: skip


def _shown(part: capture.Part, request: DeskRequest) -> dict[str, Any]:
    chosen = request.POST.get(f"keep-{part.message.seq}", part.choice)
    return {"message": part.message, "why": part.verdict.reason, "proposed": part.choice,
            "chosen": chosen}  # fmt: skip


def _proposed_for(step: capture.Step) -> str:
    """Under the very same question only one can stand: then the new words, unless staff say so."""
    return "replace" if step.same_title(step.title) else "both"


def _resolve(request: DeskRequest, pk: int, keeps: list[capture.Keep]) -> HttpResponse:
    try:
        kept = reply.resolve(pk, staff=request.user, now=timezone.now(), keep=keeps)
    except claim.NotYours:
        messages.warning(request, _("You do not have this any more."))
        return back_to(request, find(pk))
    except claim.MoreAsked:
        messages.error(request, _("Something urgent came in here. Please read it first."))
        return back_to(request, find(pk))
    messages.success(request, _said(kept))
    shared = next((k for k in kept if k.answer and k.question and k.question.gap_id), None)
    if shared and gaps.also_waiting([shared.question.gap_id], but=pk):  # type: ignore[union-attr,list-item]
        return redirect("escalations:waiting", shared.question.gap_id)  # type: ignore[union-attr]
    return back_to(request)


@for_staff
def waiting(request: DeskRequest, pk: int) -> HttpResponse:
    """Who else waits for this answer: each is told after staff confirmed the list."""
    gap = get_object_or_404(Gap, pk=pk)
    answer = _in_use(gap.answer_id) or _chosen_answer(request)
    questions = gaps.also_waiting([gap.pk], but=0)
    if request.method == "POST":
        ticked = [q for q in questions if str(q.pk) in request.POST.getlist("question")]
        if request.POST.get("do") == "apart":
            gaps.set_apart(ticked)
            return redirect("escalations:waiting", gap.pk)
        if answer is not None:
            result = fanout.answer_all(ticked, answer.pk, staff=request.user, now=timezone.now())
            if result.told:
                gaps.close(gap, answer, now=timezone.now())
            _report(request, result)
            return redirect("escalations:gaps")
    touched = _touched(answer, questions)
    context = {
        "gap": gap,
        "answer": answer,
        "questions": [q for q in questions if q.pk not in touched],
        "touched": [(q, touched[q.pk]) for q in questions if q.pk in touched],
    }
    return page(request, "escalations/waiting.html", context)


def _touched(answer: Answer | None, questions: list[Question]) -> dict[int, str]:
    """By question, the topics of hers that the answer touches: nobody is told by the way."""
    if answer is None:
        return {}
    now, candidate = timezone.now(), services.as_candidate(answer)
    found = {
        q.pk: compare.touched_by(candidate, q.escalation.conversation, q, now=now)
        for q in questions
    }
    return {pk: compare.labels(facts) for pk, facts in found.items() if facts}


def _chosen_answer(request: DeskRequest) -> Answer | None:
    return _in_use(number(request.POST.get("answer") or request.GET.get("answer")))


def _in_use(pk: int | None) -> Answer | None:
    return Answer.objects.active(timezone.now()).filter(pk=pk or 0).first()


def _report(request: DeskRequest, result: fanout.FanOut) -> None:
    if result.told:
        text = ngettext(
            "{number} person has the answer now.", "{number} people have the answer now.",
            len(result.told),
        )  # fmt: skip
        messages.success(request, text.format(number=len(result.told)))
    for question, topics in result.touched:
        customer = question.escalation.conversation.customer
        text = _("Left out: {customer}. The answer touches what we know of them: {topics}.")
        messages.warning(request, text.format(customer=customer, topics=topics))
    for question, by in result.skipped:
        customer = question.escalation.conversation.customer
        text = _("Left out: {customer}. {name} is on it.")
        messages.warning(request, text.format(customer=customer, name=people.name_of(by)))
    for question in result.gone:
        customer = question.escalation.conversation.customer
        text = _("Left out: {customer}. It was settled, or more was asked, meanwhile.")
        messages.warning(request, text.format(customer=customer))


def _said(kept: list[capture.Kept]) -> str:
    scopes = {k.scope for k in kept if k.answer or k.memory}
    if "later" in scopes:
        return _("Resolved. Somebody looks at it again before others are given it: “To check”.")
    if scopes == {"everyone"}:
        return _("Resolved. The next person who asks this gets these very words.")
    if scopes == {"customer"}:
        return _("Resolved, and remembered for this customer alone.")
    if scopes:
        return _("Resolved. Kept for everyone, and for this customer.")
    return _("Resolved. Nothing was kept.")
