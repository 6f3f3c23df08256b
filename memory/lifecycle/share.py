"""May a staff answer be shown to everyone? Pure. A person's explicit choice overrules what it says.

Rules first, and they have the last word on what is hers: names, numbers, "your" with a state. What
they leave open, a classifier judges (memory/speech/hers.py): as an argument, `told_of_her`.
Every pattern is about how people write to one person or to anybody; none names a trade or a brand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from memory.speech import acts, bound, fillers
from memory.speech.bound import DAY, MONTH
from memory.types import ShareVerdict

MIN_WORDS = 6
OF_A_LIST = 0.55  # that share of the chance is left where the words are a list
TAKES_NOTE = 14  # words: thanks for what she told, with less than that beside, answer nothing
ASIDE = 4  # words: "Still stuck?" leads on to the advice, a longer question waits for her
# Chances that an answer tells of her own case: above, it is hers; between the two a person decides.
HERS = 0.5
PERHAPS_HERS = 0.4
SURELY_GENERAL = 0.15  # below, "your money is back within a week" is said of anybody's money
SURELY_ANYBODYS = 0.3  # below, "it" and "they" mean what the question named

SHORT_QUESTION = 12  # words; without a question mark, longer ones are her story

ToldOfHer = Callable[[str, str], float]  # answer, what was asked → chance in (0, 1)

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]+)*[.!?]*")  # "3.5" and "a.m" stay whole
_WORD = re.compile(r"\w[\w'’-]*")

# What follows is said of anybody in that case, not of her.
_SUPPOSED = re.compile(
    r"\b(?:if|when|whenever|once|until|unless|whether|after|before|while|in case|those"
    r"|people|anyone"
    r"|patients|customers|users|guests|members|so (?:that )?(?:we|i) can)\b",
    re.I,
)
_OPENS = r"^(?:(?:yes|no|yep|nope|ok|well|so|and|but|then|exactly|sure|of course)\b[,.:; ]*)*"
_FAR = (
    r"that|this|these|those|he|she|same|both|either|neither|(?:exactly )?the (?:same|latter"
    r"|former|other)"
)
_SAID = (
    r"|\b(?:as (?:i|we) (?:said|mentioned|wrote)|like (?:i|we) (?:said|mentioned)"
    r"|(?:same|as) (?:as )?(?:before|last time|above)|see above|mentioned (?:above|earlier)"
    r"|(?:same|as|with|of|for|like|on|than|between) (?:those|these)(?: ones?)?(?=[,.!;]|$| \w+ly\b)"
    r"|that one|the other one|i told you)\b"
)
_LEANS = re.compile(rf"{_OPENS}(?:it|they|{_FAR})(?:'s|'re|'ll|'d)?\b{_SAID}", re.I)
# "It" and "they" mean what the question names; what is pointed at may be anywhere before.
_LEANS_FAR = re.compile(rf"{_OPENS}(?:(?!that depends)(?:{_FAR}))(?:'s|'re|'ll|'d)?\b{_SAID}", re.I)
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
    r"|\b(?:left|ready|here|waiting|reserved|kept|held|booked|aside) for (?:you\b|your (?!own\b))"
    r"|\byou (?:still )?owe\b"
    r"|\byou (?:were|had|paid|told|said"
    r"|mentioned|asked|wrote|sent|called|ordered|bought)\b(?! (?:with|from|for|it with)\b)"
    r"|\byour\b[^.?!]*\bsince\b|\b(?:he|she|they) (?:has|have|had|got|knows?) your\b"
    r"|(?:^|[,:] )in your case\b|\b(?:in|for) this case\b"
    r"|\b(?:was|were) \w+(?: \w+)? on the \d"
    # somebody did something with what is hers, or is expected by the clock
    r"|(?<!is )(?<!are )(?<!be )(?<!been )(?<!get )(?<!that )\b(?!need\b|feed\b)"
    r"(?:\w{3,}ed|saw|spoke|went|chose|found|wrote|took|came|sent)\b"
    r"(?! (?:from|by|under|via|through))[^.?!;]*?"
    r"\b(?<!at )(?:your|yours)\b(?! own\b)"
    r"|^yours\b|\b(?:she|he|they) (?:wants?|would like|'d like) to see you\b|\byou(?:'re"
    r"| are) (?:first|second|third)\b"
    r"|\b(?:under|in|on) your (?:name|file|account|record|chart|list)\b|\bas (?:planned"
    r"|agreed|discussed)\b",
    re.I,
)
_DATE = re.compile(
    rf"\b{MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b"
    rf"|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b"
    rf"|\b{DAY},? (?:the \d+|at \d|\d|morning|afternoon|evening)|\b(?:the|on"
    rf"|tomorrow) {DAY}\b|\bat \d\d?:\d\d|\bon the \d{{1,2}}(?:st|nd|rd|th)\b",
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
_POINT = re.compile(r"^\s*(?:\d{1,2}[.)]|[-–•*])\s+\S", re.M)
_TAKES_NOTE = re.compile(
    r"\W*(?:(?:ah|oh|ok|okay|right|hello|hi|super|and)\W+)*(?:thanks?|thank you|cheers|got it|great"
    r"|perfect|brilliant|lovely|noted|understood|good|i see|updated|done|fixed"
    r"|that(?:'s| is| explains| helps| matches| was)?)\b"
)
_ASKS = re.compile(r"\?\s*$")


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
    parts: Sequence[str],
    *,
    title: str,
    details: Details,
    now: datetime,
    timezone: str,
    asked: str = "",
    told_of_her: ToldOfHer | None = None,
) -> ShareVerdict:
    """Return who may see this answer, and why. `parts`: the very words, one string a message.

    `asked`: what the customer wrote before it, in her words; the title where there is nothing else.
    """
    core = [s for part in parts for s in substance(part)]
    if not core:
        return ShareVerdict("none", "says nothing by itself")
    if _ASKS.search(core[-1]) or any(_ASKS.search(s) and len(s.split()) > ASIDE for s in core):
        return ShareVerdict("none", "asks back")
    text = " ".join(core)
    if _only_takes_note(parts[0], text, asked or title):
        return ShareVerdict("none", "takes note of what the customer told, and answers nothing")
    chance = told_of_her(text, asked or title) if told_of_her is not None else None
    if chance is not None and _lists(parts):
        chance *= OF_A_LIST
    general = chance is not None and chance < SURELY_GENERAL
    touches = touched(parts, title=title, details=details, general=general)
    words = sum(len(_WORD.findall(s)) for s in core)
    if touches or (chance is not None and chance >= HERS):
        if words < MIN_WORDS and not re.search(r"\d", text):
            return ShareVerdict("none", "too short to mean anything later", touches=touches)
        named = f"holds details of the customer: {', '.join(touches)}"
        reason = named if touches else "tells of the customer's own case, as it reads"
        return ShareVerdict("customer", reason, touches=touches)
    if words < MIN_WORDS:
        return ShareVerdict("none", "too short to stand alone")
    if chance is not None and chance >= PERHAPS_HERS:
        return ShareVerdict("everyone", "it may tell of the customer's own case", pending=True)
    clear = bool(title.strip()) and chance is not None and chance < SURELY_ANYBODYS
    if leaning := (_LEANS_FAR if clear else _LEANS).search(core[0]):
        return ShareVerdict("everyone", f"“{leaning[0]}” needs what was said before", pending=True)
    return _in_time(text, now=now, timezone=timezone)


def _lists(parts: Sequence[str]) -> bool:
    """Steps or points, one a line: so people write what holds for anybody."""
    return len(_POINT.findall("\n".join(parts))) > 1


def _only_takes_note(opening: str, text: str, asked: str) -> bool:
    """ "Got it, thanks. Give it a minute": says that her answer came, and little else."""
    if acts.asks(asked) or any(acts.asks(s) for s in acts.parts(asked)):
        return False
    short = len(_WORD.findall(text)) < TAKES_NOTE and not re.search(r"\d", text)
    return short and bool(_TAKES_NOTE.match(acts.plain(opening)))


def substance(part: str) -> list[str]:
    """Return the sentences of a message that say something: no greetings, thanks or promises."""
    sentences = [s.strip() for s in _SENTENCE.findall(part)]
    return [s for s in sentences if _WORD.search(s) and not fillers.is_filler(s.rstrip(".!… "))]


def touched(
    parts: Iterable[str], *, title: str, details: Details, general: bool = False
) -> tuple[str, ...]:
    """Return the customer's details that the words (or the title, which others see) give away.

    `general`: as a whole they hold for anybody, so "your" alone makes nothing hers.
    """
    text = "\n".join(parts)
    found = [m[1] for p in text.split("\n") if (m := _GREETED.match(p)) and m[1] not in _NO_NAMES]
    both = f"{title}\n{text}"
    found += [n for n in (*details.names, *introduced(details.said)) if _has_word(both, n)]
    found += [f for f in details.facts if _has_word(both, f)]
    hers = {n for said in details.said for n in _numbers(said)}
    asked = "\n".join((both, *details.said))
    found += [n for n in _numbers(both) if _of_hers(n, hers, asked) or not _public(n, asked)]
    # What holds for anybody has no day of its own: "yours is ready on Tuesday" is hers.
    told = (s for s in _SENTENCE.findall(text) if not general or _DATE.search(s))
    found += [m[0] for s in told for m in _TO_HER.finditer(s) if _of_her(s, m)]
    if found:
        found += [m[0] for m in _DATE.finditer(text)]
    return tuple(dict.fromkeys(found))


# A number that many meet: of an error, a version; or one made up to show how it is written.
_OF_THE_THING = (
    r"(?:\b(?:error|fault|status|version|release|model)(?: (?:code|number|no\.?|message))?[ :#]*"
    r"|\b(?:such as|for example|e\.g\.,?) )"
)


def _of_hers(number: str, hers: Container[str], text: str) -> bool:
    of_the_thing = rf"{_OF_THE_THING}{re.escape(number)}(?![\w-])"
    return number in hers and not re.search(of_the_thing, text, re.I)


_INTRODUCED = (
    re.compile(r"\b([A-Z][a-z]{2,})(?: ([A-Z][\w'’-]+))? (?:here|speaking)\b"),
    re.compile(r"\b(?:[Tt]his is|[Mm]y name is|[Mm]y name's|[Nn]ame:|I am|I'm)"
               r" ([A-Z][a-z]{2,})(?: ([A-Z][\w'’-]+))?"),
    re.compile(r"\b(?:[Mm]y|[Oo]ur) [a-z]{3,} ([A-Z][a-z]{2,})\b()"),
)  # fmt: skip


def introduced(said: Iterable[str]) -> tuple[str, ...]:
    """Return the names by which she introduced herself and those of hers."""
    found = [m for text in said for pattern in _INTRODUCED for m in pattern.finditer(text)]
    names: list[str] = [n for m in found for n in m.groups() if n and n not in _NO_NAMES]
    return tuple(dict.fromkeys(names))


def safe_title(
    asked: str, parts: Sequence[str], *, details: Details, taken: Container[str] = ()
) -> str:
    """Return what the answer may be called before others: a question of hers without her details.

    Where each of her sentences has some, or is `taken` by an answer before it in the same chat, the
    answer's own first words stand in.
    """
    sentences = [s.strip() for s in re.findall(r"[^.!?\n]+[.!?]*", asked)]
    asking = [s for s in sentences if s.endswith("?")]
    if not asking and (acts.asks(asked) or len(asked.split()) <= SHORT_QUESTION):
        asking = [asked.strip()]
    own = [s for part in parts for s in substance(part)][:1]
    for title in (*asking, *own):
        if title and title not in taken and not touched((), title=title, details=details):
            return str(title)
    return ""


def _of_her(sentence: str, match: re.Match[str]) -> bool:
    return not _SUPPOSED.search(sentence[: match.end()])


_NO_NAMES = {"There", "All", "Everyone", "Team", "Again", "For", "Sir", "Madam", "Yes", "No"}


def _numbers(text: str) -> list[str]:
    return [m[0] for m in _NUMBER.finditer(text)]


def _public(number: str, text: str) -> bool:
    """A telephone number to call, or a year, belongs to the business."""
    if re.fullmatch(r"(?:19|20)\d\d(?:-?s)?", number):
        return True
    found = re.escape(number)
    if re.search(rf"{_OF_THE_THING}{found}(?![\w-])", text, re.I):
        return True
    of_a_case = r"claim|id|ref\w*|order|case|ticket|booking|invoice"
    if re.search(rf"\b(?:{of_a_case})\s*(?:number|no\.?|is|:|#)*\s*{found}", text, re.I):
        return False
    if re.search(rf"\b(?:text|call|ring|phone|dial)\b[^.?!]{{0,30}}\b{found}", text, re.I):
        return True
    return any(number in m[0] for m in _PHONE.finditer(text)) and not re.search(
        rf"\b(?:number|no\.?)\s*(?:is|:|#)?\s*{found}", text, re.I
    )


def _has_word(text: str, word: str) -> bool:
    return len(word) > 2 and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.I))


def _in_time(text: str, *, now: datetime, timezone: str) -> ShareVerdict:
    local = now.astimezone(ZoneInfo(timezone))
    until = bound.ends(text, local)
    if until:
        return ShareVerdict("everyone", f"holds until {until.day} {until:%B}", valid_until=until)
    if now_only := bound.JUST_NOW.search(text):
        return ShareVerdict("everyone", f"“{now_only[0]}”: give it an end", pending=True)
    return ShareVerdict("everyone", "stands alone, names nobody")
