"""May a staff answer be shown to everyone? Pure. A person's explicit choice overrules what it says.

Every pattern is about how people write to one person or to anybody; none names a trade or a brand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from memory.types import ShareVerdict

MIN_WORDS = 6

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]+)*[.!?]*")  # "3.5" and "a.m" stay whole
_WORD = re.compile(r"\w[\w'’-]*")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = rf"(?:{'|'.join(_DAYS)})"

# Says nothing by itself: greetings, names, thanks, waiting, promises to look.
_FILLER = re.compile(
    r"^(?:(?:hi|hello|hey|dear|welcome|good (?:morning|afternoon|evening|day))\b[^.?]{0,40}"
    r"|[^.?]{0,30}\b(?:here|speaking)\b[^.?]{0,40}|(?:this is|my name is"
    r"|i'?m) [\w.]+(?: from [^.?]{1,30})?"
    r"|(?:ok(?:ay)?|sure|great|perfect|thanks?|thank you|no (?:problem|worries)|of course"
    r"|sorry|right"
    r"|got it|alright|you'?re (?:very )?welcome|my pleasure|certainly|absolutely"
    r"|understood)\b[^.?]{0,30}"
    r"|(?:please )?(?:one|just a|a) (?:moment|second|sec|minute)\b.*"
    r"|.*\b(?:give me a|bear with|hold on|let me (?:just )?(?:check|look|see|ask|pull"
    r"|find|get)|hang on)\b.*"
    r"|(?:have a|enjoy|take care|see you|talk soon|best|regards|get well|hope (?:that"
    r"|this) helps)\b.*"
    r"|(?:that explains|good to (?:know|hear)|glad|happy to).*"
    r"|(?:i|we)(?:'ll| will|'m going to| am going to) \w+.*)$",
    re.I,
)
_LEAD = re.compile(
    r"^(?:ok(?:ay)?|sure|great|perfect|thanks?|thank you|of course|sorry|alright|no problem"
    r"|got it|understood|well|hi|hello)\b[^,.!?]{0,20}[,!]\s+",
    re.I,
)
# What follows is said of anybody in that case, not of her.
_SUPPOSED = re.compile(
    r"\b(?:if|when|whenever|once|until|unless|whether|after|before|while|in case|those"
    r"|people|anyone"
    r"|patients|customers|users|guests|members|so (?:that )?(?:we|i) can)\b",
    re.I,
)
_LEANS = re.compile(
    r"^(?:(?:yes|no|yep|nope|ok|well|so|and|but|then)\b[,.:; ]*)*"
    r"(?:that|this|these|those|it|they|he|she|same|both|either|neither|the (?:same|latter"
    r"|former|other))"
    r"(?:'s|'re|'ll|'d)?\b|\b(?:as (?:i|we) (?:said|mentioned|wrote)|like (?:i"
    r"|we) (?:said|mentioned)"
    r"|(?:same|as) (?:as )?(?:before|last time|above)|see above|mentioned (?:above|earlier))\b",
    re.I,
)
_TO_HER = re.compile(
    # "your … has arrived", "your balance is $184": something of hers that happened or has a figure
    r"\byour\b(?: [\w'-]+){1,5}? (?:was|were|has|have been|had|came|arrived|went|expired"
    r"|finished|shipped)\b"
    r"|\byour\b(?: [\w'-]+){1,4}? (?:is|are|comes?|will be)\b[^.?!]*?(?:[$€£]|\b\d"
    r"|\b(?:ready|due|booked|set"
    r"|scheduled|confirmed|on its way|still|already|now|here|back|in)\b)"
    # "we've moved your …", "I have you down", "you're booked", "left for you"
    r"|\b(?:i|we)(?:'ve| have|'d| had)? (?:just |already |now |also )*(?:(?!need\b"
    r"|feed\b)\w{2,}ed|sent|made|put|took"
    r"|gave|got|found|saw|spoke|wrote|set|have|see|can see)\b[^.?!]*?\b(?:you|your)\b"
    r"|\byou(?:'re| are)\b (?:all set|booked|down|scheduled|registered|due|with"
    r"|on the list|next)\b"
    r"|\b(?:left|ready|here|waiting|reserved) for you\b|\byou (?:still )?owe\b"
    r"|\byou (?:were|had|paid|told|said"
    r"|mentioned|asked|wrote|sent|called|ordered|bought)\b|\bin your case\b"
    # somebody did something with what is hers, or is expected by the clock
    r"|\b(?!need\b|feed\b)(?:\w{3,}ed|saw|spoke|went|chose|found|wrote|took|came"
    r"|sent)\b[^.?!;]*?\b(?:your|yours)\b"
    r"|^yours\b|\b(?:she|he|they) (?:wants?|would like|'d like) to see you\b|\byou(?:'re"
    r"| are) (?:first|second|third)\b"
    r"|\b(?:under|in|on) your (?:name|file|account|record|chart|list)\b|\bas (?:planned"
    r"|agreed|discussed)\b",
    re.I,
)
_DATE = re.compile(
    rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"
    rf"|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b"
    rf"|\b{_DAY},? (?:the \d+|at \d|\d|morning|afternoon|evening)|\b(?:the|on"
    rf"|tomorrow) {_DAY}\b|\bat \d\d?:\d\d|\bon the \d{{1,2}}(?:st|nd|rd|th)\b",
    re.I,
)
_NUMBER = re.compile(
    r"(?<![\w$€£.,-])(?=[\w-]*\d[\w-]*\d[\w-]*\d[\w-]*\d)[A-Za-z0-9][\w-]{4,}", re.I
)
_PHONE = re.compile(r"\+?\(?\d[\d ()./-]{6,}\d")
_GREETED = re.compile(
    r"^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|sorry|thanks"
    r"|thank you),? ([A-Z][a-z]+)"
)
_ASKS = re.compile(r"\?\s*$")
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.I)
_TOMORROW = re.compile(r"\btomorrow\b", re.I)
_THIS_WEEK = re.compile(r"\bthis (?:week|weekend)\b", re.I)
_UNTIL = re.compile(rf"\b(until|till|through|by)\s+(?:the end of )?({_DAY})\b", re.I)
_UNTIL_DATE = re.compile(
    rf"\b(?:until|till|through|by)\s+(?:the end of )?({_MONTH})\.?(?: (\d{{1,2}}))?\b", re.I
)
_OURS = re.compile(  # "we are closed today" is bound to the day, "call us today" is not
    r"\b(?:we|i|our \w+|the \w+|there|it)\b(?:'re|'s|'ll| are| is| am| have| has| will"
    r"| can| close| open)"
    r"[^.?!]*\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend))\b"
    r"|^(?:today|tonight|tomorrow|this \w+)\b|[.!] (?:today|tonight|tomorrow|this \w+)\b",
    re.I,
)
_JUST_NOW = re.compile(
    r"\b(?:right now|at the moment|currently|for the time being|for now|these days|just now"
    r"|temporarily|this (?:month|season|year)|next (?:week|month))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Details:
    """What is known to be hers: none of it may reach another customer."""

    names: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()  # values that are remembered of her
    said: tuple[str, ...] = ()  # her own messages: their numbers are hers

    @staticmethod
    def telling(value: str, *, sensitive: bool) -> list[str]:
        """The words of a fact that tell whose it is: its codes, and all of a sensitive one."""
        words = [w for w in _WORD.findall(value) if len(w) > 3]
        return [w for w in words if sensitive or any(c.isdigit() for c in w)]


def verdict(
    parts: Sequence[str], *, title: str, details: Details, now: datetime, timezone: str
) -> ShareVerdict:
    """Return who may see this answer, and why. `parts`: the very words, one string a message."""
    core = [s for part in parts for s in substance(part)]
    if not core:
        return ShareVerdict("none", "says nothing by itself")
    if _ASKS.search(core[-1]):
        return ShareVerdict("none", "asks back")
    touches = touched(parts, title=title, details=details)
    words = sum(len(_WORD.findall(s)) for s in core)
    if touches:
        if words < MIN_WORDS and not any(re.search(r"\d", s) for s in core):
            return ShareVerdict("none", "too short to mean anything later", touches=touches)
        return ShareVerdict(
            "customer", f"holds details of hers: {', '.join(touches)}", touches=touches
        )
    if words < MIN_WORDS:
        return ShareVerdict("none", "too short to stand alone")
    if leaning := _LEANS.search(core[0]):
        return ShareVerdict("everyone", f"“{leaning[0]}” needs what was said before", pending=True)
    return _in_time(" ".join(core), now=now, timezone=timezone)


def substance(part: str) -> list[str]:
    """Return the sentences of a message that say something: no greetings, thanks or promises."""
    sentences = [s.strip() for s in _SENTENCE.findall(part)]
    return [s for s in sentences if _WORD.search(s) and not _is_filler(s.rstrip(".!… "))]


def _is_filler(sentence: str) -> bool:
    return bool(_FILLER.match(sentence) or _FILLER.match(_LEAD.sub("", sentence)))


def touched(parts: Iterable[str], *, title: str, details: Details) -> tuple[str, ...]:
    """Return the customer's details that the words (or the title, which others see) give away."""
    text = "\n".join(parts)
    found = [m[1] for p in text.split("\n") if (m := _GREETED.match(p)) and m[1] not in _NO_NAMES]
    both = f"{title}\n{text}"
    found += [n for n in details.names if _has_word(both, n)]
    found += [f for f in details.facts if _has_word(both, f)]
    hers = {n for said in details.said for n in _numbers(said)}
    found += [n for n in _numbers(both) if n in hers or not _public(n, both)]
    found += [m[0] for s in _SENTENCE.findall(text) for m in _TO_HER.finditer(s) if _of_her(s, m)]
    if found or re.search(r"\b(?:you|your|we've|i've)\b|\bat \d\d?:\d\d", text, re.I):
        found += [m[0] for m in _DATE.finditer(text)]
    return tuple(dict.fromkeys(found))


