"""Figures, receipts, and whether today's knowledge would have answered last month's gaps."""

from __future__ import annotations

import csv as csv_format
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from chat import rehearsal
from chat.conversations import business_clock
from chat.models import Message, Turn
from escalations import gaps, reports, rules
from escalations import receipt as receipts
from escalations.models import Question, ReportSetting
from memory.models import Answer

from .base import DeskRequest, for_staff, number, page

WEEKS = (13, 26, 52)
STALE_SHOWN = 20


@for_staff
def overview(request: DeskRequest) -> HttpResponse:
    now = timezone.now()
    if request.method == "POST":
        return _save_rule(request)
    weeks = _weeks(request)
    context = {
        "charts": reports.report(_period(weeks, now)),
        "weeks": weeks,
        "choices": WEEKS,
        "gaps": gaps.unanswered()[:10],
        "stale": _stale(now),
        "rules": rules.current(),
        "now": now,
        "tab": "reports",
    }
    return page(request, "escalations/reports.html", context)


@for_staff
def csv(request: DeskRequest, name: str) -> HttpResponse:
    charts = reports.report(_period(_weeks(request), timezone.now()))
    chart = next((c for c in charts if c.name == name), None)
    if chart is None:
        raise Http404
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    csv_format.writer(response).writerows(reports.csv_rows(chart))
    return response


@for_staff
def receipt(request: DeskRequest, pk: int) -> HttpResponse:
    """Why this answer: what was known, used and rejected, with scores."""
    turn = get_object_or_404(Turn.objects.select_related("conversation__customer"), pk=pk)
    rows = Message.objects.filter(
        conversation=turn.conversation, seq__in=(turn.question_seq, turn.reply_seq or 0)
    )
    said = {m.seq: m for m in rows}
    context: dict[str, Any] = {
        "turn": turn,
        "question": said.get(turn.question_seq),
        "reply": said.get(turn.reply_seq or 0),
        "sections": receipts.sections(turn),
    }
    return page(request, "escalations/receipt.html", context)


@for_staff
def replay(request: DeskRequest) -> HttpResponse:
    """Put last month's open questions to the store as it is now, for who asked them."""
    now = timezone.now()
    asked = Question.objects.filter(
        gap__isnull=False, asked_at__gt=now - timedelta(days=30)
    ).select_related("escalation__conversation")
    rows = [(q, _today(q, now)) for q in asked.order_by("-asked_at")[:100]]
    ways = Counter(found.way for _q, found in rows)
    context = {"rows": rows, "ways": ways, "tab": "gaps"}
    return page(request, "escalations/replay.html", context)


def _today(question: Question, now: datetime) -> rehearsal.Rehearsed:
    hers = question.escalation.conversation.customer_id
    return rehearsal.today(question.text, customer_id=hers, now=now)


def _save_rule(request: DeskRequest) -> HttpResponse:
    try:
        minutes = float(request.POST.get("minutes", ""))
    except ValueError:
        minutes = rules.current().minutes_per_answer
    if 0 <= minutes <= 120:
        ReportSetting.objects.update_or_create(pk=1, defaults={"minutes_per_answer": minutes})
    return redirect("escalations:reports")


def _weeks(request: DeskRequest) -> int:
    weeks = number(request.GET.get("weeks"))
    return weeks if weeks in WEEKS else WEEKS[0]


def _period(weeks: int, now: datetime) -> reports.Period:
    zone = business_clock()
    day = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    monday = day - timedelta(days=day.weekday())
    return reports.Period(monday - timedelta(weeks=weeks - 1), now, zone)


def _stale(now: datetime) -> list[Answer]:
    due = Answer.objects.active(now).filter(review_on__lt=now.date())
    return list(due.order_by("review_on")[:STALE_SHOWN])
