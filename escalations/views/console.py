"""The inbox with its three panes, and the one request by which an open page keeps up."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat import frames
from chat.models import Conversation
from escalations import card, claim, compare, delivery, drafts, looks, people
from escalations.models import Escalation, Question, StaffNote
from escalations.querysets import GRAVE
from memory import services
from memory.models import Topic
from memory.types import AnswerCandidate, Fact

from .base import DeskRequest, alerts, for_staff, list_context, number, others_here, page

WORK_PARTS = [f"escalations/_{name}.html" for name in ("state", "log", "arrived", "reply_bar")]
# Of what lies nearer, more than half is the answer: one tap may send it. What lies less near can be
# put into a reply, and what is far off would only be a trap.
NEAR, FAR_OFF = 0.25, 0.1
LIKENESS = ((0.85, _("almost certainly")), (0.6, _("probably")), (0.0, _("perhaps")))


@for_staff
def inbox(request: DeskRequest) -> HttpResponse:
    return page(request, "escalations/inbox.html", list_context(request) | {"shows": "list"})


@for_staff
def detail(request: DeskRequest, pk: int) -> HttpResponse:
    escalation = find(pk)
    context = list_context(request) | work_context(request, escalation)
    context |= suggested(request, escalation, context["question"]) | side_context(escalation)
    draft = drafts.of(escalation, request.user)
    context |= {"shows": "main", "draft": draft, "canned": _canned(request, escalation)}
    if draft is not None:
        context["seen_seq"] = draft.seen_seq
        context["arrived"] = drafts.arrived_since(escalation, draft.seen_seq)
        context["touched"] = not_compared(request, escalation, draft.text)
    return page(request, "escalations/inbox.html", context)


@for_staff
def chat(request: DeskRequest, pk: int) -> HttpResponse:
    """A conversation with the bot, or one that is over: to read, and to step into."""
    conversation = get_object_or_404(Conversation.objects.select_related("customer"), pk=pk)
    waiting = Escalation.objects.open().filter(conversation=conversation).first()
    context = list_context(request) | {
        "shows": "main",
        "chat": conversation,
        "conversation": conversation,
        "customer": conversation.customer,
        "waiting": waiting,
        "rows": transcript(conversation),
        "topics": Topic.objects.order_by("label"),
        "card": card.card(conversation.customer, now=timezone.now(), but=conversation.pk),
    }
    return page(request, "escalations/inbox.html", context)


@for_staff
def live(request: DeskRequest) -> HttpResponse:
    """What changed, in one request per ping: every part is sent, the page takes in what differs."""
    context = list_context(request) | {"live": True}
    context["alerts"] = alerts(request, context)
    parts = ["escalations/_alerts.html", "escalations/_tabs.html", "escalations/_list.html"]
    pk, conversation_pk = number(request.GET.get("open")), number(request.GET.get("chat"))
    if pk is not None:
        escalation = find(pk)
        seen = number(request.GET.get("seen_seq"))
        context |= work_context(request, escalation)
        if seen is not None:
            context["arrived"] = drafts.arrived_since(escalation, seen)
        held = request.GET.get("held")  # of a page that has the place for it
        if held is not None and held != str(int(context["held"])):
            context |= suggested(request, escalation, context["question"])
            parts.append("escalations/_suggest.html")
        parts += WORK_PARTS
    elif conversation_pk is not None:
        conversation = get_object_or_404(
            Conversation.objects.select_related("customer"), pk=conversation_pk
        )
        context |= {
            "rows": transcript(conversation),
            "customer": conversation.customer,
            "conversation": conversation,
        }
        parts.append("escalations/_log.html")
    return fragments(request, parts, context)


@for_staff
def told(request: DeskRequest) -> HttpResponse:
    """The same for a page without a list: what is to be said by itself."""
    context = {"live": True, "alerts": alerts(request)}
    return fragments(request, ["escalations/_alerts.html"], context)


def fragments(request: DeskRequest, parts: list[str], context: dict[str, Any]) -> HttpResponse:
    """Return parts of the page, each marked for the place that it has there."""
    return HttpResponse("\n".join(render_to_string(p, context, request) for p in parts))


def find(pk: int) -> Escalation:
    return get_object_or_404(
        Escalation.objects.select_related(
            "conversation__customer", "claimed_by", "closed_by", "queue__calendar"
        ),
        pk=pk,
    )


def work_context(request: DeskRequest, escalation: Escalation) -> dict[str, Any]:
    """Return what stands in the middle: who has it, what was said, what may be done."""
    conversation = escalation.conversation
    questions = list(escalation.questions.order_by("asked_at", "pk"))
    mine = escalation.claimed_by_id == request.user.pk and escalation.closed_at is None
    now = timezone.now()
    returns = claim.returns_at(escalation) if mine else None
    free = escalation.claimed_by_id is None and escalation.closed_at is None
    return {
        "escalation": escalation,
        "conversation": conversation,
        "customer": conversation.customer,
        "questions": questions,
        "question": next((q for q in questions if q.answer_id is None), None),
        "rows": transcript(conversation),
        "mine": mine,
        "free": free,
        "grave": escalation.reason in GRAVE,
        "held": not (mine or free),  # a colleague's, or settled: nothing can be sent from here
        "lookers": others_here(escalation, request),
        "colleagues": _colleagues(request.user),
        "returns_at": returns if returns and returns - now <= claim.WARNING else None,
        "seen_seq": conversation.last_seq,
        "request_of": looks.request_of(escalation, staff=request.user, now=now),
        "failed_mails": delivery.failed().filter(escalation=escalation),
        "now": now,
    }


def side_context(escalation: Escalation, *, show_sensitive: bool = False) -> dict[str, Any]:
    return {
        "topics": Topic.objects.order_by("label"),
        "card": card.card(
            escalation.conversation.customer,
            now=timezone.now(),
            but=escalation.conversation_id,
            show_sensitive=show_sensitive,
        ),
    }


def suggested(
    request: DeskRequest, escalation: Escalation, question: Question | None
) -> dict[str, Any]:
    """What may answer the question, each beside what it touches of hers; a look like any other."""
    now = timezone.now()
    found = suggestions(question, escalation.conversation)
    compare.record((f for _c, _w, facts in found for f in facts), staff=request.user, now=now)
    # The nearest alone stands open: each line here is taken from the transcript above.
    near = [one for one in found[:1] if one[0].score >= NEAR]
    return {"near": near, "further": found[len(near) :]}


def suggestions(
    question: Question | None, conversation: Conversation
) -> list[tuple[AnswerCandidate, str, tuple[Fact, ...]]]:
    """Return stored answers that may answer the question, with their likeness in words and the
    grave facts that they touch.

    None for an emergency.
    """
    if question is None or question.reason == Escalation.Reason.EMERGENCY:
        return []
    now = timezone.now()
    found = services.similar_answers(question.text, now=now, limit=3)
    near = [c for c in found if c.score >= FAR_OFF]
    touched = compare.touched(conversation, question.text, near, now=now)
    return [(c, likeness(c.score), touched[c.answer_id]) for c in near]


def not_compared(request: DeskRequest, escalation: Escalation, text: str) -> tuple[Fact, ...]:
    """What is grave about her that typed words touch, till their writer says: I compared the two.

    That holds for whatever else is written here about the same.
    """
    now, conversation = timezone.now(), escalation.conversation
    question = escalation.questions.filter(answer=None).order_by("asked_at", "pk").first()
    facts = compare.touched_by_words(
        text, conversation.customer_id, conversation, question, now=now
    )
    compared = [escalation.pk, compare.labels(facts)]
    if facts and request.POST.get("compared") == compared[1]:
        request.session["compared"] = compared
    if request.session.get("compared") == compared:
        return ()
    compare.record(facts, staff=request.user, now=now)
    return facts


def likeness(score: float) -> str:
    """Say how likely it is in words; the number is for the pointer that rests on them."""
    return str(next(words for least, words in LIKENESS if score >= least))


def transcript(conversation: Conversation) -> list[dict[str, Any]]:
    """Return the rows of the log with staff's notes between them, in order of time."""
    rows = [
        (m.created_at, m.seq, frames.row(m, names=True, own=False))
        for m in conversation.messages.order_by("seq")
    ]
    notes = StaffNote.objects.filter(conversation=conversation).select_related("author")
    for note in notes:
        name = people.name_of(note.author) if note.author else ""
        said = {"kind": "note", "text": note.text, "name": name, "sender": "note", "role": ""}
        at = note.created_at
        rows.append((at, conversation.last_seq + note.pk, said | {"at": at.isoformat()}))
    return [row for _at, _seq, row in sorted(rows, key=lambda r: (r[0], r[1]))]


def _colleagues(user: User) -> list[tuple[int, str]]:
    return [(u.pk, people.name_of(u)) for u in people.staff().exclude(pk=user.pk)]


def _canned(request: DeskRequest, escalation: Escalation) -> list[dict[str, str]]:
    found = drafts.canned(customer=escalation.conversation.customer, staff=request.user)
    return [{"shortcut": shortcut, "text": text} for shortcut, text in found]
