"""When the business is open: zone, split days, holidays, both clock-change days; and how to say it.

Pure: no Django, no clock. Spans are wall-clock times of the business; answers are aware datetimes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

LOOK_AHEAD_DAYS = 400  # a calendar that is shut for longer than a year makes no promise
END_OF_DAY = "24:00"

Wall = tuple[int, int]  # hour, minute; (24, 0) is the end of the day
Spans = tuple[tuple[Wall, Wall], ...]


class BadHours(ValueError):
    """The calendar cannot be read: the sentence names the day and what is wrong."""


@dataclass(frozen=True, slots=True)
class Hours:
    zone: ZoneInfo
    weekly: Mapping[int, Spans]  # Monday is 0
    exceptions: Mapping[date, Spans]  # holidays are empty, short days have their own spans

    def on(self, day: date) -> Spans:
        return self.exceptions.get(day, self.weekly.get(day.weekday(), ()))


def parse(*, timezone: str, weekly: Mapping[str, Any], exceptions: Mapping[str, Any]) -> Hours:
    """Read the calendar as it is stored. Raises BadHours."""
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError) as exc:
        raise BadHours(f"{timezone!r} is not a time zone") from exc
    try:
        days = {date.fromisoformat(day): _spans(day, raw) for day, raw in exceptions.items()}
        return Hours(zone, {int(day): _spans(day, raw) for day, raw in weekly.items()}, days)
    except (TypeError, AttributeError, ValueError) as exc:
        raise exc if isinstance(exc, BadHours) else BadHours(str(exc)) from exc


def is_open(hours: Hours, at: datetime) -> bool:
    return any(start <= at < end for start, end in _open_on(hours, _day(hours, at)))


def next_opening(hours: Hours, at: datetime) -> datetime | None:
    """Return `at` itself while open, else when the door opens next; None when it never does."""
    for start, end in _open_from(hours, at):
        if end > at:
            return max(start, at)
    return None


def add_open_minutes(hours: Hours, at: datetime, minutes: float) -> datetime | None:
    """Return when `minutes` of opening time will have passed; None when it never opens."""
    left = timedelta(minutes=minutes)
    for start, end in _open_from(hours, at):
        begin = max(start, at)
        if end <= begin:
            continue
        if begin + left <= end:
            return begin + left
        left -= end - begin
    return None


def open_minutes(hours: Hours, since: datetime, until: datetime) -> float:
    """Return the minutes of opening time between two moments."""
    total = timedelta()
    for start, end in _open_from(hours, since):
        if start >= until:
            break
        total += max(min(end, until) - max(start, since), timedelta())
    return total.total_seconds() / 60


class OpenClock:
    """Opening time between two moments, made once for thousands of questions.

    Moments are seconds since 1970 here: a year of them is read and compared in no time.
    """

    def __init__(self, hours: Hours, since: datetime, until: datetime) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        self._before: list[float] = []  # seconds open before each start
        passed = 0.0
        for start, end in _open_from(hours, since - timedelta(days=1)):
            if start > until + timedelta(days=1):
                break
            self._starts.append(start.timestamp())
            self._ends.append(end.timestamp())
            self._before.append(passed)
            passed += (end - start).total_seconds()

    def edges(self) -> list[float]:
        """When the door opens or shuts."""
        return [*self._starts, *self._ends]

    def is_open_at(self, stamp: float) -> bool:
        i = bisect_right(self._starts, stamp) - 1
        return i >= 0 and stamp < self._ends[i]

    def seconds(self, since: float, until: float) -> float:
        return self._passed(until) - self._passed(since)

    def _passed(self, stamp: float) -> float:
        i = bisect_right(self._starts, stamp) - 1
        return self._before[i] + min(stamp, self._ends[i]) - self._starts[i] if i >= 0 else 0.0


def moment_in_words(hours: Hours, when: datetime, now: datetime, *, reader_zone: str = "") -> str:
    """Say `when` as people do: "today at 13:00", "on Monday at 8:00", "on Monday 4 January …"."""
    local, today = when.astimezone(hours.zone), now.astimezone(hours.zone).date()
    days = (local.date() - today).days
    clock = f"{local.hour}:{local.minute:02d}"
    if _elsewhere(hours.zone, reader_zone, when):
        clock += f" ({hours.zone.key.split('/')[-1].replace('_', ' ')} time)"
    if days == 0:
        return f"today at {clock}"
    if days == 1:
        return f"tomorrow at {clock}"
    if days < 7:
        return f"on {local:%A} at {clock}"
    return f"on {local:%A} {local.day} {local:%B} at {clock}"


def week_in_words(hours: Hours) -> str:
    """Say the week in one line: "Mon–Thu 8:00–12:00, 13:00–17:00 · Fri 8:00–12:00"."""
    runs: list[tuple[int, int, Spans]] = []
    for day in range(7):
        spans = hours.weekly.get(day, ())
        if not spans:
            continue
        if runs and runs[-1][1] == day - 1 and runs[-1][2] == spans:
            runs[-1] = (runs[-1][0], day, spans)
        else:
            runs.append((day, day, spans))
    return " · ".join(_run_in_words(*run) for run in runs)


def _run_in_words(first: int, last: int, spans: Spans) -> str:
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    days = names[first] if first == last else f"{names[first]}–{names[last]}"
    return f"{days} " + ", ".join(f"{a[0]}:{a[1]:02d}–{b[0]}:{b[1]:02d}" for a, b in spans)


def _spans(day: str, raw: Sequence[Sequence[str]]) -> Spans:
    spans = tuple((_wall(start), _wall(end)) for start, end in raw)
    for begin, end in spans:
        if begin >= end:
            raise BadHours(f"{day}: {begin[0]}:{begin[1]:02d} is not before its closing time")
    for (_, before), (after, _) in pairwise(spans):
        if after < before:
            raise BadHours(f"{day}: the times overlap or are out of order")
    return spans


def _wall(text: str) -> Wall:
    if text == END_OF_DAY:
        return (24, 0)
    clock = time.fromisoformat(text)
    return (clock.hour, clock.minute)


def _day(hours: Hours, at: datetime) -> date:
    return at.astimezone(hours.zone).date()


def _open_from(hours: Hours, at: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the open spans in order, from the day of `at` on."""
    first = _day(hours, at)
    for offset in range(LOOK_AHEAD_DAYS):
        yield from _open_on(hours, first + timedelta(days=offset))


