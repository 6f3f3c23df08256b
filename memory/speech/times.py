"""From when and until when something holds, reckoned from the message's own time in the
customer's zone."""
# ruff: noqa: E501

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from .acts import plain

_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = [m.lower() for m in calendar.month_name]
_DAY = r"(?P<day>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_NUMBERS = {
    w: n
    for n, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
} | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_COUNT = r"(?P<count>\d+|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")"
_TILL = (
    r"\b(?:until|till|til|'til|through|thru|up to|up until|hasta|até|bis|jusqu'(?:au|à)|before it ends on)"
    r"(?: and including| el| o| zum)?\s+"
)
_END_OF = r"(?:the )?end of (?:the |this |next )?"
_UNTIL_DAY = re.compile(_TILL + r"(?:next |this |the |coming )*" + _DAY)
_UNTIL_DATE = re.compile(
    _TILL + r"(?:the )?(?:" + _MONTH + r"\.?(?: (?:the )?(?P<dom>\d{1,2})(?:st|nd|rd|th)?)?"
    r"|(?P<dom2>\d{1,2})(?:st|nd|rd|th|\.)?(?: of| de)? " + _MONTH.replace("month", "month2") + ")"
    r"(?:,? (?P<year>20\d\d))?"
)
_UNTIL_DOM = re.compile(_TILL + r"the (?P<dom>\d{1,2})(?:st|nd|rd|th)\b")
_UNTIL_END = re.compile(
    r"\b(?:until|till|til|through|thru|up to|by)\s+"
    + _END_OF
    + r"(?:(?P<unit>week|month|year|day)|"
    + _MONTH
    + ")"
)
_UNTIL_NEXT = re.compile(_TILL + r"next (?P<unit>week|month|year)")
_UNTIL_WORD = re.compile(_TILL + r"(?P<word>tomorrow|tonight|christmas|new year)")
_FOR = re.compile(
    r"\bfor (?:about |around |roughly |at least )?(?:the )?(?:(?:next|coming|following) )?(?:"
    + _COUNT
    + r" )?(?P<unit>day|week|month|year)s?\b"
    r"(?! (?:ago|now)\b)|\b(?:the )?(?:next|coming|following) "
    + _COUNT.replace("count", "count2")
    + r" (?P<unit2>day|week|month|year)s?\b"
)
_THIS = re.compile(
    r"\b(?:just |only )?(?P<which>this|next) (?P<unit>week|month|year|weekend)\b(?: only| alone| though)?"
)
_TODAY = re.compile(r"\b(?:today|tonight) only\b|\b(?:just|only) (?:for )?(?:today|tonight)\b")
_WHILE = re.compile(
    r"\b(?:while (?:i'm|im|i am|we're|my|the|our|he|she|they)|as long as|during (?:my|our|the)|for now|for the time being|"
    r"temporarily|until (?:i'm|i am|my|the|we|it|further|then|i))\b"
)
_FROM = (
    r"\b(?P<word>from|starting(?: from| on| in| with| as of)?|beginning(?: on| in| with)?|as of|as from|effective(?: from| on)?|"
    r"with effect from|commencing(?: on| in)?|ab(?: dem)?|a partir del?)\s+"
)
_NEXT = r"(?:the |this |next |coming |following )*"
_ONE_DAY = _DAY.removesuffix(r"s?\b") + r"\b"  # "from Mondays" is every week
# "from Monday to Friday" is every week too, and "from May to June" has an end besides.
_NO_RANGE = r"(?!\s*(?:to|till?|until|through|thru|-|–|/)\b)"
_DATE = (
    r"(?:the )?(?:" + _MONTH + r"\.?(?: (?:the )?(?P<dom>\d{1,2})(?:st|nd|rd|th)?\b)?"
    r"|(?P<dom2>\d{1,2})(?:st|nd|rd|th|\.)?(?: of| de)? " + _MONTH.replace("month", "month2") + ")"
    r"(?:,? (?P<year>20\d\d))?"
)
_FROM_DAY = re.compile(_FROM + _NEXT + _ONE_DAY + _NO_RANGE)
_FROM_DATE = re.compile(_FROM + _NEXT + _DATE)
_FROM_DOM = re.compile(_FROM + r"the (?P<dom>\d{1,2})(?:st|nd|rd|th)\b" + _NO_RANGE)
_FROM_NEXT = re.compile(_FROM + r"(?:the )?(?:next |coming )(?P<unit>week|month|year)\b")
_FROM_WORD = re.compile(_FROM + r"(?:the )?(?P<unit>tomorrow|new year)\b")
_FROM_IN = re.compile(
    r"\b(?:starting|beginning) in (?:about )?" + _COUNT + r" (?P<unit>day|week|month)s?\b"
)
# A change that is still to come: "next month I'm switching to …", "we're moving on Monday".
_WILL_CHANGE = re.compile(
    r"\b(?:switching|changing|moving|transferring|will (?:be )?(?:switch|chang|mov|transfer)\w*|"
    r"(?:'ll|going to) (?:switch|change|move|transfer))\b"
)
_ON_DAY = re.compile(r"\bon " + _NEXT + _ONE_DAY + _NO_RANGE)
_ON_DATE = re.compile(r"\b(?:in|on) " + _NEXT + _DATE)
_ON_NEXT = re.compile(r"\bnext (?P<unit>week|month|year)\b")
_TO = re.compile(r"\s*(?:to|till?|until|through|thru|-|–)\s*(?:the end of )?" + _DATE)
_FAR = 183  # days; "from April" said in June is the April that was
_UNKNOWN_END = timedelta(days=28)  # a time without a date ends some day; asking again is better
_PAST = re.compile(r"\b(?:was|were|had|did|went|used to|lived|worked|stayed|been)\b")


