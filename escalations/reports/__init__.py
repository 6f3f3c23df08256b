"""The figures of the desk by week: each a question, with its answer in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _

from escalations.models import ReportSetting

from . import bot, desk
from .weekly import Chart, Period, Series

__all__ = ["Chart", "Period", "Series", "csv_rows", "report"]


def report(period: Period) -> list[Chart]:
    """Return all charts: some twenty grouped queries, whatever the size of the year."""
    rules = ReportSetting.objects.get_or_create(pk=1)[0]
    return [
        bot.ways(period),
        bot.repeats(period),
        bot.resolved(period, rules),
        desk.first_reply(period),
        bot.after_hours(period),
        desk.reopened(period, rules),
        desk.memory(period),
        bot.gate(period),
        bot.given_back(period, rules),
    ]


def csv_rows(chart: Chart) -> Iterable[Sequence[Any]]:
    yield [_("Week of"), *(s.label for s in chart.series)]
    for week, values in chart.table:
        yield [week.isoformat(), *(f"{v:g}" for v in values)]
