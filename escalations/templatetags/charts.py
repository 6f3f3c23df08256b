"""Bars and lines as inline SVG: one band a series, named where it stands, from zero."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from escalations.reports import Chart, Series

register = template.Library()

WIDTH, LEFT, RIGHT = 640, 4, 70
TALL, LOW = 150, 44  # one series has room, several share it
HEAD, GAP, FOOT = 24, 14, 26
LABELS = 7  # dates under the axis


@dataclass(frozen=True, slots=True)
class Mark:
    """Numbers as text: a template would write them in the reader's own way."""

    x: str
    y: str
    width: str = ""
    height: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    label: str
    name_y: int
    top_y: int
    base_y: int
    top: str
    marks: SafeString  # bars or dots, each with its figure: a year has a thousand of them
    line: str
    last: Mark | None


@register.inclusion_tag("escalations/_chart.html")
def chart(data: Chart) -> dict[str, object]:
    # A share of nought is an answer; a bar of nought is none.
    shown = [s for s in data.series if any(s.values.values()) or (s.values and data.kind == "line")]
    weeks = data.weeks
    high = TALL if len(shown) == 1 else LOW
    top = _round_up(max((v for s in shown for v in s.values.values()), default=0))
    bands, y = [], 0
    for series in shown:
        head = HEAD if len(shown) > 1 else 16
        bands.append(_band(data, series, weeks, top, y + head, y + head + high))
        y += head + high + (GAP if len(shown) > 1 else 0)
    return {
        "chart": data,
        "empty": not shown,
        "weeks": len(weeks),
        "width": WIDTH,
        "height": y + FOOT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bands": bands,
        "dates": _dates(weeks, y + FOOT - 6),
    }


def _band(  # noqa: PLR0917 - a drawing has its measures
    data: Chart, series: Series, weeks: list[date], top: float, top_y: int, base_y: int
) -> Band:
    step = _step(weeks)

    def y(value: float) -> float:
        return base_y - (base_y - top_y) * value / (top or 1)

    points = [(i, w, series.values[w]) for i, w in enumerate(weeks) if w in series.values]
    words = {w: f"{_day(w, get_language())}: {v:g}{data.unit}" for _i, w, v in points}
    bars = [
        Mark(_n(_x(weeks, i) - step * 0.36), _n(y(v)), _n(step * 0.72), _n(base_y - y(v)), words[w])
        for i, w, v in points
        if v and data.kind == "bars"
    ]
    drawn = data.kind == "line"
    dots = [Mark(_n(_x(weeks, i)), _n(y(v)), label=words[w]) for i, w, v in points if drawn]
    last = points[-1] if points and drawn else None
    return Band(
        label=series.label if len(data.series) > 1 else "",
        name_y=top_y - 7,
        top_y=top_y,
        base_y=base_y,
        top=f"{top:g}{data.unit}",
        marks=_written(_BAR, bars) + _written(_DOT, dots),
        line=" ".join(f"{m.x},{m.y}" for m in dots),
        last=_last(weeks, last, y(last[2]), data.unit) if last else None,
    )


_TITLE = "<title>{label}</title>"
_BAR = (
    f'<rect class="bar" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}">{_TITLE}</rect>'
)
_DOT = f'<circle class="dot" cx="{{x}}" cy="{{y}}" r="3">{_TITLE}</circle>'


def _written(form: str, marks: list[Mark]) -> SafeString:
    # A thousand times a page: asdict would copy each text deeply.
    return format_html_join("", form, ({f: getattr(m, f) for f in m.__slots__} for m in marks))


def _last(weeks: list[date], last: tuple[int, date, float], y: float, unit: str) -> Mark:
    """Write the newest figure at its point, above it unless it stands at the top."""
    return Mark(_n(_x(weeks, last[0]) + 8), _n(y - 9), label=f"{last[2]:g}{unit}")


def _dates(weeks: list[date], y: int) -> list[Mark]:
    every = max(1, -(-len(weeks) // LABELS))
    return [
        Mark(_n(_x(weeks, i)), _n(y), label=_day(week, get_language()))
        for i, week in enumerate(weeks)
        if i % every == 0
    ]


@lru_cache(maxsize=1024)
def _day(week: date, _language: str | None) -> str:
    """The same fifty weeks stand in every chart, a thousand times."""
    return date_format(week, "j M")


def _step(weeks: list[date]) -> float:
    return (WIDTH - LEFT - RIGHT) / max(len(weeks), 1)


def _x(weeks: list[date], i: int) -> float:
    return LEFT + _step(weeks) * (i + 0.5)


def _n(value: float) -> SafeString:
    """A number holds nothing to escape, which takes longer than to write it."""
    return SafeString(f"{value:.1f}")


def _round_up(value: float) -> float:
    """Return the next round number: an axis that ends on 7 reads badly."""
    if value <= 0:
        return 0
    size = int("1" + "0" * (len(str(int(value))) - 1))
    return next(size * n for n in (1, 2, 4, 5, 8, 10, 20) if size * n >= value)