def _open_on(hours: Hours, day: date) -> Iterator[tuple[datetime, datetime]]:
    for start, end in hours.on(day):
        begin, finish = _instant(hours.zone, day, start), _instant(hours.zone, day, end)
        if begin < finish:  # a span inside the hour that the clock skips does not exist
            yield begin, finish


def _instant(zone: ZoneInfo, day: date, wall: Wall) -> datetime:
    """Return the instant of a wall-clock time.

    An hour that comes twice counts from its first coming. A time that the clock skips is the moment
    of the skip: a door with "2:30" on it opens, that night, when the clock jumps from 2:00 to 3:00.
    """
    if wall == (24, 0):
        day, wall = day + timedelta(days=1), (0, 0)
    naive = datetime.combine(day, time(*wall))
    early = naive.replace(tzinfo=zone, fold=1).astimezone(UTC)
    late = naive.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if early >= late:  # an ordinary time, or the first of two
        return late
    return _skip_between(zone, early, late)


def _skip_between(zone: ZoneInfo, early: datetime, late: datetime) -> datetime:
    before = early.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + (late - early) / 2
        if middle.astimezone(zone).utcoffset() == before:
            early = middle
        else:
            late = middle
    return late.replace(microsecond=0)


def _elsewhere(zone: ZoneInfo, reader_zone: str, when: datetime) -> bool:
    """Say whether the reader's clock shows another time, or may: most visitors' is not known."""
    if not reader_zone:
        return True
    try:
        return (
            when.astimezone(ZoneInfo(reader_zone)).utcoffset() != when.astimezone(zone).utcoffset()
        )
    except (KeyError, ValueError, OSError):
        return True