def _of_her(sentence: str, match: re.Match[str]) -> bool:
    return not _SUPPOSED.search(sentence[: match.end()])


_NO_NAMES = {"There", "All", "Everyone", "Team", "Again", "For", "Sir", "Madam", "Yes", "No"}


def _numbers(text: str) -> list[str]:
    return [m[0] for m in _NUMBER.finditer(text)]


def _public(number: str, text: str) -> bool:
    """A telephone number to call, or a year, belongs to the business."""
    if re.fullmatch(r"(?:19|20)\d\d(?:-?s)?", number):
        return True
    return any(number in m[0] for m in _PHONE.finditer(text)) and not re.search(
        rf"\b(?:claim|number|no\.?|id|ref\w*|order|case)\s*(?:is|:|#)?\s*{re.escape(number)}",
        text,
        re.I,
    )


def _has_word(text: str, word: str) -> bool:
    return len(word) > 2 and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.I))


def _in_time(text: str, *, now: datetime, timezone: str) -> ShareVerdict:
    local = now.astimezone(ZoneInfo(timezone))
    until = _ends(text, local)
    if until:
        return ShareVerdict("everyone", f"holds until {until.day} {until:%B}", valid_until=until)
    if bound := _JUST_NOW.search(text):
        return ShareVerdict("everyone", f"“{bound[0]}”: give it an end", pending=True)
    return ShareVerdict("everyone", "stands alone, names nobody")


def _ends(text: str, local: datetime) -> datetime | None:
    midnight = datetime.combine(local.date(), time(), local.tzinfo)
    if m := _UNTIL.search(text):
        ahead = (_DAYS.index(m[2].lower()) - local.weekday()) % 7 or 7
        # "closed until Monday" ends as Monday begins; "through Friday" has Friday in it
        return midnight + timedelta(days=ahead + (m[1].lower() == "through"))
    if m := _UNTIL_DATE.search(text):
        return _date_ahead(m[1], m[2], local)
    if not _OURS.search(text):
        return None
    if _TODAY.search(text):
        return midnight + timedelta(days=1)
    if _TOMORROW.search(text):
        return midnight + timedelta(days=2)
    if _THIS_WEEK.search(text):
        return midnight + timedelta(days=7 - local.weekday())
    return None


def _date_ahead(month: str, day: str | None, local: datetime) -> datetime | None:
    names = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
    number = names.index(month[:3].lower()) + 1
    try:
        found = datetime(local.year, number, int(day or 1), tzinfo=local.tzinfo)
    except ValueError:
        return None
    return found if found > local else found.replace(year=local.year + 1)
