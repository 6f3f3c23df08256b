"""What came of it: lines for the terminal, and a page of its own with plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from escalations.reports import Chart, Period, Series
from escalations.templatetags.charts import chart as drawn

Figures = dict[str, Any]
Counts = dict[str, str]  # label: figure of a week
Shares = dict[str, tuple[str, str]]  # label: part and whole


def lines(told: Figures) -> list[str]:
    return [
        f"{name:<46} {value:.3f}" if isinstance(value, float) else f"{name:<46} {value}"
        for name, value in told["totals"].items()
    ]


def period(told: Figures) -> Period:
    """All the weeks that were simulated, for the desk's own reports."""
    zone = ZoneInfo(told["timezone"])
    start = datetime.combine(date.fromisoformat(told["start"]), time(0), tzinfo=zone)
    return Period(start, start + timedelta(weeks=len(told["weeks"])), zone)


def page(told: Figures, desk: Sequence[Chart] = ()) -> str:
    """Return one HTML file that needs no other. `desk`: the desk's own reports of that time."""
    tokens = finders.find("chat/tokens.css")
    return render_to_string(
        "simulation/report.html",
        {
            "told": told,
            "last": _percent(told["totals"]["repeat_needed_person_last_4_weeks"]),
            "wrong": _percent(told["totals"]["wrong_share"]),
            "hours": round(told["totals"]["minutes_given_back"] / 60),
            "charts": [drawn(c) for c in _charts(told)],
            "desk": [drawn(c) for c in desk],
            "tokens": Path(str(tokens)).read_text(encoding="utf-8") if tokens else "",
            "json": json.dumps(told, ensure_ascii=False, indent=1),
        },
    )


def _charts(told: Figures) -> list[Chart]:
    weeks, totals = _Weeks(told), told["totals"]
    return [*_answering(weeks, totals), *_gained(weeks, totals)]


def _answering(weeks: _Weeks, totals: Figures) -> list[Chart]:
    return [
        weeks.shares(
            "repeats",
            "Do fewer repeat questions need a person?",
            f"{_percent(totals['repeat_needed_person_first_4_weeks'])} of the first four weeks, "
            f"{_percent(totals['repeat_needed_person_last_4_weeks'])} of the last four.",
            {
                "Repeats that needed a person": ("repeats_needed_person", "repeats"),
                "In words that nobody used before": (
                    "unseen_repeats_needed_person",
                    "unseen_repeats",
                ),
            },
            rule="A repeat: it was asked and staff answered it before. Personal ones are none.",
        ),
        weeks.counts(
            "ways",
            "What becomes of a message?",
            f"{totals['delivered']} answers delivered, {totals['offers']} offers made and "
            f"{totals['offers_taken']} taken, {totals['escalated']} messages to a person.",
            {
                "Delivered word for word": "delivered",
                "Offered": "offers",
                "Offered and taken": "offers_taken",
                "To a person": "escalated",
            },
        ),
        weeks.counts(
            "wrong",
            "Does anybody get a wrong answer?",
            f"{totals['delivered_wrong']} of {totals['delivered']} that were delivered; "
            f"{totals['offers_taken_wrongly']} times the customer pressed a wrong button.",
            {"Delivered wrong": "delivered_wrong", "Pressed wrongly": "offers_taken_wrongly"},
        ),
    ]


def _gained(weeks: _Weeks, totals: Figures) -> list[Chart]:
    return [
        weeks.shares(
            "after-hours",
            "How many questions are answered while the practice is closed?",
            f"{_percent(totals['after_hours_answered_last_4_weeks'])} in the last four weeks.",
            {"Answered, out of hours": ("after_hours_answered", "after_hours_questions")},
        ),
        weeks.counts(
            "given-back",
            "How much time is given back?",
            f"{round(totals['minutes_given_back'] / 60)} hours in all.",
            {"Minutes": "minutes_given_back"},
            rule="3 minutes for each question that was answered without a person.",
        ),
        weeks.counts(
            "memory",
            "What is learnt about customers?",
            f"{totals['memory_operations']} facts noted, said again, replaced or ended.",
            {"Memory operations": "memory_operations"},
        ),
    ]


class _Weeks:
    """Turns the weekly figures into charts."""

    def __init__(self, told: Figures) -> None:
        start = date.fromisoformat(told["start"])
        self._weeks = [(start + timedelta(weeks=n), w) for n, w in enumerate(told["weeks"])]

    def counts(self, name: str, title: str, said: str, of: Counts, *, rule: str = "") -> Chart:
        made = tuple(self._series(label, _count(field)) for label, field in of.items())
        return Chart(f"simulated-{name}", title, said, made, rule=rule)

    def shares(self, name: str, title: str, said: str, of: Shares, *, rule: str = "") -> Chart:
        made = tuple(self._series(label, _share(*parts)) for label, parts in of.items())
        return Chart(f"simulated-{name}", title, said, made, kind="line", unit="%", rule=rule)

    def _series(self, label: str, value: Callable[[Figures], float | None]) -> Series:
        found = {week: value(figures) for week, figures in self._weeks}
        return Series(label, {week: v for week, v in found.items() if v is not None})


def _count(field: str) -> Callable[[Figures], float | None]:
    return lambda week: float(week[field])


def _share(part: str, whole: str) -> Callable[[Figures], float | None]:
    """None in a week without any: it says nothing."""
    return lambda week: float(round(100 * week[part] / week[whole])) if week[whole] else None


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.1f} %"
