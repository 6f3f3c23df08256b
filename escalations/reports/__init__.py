"""The figures of the desk by week: each a question, with its answer in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _

from escalations import rules

from . import bot, desk
from .tally import Tally
from .weekly import Chart, Period, Series

__all__ = ["Chart", "Period", "Series", "csv_rows", "report"]


def report(period: Period) -> list[Chart]:
    """Return all charts by a dozen grouped queries, whatever the size of the year."""
    counted_by, clock = rules.current(), desk.open_clock(period)
    tally = Tally(period, clock)
    return [
        bot.ways(tally),
        bot.repeats(tally),
        bot.resolved(period, counted_by),
        desk.first_reply(period, clock),
        bot.after_hours(tally),
        desk.reopened(period, counted_by),
        desk.memory(tally),
        bot.gate(tally),
        bot.given_back(tally, counted_by),
    ]


def csv_rows(chart: Chart) -> Iterable[Sequence[Any]]:
    yield [_("Week of"), *(s.label for s in chart.series)]
    for week, values in chart.table:
        yield [week.isoformat(), *(f"{v:g}" for v in values)]
