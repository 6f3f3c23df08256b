"""The second look at a generated line: does it promise, or say what stands nowhere?

Pure. A fault is repaired once, else a person answers. It errs on the side of a person: words that
staff wrote are never looked at, since they stand as cards of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import patterns as p

# What nobody can keep: acts that the bot cannot do, and guarantees.
_ACTS = (
    "book(ed)?|(re)?schedule[d]?|cancel(l?ed)?|change[d]?|refund(ed)?|credit(ed)?|waive[d]?|extend(ed)?|"
    "call(ed)?|phone[d]?|sen[dt]|ship(ped)?|order(ed)?|approve[d]?|upgrade[d]?|replace[d]?|update[d]?|"
    "deliver(ed)?|reserve[d]?|discount(ed)?|pa(y|id)|e?-?mail(ed)?|fix(ed)?|confirm(ed)?"
)
_PROMISES = re.compile(
    rf"""\b(
      guarantee[sd]? | promise[sd]? | assure\ you | rest\ assured
      | (i|we)(\ (will|shall|can|could|have|am\ going\ to|are\ going\ to)|['’](ll|ve))\s+
        ((now|just|already|certainly|definitely|gladly)\s+)* ({_ACTS})
      | you\ will\ (get|receive)\ (a|your|the)\ (full\ )?(refund|discount|credit|reply|call)
      | free\ of\ charge | for\ free | at\ no\ (extra\ )?cost | no\ charge
      | (is|are|be)\ free\b(?!\ (on|at|in|from|until|before|after)\b) | (we|i)\ owe
    )\b""",
    re.I | re.X,
)
# "has been shipped": only a tool can know.
_DONE = re.compile(rf"\b(is|are|has been|have been|was|were) (now )?(?P<act>{_ACTS})\b", re.I)
# What reads like a rule of the house: it must stand in the data with the same words of weight.
_RULES = re.compile(
    r"\b(our|the) (policy|policies|rules?|terms)\b|\b(must|are required to|(is|are) not allowed|"
    r"are entitled|is included|(is|are) covered) \w+",
    re.I,
)
_HABITS = re.compile(r"\b(always|never) \w+", re.I)
_OF_HERS = re.compile(r"\s*you\b", re.I)  # "you never want to be called" may be her own word
COURTESY = p.word_list("courtesy")  # words that say nothing of their own
# A customer's own word is none for a price or a dose.
_AMOUNTS = re.compile(
    r"[$€£¥]\s?\d|\d\s?([$€£¥%]|(dollars?|euros?|pounds?|percent|mg|ml|tablets?|pills?)\b)", re.I
)
_FIGURES = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD_FIGURES = re.compile(
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|hundred)\s+"
    r"(minutes?|hours?|days?|weeks?|months?|years?|dollars?|euros?|pounds?|percent|times|tablets?|pills?|mg|ml)\b",
    re.I,
)
_DAYS = re.compile(
    r"\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tonight|tomorrow|january|february|"
    r"march|april|june|july|august|september|october|november|december)\b",
    re.I,
)
_WORDS = re.compile(r"[a-z]{4,}")
_WEIGHTY = re.compile(r"[^\W\d_]{3,}")
_SPELT_APART = 6  # tokens of one letter in a sentence: words that hide from being read
ENOUGH = 0.6  # of a sentence's words of weight
RUN = 6  # words in a row


def faults(reply: str, data: Sequence[str], *, own: Sequence[str] = ()) -> list[str]:
    """Return what is wrong with `reply`, in words, empty when nothing is.

    `data`: what the business said: results of tools, words of staff. `own`: the customer's own
    facts, which hold no price, dose or rule. Never the prompt, never general knowledge.
    """
    theirs = "\n".join(data).casefold()
    known = "\n".join([*data, *own]).casefold()
    found = [f"promises: {m[0]}" for m in _PROMISES.finditer(reply)]
    found += [
        f"says that something is done: {m[0]}"
        for m in _DONE.finditer(reply)
        if not _stands_alone_in(m["act"].casefold(), theirs)
    ]
    for pattern, kind in ((_FIGURES, "figure"), (_WORD_FIGURES, "figure"), (_DAYS, "day")):
        found += [
            f"{kind} found nowhere: {m[0]}"
            for m in pattern.finditer(reply)
            if not _stands_alone_in(m[0].casefold(), known)
        ]
    for sentence in _sentences(reply):
        of_business = theirs if _AMOUNTS.search(sentence) else known
        if any(not _stands_alone_in(f.casefold(), of_business) for f in _FIGURES.findall(sentence)):
            found.append(f"amount found nowhere: {sentence[:80]}")
        rule = _RULES.search(sentence)
        habit = _HABITS.search(sentence)
        hers = habit and not rule and _OF_HERS.match(sentence)
        if (rule or habit) and not _rests_on(sentence, known if hers else theirs):
            found.append(f"rule found nowhere: {sentence[:80]}")
    return list(dict.fromkeys(found))


def loose(reply: str, data: Sequence[str], *, asked: str = "", kind: bool = False) -> list[str]:
    """Return the sentences that do not rest on `data`, in words.

    The customer's own words (`asked`) may be taken up, but nothing rests on them alone. `kind`:
    a line of courtesy, which may rest on nothing.
    """
    known, taken_up = _stems(data), _stems([asked])
    found, rests = [], kind
    for sentence in _sentences(reply):
        words = [w for w in _WEIGHTY.findall(sentence.casefold()) if w not in COURTESY]
        held = [w for w in words if _stem(w) in known]
        echoed = [w for w in words if _stem(w) in taken_up and _stem(w) not in known]
        letters = len(re.findall(r"\b[^\W_]\b", sentence))
        enough = len(held) + len(echoed) >= ENOUGH * len(words)
        if letters >= _SPELT_APART or not enough or (words and not held and not kind):
            found.append(f"rests on nothing: {sentence[:80]}")
        rests = rests or bool(held)
    return found if found or rests else ["rests on nothing"]


def shares_a_run(text: str, others: Iterable[str]) -> bool:
    """Whether RUN words in a row are the same: what is shown as it stands has no other clothes."""
    runs = _runs(text)
    return any(not runs.isdisjoint(_runs(other)) for other in others)


def made_up(arguments: Mapping[str, Any], said: Iterable[str]) -> list[str]:
    """Return the numbers among a tool's arguments that stand nowhere in what was `said`.

    A number that nobody gave may be another customer's. Dates, times and counts are worked out.
    """
    known = _bare(" ".join(said))
    texts = [t for v in arguments.values() for t in _leaves(v)]
    found = [n for t in texts if not _WORKED_OUT.fullmatch(t) for n in _NUMBERS.findall(t)]
    return [n for n in dict.fromkeys(found) if _bare(n) not in known]


_NUMBERS = re.compile(r"[^\s,;]*\d[^\s,;]*")
_WORKED_OUT = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.+Z-]*)?|\d\d?:\d\d|[12]?\d|3[01]")


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _leaves(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [t for v in value.values() for t in _leaves(v)]
    if isinstance(value, list):
        return [t for v in value for t in _leaves(v)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def _sentences(text: str) -> list[str]:
    return [s for s in re.split(r"(?<=[.!?])\s+|\n+", text) if s.strip()]


def _stems(texts: Iterable[str]) -> set[str]:
    return {_stem(w) for text in texts for w in _WEIGHTY.findall(text.casefold())}


def _stem(word: str) -> str:
    return word[:5]


def _stands_alone_in(token: str, text: str) -> bool:
    """5 is not found in 15, nor 9:00 in 19:00."""
    return re.search(rf"(?<![\w.,:]){re.escape(token)}(?![\w]|[.,:]\d)", text) is not None


def _rests_on(sentence: str, known: str) -> bool:
    words = set(_WORDS.findall(sentence.casefold()))
    return bool(words) and sum(w in known for w in words) / len(words) >= 0.7
