"""What every figure is made of: a period of whole weeks, and rows counted by week."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    BigIntegerField,
    Count,
    DateTimeField,
    F,
    Func,
    IntegerField,
    Q,
    QuerySet,
    Value,
)
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.translation import get_language
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
        weeks = self.weeks
        return [(week, [s.values.get(week, 0) for s in self.series]) for week in weeks]

    @property
    def figures(self) -> list[tuple[str, list[SafeString]]]:
        """The table as it is read: a template would look up the reader's format for each cell."""
        language = get_language()
        return [
            (_in_words(week, language), [SafeString(f"{v:g}") for v in values])
            for week, values in self.table
        ]


@dataclass(frozen=True, slots=True)
class Period:
    since: datetime
    until: datetime
    zone: ZoneInfo

    def weeks(self) -> list[date]:
        return list(_weeks(self)[0])

    def starts(self) -> list[float]:
        """When each week begins by the business's clock, in seconds."""
        return list(_weeks(self)[1])

    def empty(self) -> Weekly:
        return dict.fromkeys(self.weeks(), 0.0)


@lru_cache(maxsize=256)
def _in_words(week: date, _language: str | None) -> str:
    return date_format(week, "j M Y")


@lru_cache(maxsize=8)
def _weeks(period: Period) -> tuple[list[date], list[float]]:
    """Return the Mondays, and when each begins by the business's clock."""
    day = period.since.astimezone(period.zone).date()
    day -= timedelta(days=day.weekday())
    last = period.until.astimezone(period.zone).date()
    weeks = [day + timedelta(weeks=n) for n in range((last - day).days // 7 + 1)]
    starts = [datetime.combine(w, time(0), tzinfo=period.zone).timestamp() for w in weeks]
    return weeks, starts


def week_of(period: Period) -> Callable[[float], date]:
    """Return what tells the week of a moment in seconds: thousands of rows need no date each."""
    weeks, starts = _weeks(period)
    return lambda stamp: weeks[max(bisect_right(starts, stamp) - 1, 0)]


def part(field: str, starts: Sequence[float]) -> Func:
    """Which of the spans that begin at `starts` a moment lies in; the first is 1.

    The calendar is asked once for each span, and not for each of a year's rows.
    """
    edges = [datetime.fromtimestamp(start, UTC) for start in starts]
    of = Value(edges, output_field=ArrayField(DateTimeField()))
    return Func(F(field), of, function="width_bucket", output_field=IntegerField())


class Stamp(Func):
    """A moment as whole seconds: read a hundred times faster than a date with its zone."""

    template = "(date_part('epoch', %(expressions)s)::bigint)"
    output_field = BigIntegerField()


def within(field: str, period: Period) -> Q:
    return Q(**{f"{field}__gte": period.since, f"{field}__lt": period.until})


def weekly(rows: QuerySet[Any], field: str, period: Period) -> Weekly:
    """Count rows by the business's own week; weeks with none are zero."""
    return weekly_by(rows, field, period).get((), period.empty())


def weekly_by(
    rows: QuerySet[Any], field: str, period: Period, *keys: str
) -> dict[tuple[Any, ...], Weekly]:
    """Count rows by week and by `keys`, in one pass over them."""
    weeks = period.weeks()
    found: dict[tuple[Any, ...], Weekly] = defaultdict(period.empty)
    for week, *key, number in counted(rows, field, period.starts(), *keys):
        found[tuple(key)][weeks[week - 1]] = float(number)
    return dict(found)


def counted(
    rows: QuerySet[Any], field: str, starts: Sequence[float], *keys: str
) -> QuerySet[Any, tuple[Any, ...]]:
    found: QuerySet[Any, tuple[Any, ...]] = (
        rows.order_by()
        .annotate(part=part(field, starts))
        .values_list("part", *keys)
        .annotate(number=Count("*"))  # of any column, it could not be read off an index alone
    )
    return found


def summed(parts: Iterable[Weekly], period: Period) -> Weekly:
    every = period.empty()
    for part in parts:
        for week, number in part.items():
            every[week] = every.get(week, 0.0) + number
    return every


def total(values: Weekly) -> float:
    return sum(values.values())


def shares(part: Weekly, whole: Weekly, period: Period) -> Weekly:
    """Return percentages of the weeks that are over: a week that has begun says little beside
    them, and is all there is in the first one."""
    found = {
        week: float(round(100 * part.get(week, 0) / whole[week]))
        for week in sorted(whole)
        if whole[week]
    }
    over = {week: share for week, share in found.items() if week < period.weeks()[-1]}
    return over or found


def trend(values: Weekly, unit: str, period: Period) -> str:
    """Compare the first four weeks that have figures with the last four."""
    figures = [values[week] for week in sorted(values)]
    if not figures:
        return _("There is nothing to count yet.")
    if len(figures) < 8:
        if max(values) == period.weeks()[-1]:
            words = _("{last}{unit} in this week so far.")
        else:
            words = _("{last}{unit} in the last week.")
        return words.format(last=f"{figures[-1]:g}", unit=unit)
    before, after = sum(figures[:4]) / 4, sum(figures[-4:]) / 4
    words = _("From {before}{unit} in the first four weeks to {after}{unit} in the last four.")
    return words.format(before=round(before), after=round(after), unit=unit)
