"""What holds for now only, and till when, by the words of an answer. Pure."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAY = rf"(?:{'|'.join(_DAYS)})"
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.I)
_TOMORROW = re.compile(r"\btomorrow\b", re.I)
_THIS_WEEK = re.compile(rf"\bthis (?:week|weekend|{DAY})\b", re.I)
_NEXT_WEEK = re.compile(r"\bnext week\b", re.I)
_ON_DAY = re.compile(rf"\b(?:on|back|again|come|start)\b(?: \w+)? ({DAY})\b(?!s)", re.I)
_SHUT = re.compile(  # what is so for now: a weekday beside it is the next one
    r"\b(?:closed|shut|waiting for|out of|no (?:lessons?|viewings?|classes|class|deliveries)|full"
    r"|fully booked|again|strike|back on)\b",
    re.I,
)
_UNTIL = re.compile(rf"\b(until|till|through|by)\s+(?:the end of )?({DAY})\b", re.I)
_UNTIL_DATE = re.compile(
    rf"\b(?:until|till|through|by)\s+(?:the end of )?({MONTH})\.?(?: (\d{{1,2}}))?\b", re.I
)
_MONTH_END = re.compile(r"\b(?:until|till|through) the end of (?:the|this) month\b", re.I)
_OURS = re.compile(  # "we are closed today" is bound to the day, "call us today" is not
    r"\b(?:we|i|our \w+|the \w+|there|it)\b(?:'re|'s|'ll| are| is| am| have| has| will"
    r"| can| close| open)"
    r"[^.?!]*\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend|\w+day))\b"
    r"|^(?:today|tonight|tomorrow|this \w+|next week)\b"
    r"|[.!] (?:today|tonight|tomorrow|this (?!is\b|way\b|can\b|may\b)\w+|next week)\b"
    r"|\b(?:no|nothing|out of (?:stock|order)|late|down|off|full|closed|shut)\b[^.?!]*"
    r"\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend|\w+day))\b",
    re.I,
)
_EVERY_WEEK = re.compile(rf"\b(?:every|each|always|usually|until|and|from) {DAY}\b|{DAY}s\b", re.I)
JUST_NOW = re.compile(
    r"\b(?:right now|at the moment|currently|for the time being|for now|these days|just now"
    r"|temporarily|this (?:month|season|year)|next (?:week|month)|since this (?:morning|week)"
    r"|are on it|is being (?:fixed|repaired|done|rolled out)"
    r"|by (?:\d+|noon) (?:today|tonight|this))\b",
    re.I,
)


CHANGED = re.compile(  # says that it was otherwise before
    rf"\b(?:since (?:last |this |the )*(?:\d|{MONTH}|{DAY}|spring|summer|autumn|winter|week"
    r"|month|year|version)|as of|from this|no longer|any ?more|these days|we (?:do )?now"
    r"|(?:is|are|can|do) now|now (?:is|are|also)|used to|has changed|have changed"
    r"|we(?:'ve| have) (?:just |now |recently )?(?:started|begun|added|stopped))\b",
    re.I,
)


def ends(text: str, local: datetime) -> datetime | None:
    """Return the midnight at which the words cease to hold, or None. `local`: when said."""
    midnight = datetime.combine(local.date(), time(), local.tzinfo)
    if m := _UNTIL.search(text):
        ahead = (_DAYS.index(m[2].lower()) - local.weekday()) % 7 or 7
        # "closed until Monday" ends as Monday begins; "through Friday" has Friday in it
        return midnight + timedelta(days=ahead + (m[1].lower() == "through"))
    if _MONTH_END.search(text):
        return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)
    if m := _UNTIL_DATE.search(text):
        return _date_ahead(m[1], m[2], local)
    if (day := _ON_DAY.search(text)) and _SHUT.search(text) and not _EVERY_WEEK.search(text):
        ahead = (_DAYS.index(day[1].lower()) - local.weekday()) % 7 or 7
        return midnight + timedelta(days=ahead + 1)
    if not _OURS.search(text):
        return None
    if _TODAY.search(text):
        return midnight + timedelta(days=1)
    if _TOMORROW.search(text):
        return midnight + timedelta(days=2)
    if _THIS_WEEK.search(text):
        return midnight + timedelta(days=7 - local.weekday())
    if _NEXT_WEEK.search(text):
        return midnight + timedelta(days=14 - local.weekday())
    return None


def _date_ahead(month: str, day: str | None, local: datetime) -> datetime | None:
    names = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
    number = names.index(month[:3].lower()) + 1
    try:
        found = datetime(local.year, number, int(day or 1), tzinfo=local.tzinfo)
    except ValueError:
        return None
    return found if found > local else found.replace(year=local.year + 1)
