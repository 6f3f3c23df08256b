"""What every figure is made of: a period of whole weeks, and rows counted by week."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncWeek
from django.utils.translation import gettext as _

Weekly = dict[date, float]


@dataclass(frozen=True, slots=True)
class Series:
    label: str
    values: Weekly


@dataclass(frozen=True, slots=True)
class Chart:
    name: str
    title: str  # a question
    said: str  # its answer
    series: tuple[Series, ...]
    kind: str = "bars"  # bars, line
    unit: str = ""
    rule: str = ""

    @property
    def weeks(self) -> list[date]:
        return sorted({week for one in self.series for week in one.values})

    @property
    def table(self) -> list[tuple[date, list[float]]]:
        return [(week, [s.values.get(week, 0) for s in self.series]) for week in self.weeks]


@dataclass(frozen=True, slots=True)
class Period:
    since: datetime
    until: datetime
    zone: ZoneInfo

    def weeks(self) -> list[date]:
        day = self.since.astimezone(self.zone).date()
        day -= timedelta(days=day.weekday())
        last = self.until.astimezone(self.zone).date()
        return [day + timedelta(weeks=n) for n in range((last - day).days // 7 + 1)]

    def empty(self) -> Weekly:
        return dict.fromkeys(self.weeks(), 0.0)


def within(field: str, period: Period) -> Q:
    return Q(**{f"{field}__gte": period.since, f"{field}__lt": period.until})


def weekly(rows: QuerySet[Any], field: str, period: Period) -> Weekly:
    """Count rows by the business's own week; weeks with none are zero."""
    return weekly_by(rows, field, period).get((), period.empty())


def weekly_by(
    rows: QuerySet[Any], field: str, period: Period, *keys: str
) -> dict[tuple[Any, ...], Weekly]:
    """Count rows by week and by `keys`, in one pass over them."""
    counted = (
        rows.order_by()
        .annotate(week=TruncWeek(field, tzinfo=period.zone))
        .values_list("week", *keys)
        .annotate(Count("pk"))
    )
    found: dict[tuple[Any, ...], Weekly] = {}
    for week, *key, number in counted:
        found.setdefault(tuple(key), period.empty())[week.date()] = float(number)
    return found


def summed(parts: Iterable[Weekly], period: Period) -> Weekly:
    every = period.empty()
    for part in parts:
        for week, number in part.items():
            every[week] = every.get(week, 0.0) + number
    return every


def week_of(at: datetime, period: Period) -> date:
    day = at.astimezone(period.zone).date()
    return day - timedelta(days=day.weekday())


def total(values: Weekly) -> float:
    return sum(values.values())


def shares(part: Weekly, whole: Weekly, period: Period) -> Weekly:
    """Return percentages of the weeks that are over: a week that has begun says nothing yet."""
    running = week_of(period.until, period)
    return {
        week: float(round(100 * part.get(week, 0) / whole[week]))
        for week in sorted(whole)
        if whole[week] and week < running
    }


def trend(values: Weekly, unit: str) -> str:
    """Compare the first four weeks that have figures with the last four."""
    figures = [values[week] for week in sorted(values)]
    if not figures:
        return _("There is nothing to count yet.")
    if len(figures) < 8:
        return _("{last}{unit} in the last week.").format(last=f"{figures[-1]:g}", unit=unit)
    before, after = sum(figures[:4]) / 4, sum(figures[-4:]) / 4
    words = _("From {before}{unit} in the first four weeks to {after}{unit} in the last four.")
    return words.format(before=round(before), after=round(after), unit=unit)