@dataclass(frozen=True)
class Until:
    """When it ends, and the words that say so: `start` and `end` in the text."""

    at: datetime
    start: int
    end: int


@dataclass(frozen=True)
class Since:
    """When it begins, which is still to come, and the words that say so."""

    at: datetime
    start: int
    end: int


@dataclass(frozen=True)
class Holds:
    """The time that a text gives for what it says."""

    since: Since | None = None
    until: Until | None = None


def holds(text: str, *, said_at: datetime, timezone: str) -> Holds:
    """Return from when and until when what a text says holds."""
    zone = ZoneInfo(timezone)
    today = said_at.astimezone(zone).date()
    folded = plain(text)
    first = _first(folded, today)
    if first is None:
        return Holds(until=until(text, said_at=said_at, timezone=timezone))
    day, start, end = first
    since = Since(datetime.combine(day, time(), tzinfo=zone), start, end)
    if (ranged := _TO.match(folded, end)) and (last := _last_of(ranged, day)):
        return Holds(since, Until(_end_of_day(last, zone), *ranged.span()))
    rest = text[:start] + " " * (end - start) + text[end:]
    return Holds(since, until(rest, said_at=said_at, timezone=timezone, first=day))


def begun(text: str, *, said_at: datetime, timezone: str) -> str:
    """The text without the words that say from when: "April" is no name of a plan."""
    since = holds(text, said_at=said_at, timezone=timezone).since
    return (text[: since.start] + text[since.end :]).strip(" ,") if since else text


def without(text: str, *, said_at: datetime, timezone: str) -> str:
    """The text without the words that say from when and until when."""
    found = holds(text, said_at=said_at, timezone=timezone)
    spans = [(x.start, x.end) for x in (found.since, found.until) if x is not None]
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def _first(folded: str, today: date) -> tuple[date, int, int] | None:
    """The first day of what is still to come, with the words that name it."""
    changes = _WILL_CHANGE.search(folded) is not None
    for pattern, reckon in (*_STARTS, *(_CHANGES if changes else ())):
        found = pattern.search(folded)
        day = reckon(found, today) if found else None
        if found and day is not None and day > today:
            return day, *found.span()
    return None


def _last_of(found: re.Match[str], first: date) -> date | None:
    """The end of a range; a month that is named as the end belongs to it."""
    day = _next_date(found, first, far=366)
    if day is None or found["dom"] or found["dom2"]:
        return day
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _next_date(found: re.Match[str], today: date, *, far: int = _FAR) -> date | None:
    month = _month(found["month"] or found["month2"])
    named = int(found["dom"] or found["dom2"] or 1)
    for year in (int(found["year"]),) if found["year"] else (today.year, today.year + 1):
        last = calendar.monthrange(year, month)[1]
        if not 1 <= named <= last:
            return None
        day = date(year, month, named)
        if day > today:
            return day if found["year"] or (day - today).days <= far else None
    return None


def _next_unit(found: re.Match[str], today: date) -> date:
    if found["unit"] == "tomorrow":
        return today + timedelta(days=1)
    unit = "year" if found["unit"] == "new year" else found["unit"]
    return _unit_end(unit, today) + timedelta(days=1)


def _in_so_long(found: re.Match[str], today: date) -> date:
    said = found["count"]
    number = int(said) if said.isdigit() else _NUMBERS[said]
    return today + timedelta(days=number * {"day": 1, "week": 7, "month": 30}[found["unit"]])


def until(
    text: str, *, said_at: datetime, timezone: str, first: date | None = None
) -> Until | None:
    """Return the end that a text sets, or None. A day named as the end still belongs to it.

    `first`: when it begins, if not today.
    """
    zone = ZoneInfo(timezone)
    now = said_at.astimezone(zone)
    folded = plain(text)
    for pattern, reckon in _RECKONERS:
        found = pattern.search(folded)
        if found is None or (pattern is _FOR and _PAST.search(folded)):
            continue
        day = reckon(found, first or now.date())
        if day is not None:
            return Until(_end_of_day(day, zone), found.start(), found.end())
    found = _WHILE.search(folded)
    if found and not _PAST.search(folded):
        return Until(said_at + _UNKNOWN_END, found.start(), found.end())
    return None


def _end_of_day(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(23, 59, 59), tzinfo=zone)


def _weekday(found: re.Match[str], today: date) -> date:
    wanted = next(i for i, d in enumerate(_DAYS) if d.startswith(found["day"][:3]))
    return today + timedelta(days=(wanted - today.weekday()) % 7 or 7)


def _month(name: str) -> int:
    return next(i for i, m in enumerate(_MONTHS) if m and m.startswith(name[:3]))


def _date(found: re.Match[str], today: date) -> date | None:
    month = _month(found["month"] or found["month2"])
    year = int(found["year"] or 0) or today.year + (month < today.month)
    last = calendar.monthrange(year, month)[1]
    named = found["dom"] or found["dom2"]
    # "until May" ends when May begins.
    if named is None:
        return (
            date(year, month, 1) - timedelta(days=1)
            if month != today.month
            else date(year, month, last)
        )
    day = date(year, month, min(int(named), last))
    return day if day >= today or found["year"] else day.replace(year=year + 1)


def _day_of_month(found: re.Match[str], today: date) -> date | None:
    wanted = int(found["dom"])
    if not 1 <= wanted <= 31:
        return None
    first = today.replace(day=1)
    if wanted < today.day:
        first = (first + timedelta(days=32)).replace(day=1)
    return first.replace(day=min(wanted, calendar.monthrange(first.year, first.month)[1]))


def _unit_end(unit: str, today: date) -> date:
    if unit == "year":
        return date(today.year, 12, 31)
    if unit == "month":
        return today.replace(day=calendar.monthrange(today.year, today.month)[1])
    if unit in ("week", "weekend"):
        return today + timedelta(days=6 - today.weekday())
    return today


def _named_end(found: re.Match[str], today: date) -> date:
    if found["unit"]:
        return _unit_end(found["unit"], today)
    month = _month(found["month"])
    year = today.year + (month < today.month)
    return date(year, month, calendar.monthrange(year, month)[1])


def _count(found: re.Match[str], today: date) -> date | None:
    unit = found["unit"] or found["unit2"]
    said = found["count"] or found["count2"]
    if said is None and "next" not in found.group() and "coming" not in found.group():
        return None  # "for years", "for weeks": how long it has been so
    number = int(said) if said and said.isdigit() else _NUMBERS.get(said or "a", 1)
    return today + timedelta(days=number * {"day": 1, "week": 7, "month": 30, "year": 365}[unit])


def _this(found: re.Match[str], today: date) -> date:
    end = _unit_end(found["unit"], today)
    return end if found["which"] == "this" else _unit_end(found["unit"], end + timedelta(days=1))


def _before_next(found: re.Match[str], today: date) -> date:
    return _unit_end(found["unit"], today)


def _word(found: re.Match[str], today: date) -> date:
    if found["word"] == "tomorrow":
        return today + timedelta(days=1)
    return (
        date(today.year, 12, {"christmas": 25, "new year": 31}[found["word"]])
        if found["word"] != "tonight"
        else today
    )


_RECKONERS = (
    (_UNTIL_END, _named_end), (_UNTIL_DAY, _weekday), (_UNTIL_DATE, _date), (_UNTIL_DOM, _day_of_month),
    (_UNTIL_NEXT, _before_next), (_UNTIL_WORD, _word), (_FOR, _count), (_THIS, _this),
    (_TODAY, lambda found, today: today),
)  # fmt: skip

_STARTS = (
    (_FROM_IN, _in_so_long), (_FROM_DATE, _next_date), (_FROM_DAY, _weekday), (_FROM_DOM, _day_of_month),
    (_FROM_NEXT, _next_unit), (_FROM_WORD, _next_unit),
)  # fmt: skip
_CHANGES = ((_ON_DATE, _next_date), (_ON_DAY, _weekday), (_ON_NEXT, _next_unit))
