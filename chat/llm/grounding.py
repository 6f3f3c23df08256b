"""The second look at a generated line: does it promise, or state a figure or rule found nowhere?

Pure. A fault is repaired once, else a person answers. It errs on the side of a person: words that
staff wrote are never looked at, since they stand as cards of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
      | (is|are|has\ been|have\ been|was)\ (now\ )?({_ACTS})
      | you\ will\ (get|receive)\ (a|your|the)\ (full\ )?(refund|discount|credit|reply|call)
      | free\ of\ charge | for\ free | at\ no\ (extra\ )?cost | no\ charge
    )\b""",
    re.I | re.X,
)
# What reads like a rule of the house: it must stand in the data with the same words of weight.
_RULES = re.compile(
    r"\b(our|the) (policy|policies|rules?|terms)\b|\b(must|are required to|(is|are) not allowed|"
    r"are entitled|is included|(is|are) covered|always|never) \w+",
    re.I,
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


def faults(reply: str, data: Sequence[str]) -> list[str]:
    """Return what is wrong with `reply`, in words, empty when nothing is.

    `data`: every text that the reply may rest on: facts, answers, notes, this
    conversation's messages of staff and customer. Never the prompt, never general knowledge.
    """
    known = "\n".join(data).casefold()
    found = [f"promises: {m[0]}" for m in _PROMISES.finditer(reply) if m[0].casefold() not in known]
    for pattern, kind in ((_FIGURES, "figure"), (_WORD_FIGURES, "figure"), (_DAYS, "day")):
        found += [
            f"{kind} found nowhere: {m[0]}"
            for m in pattern.finditer(reply)
            if not _stands_alone_in(m[0].casefold(), known)
        ]
    for sentence in re.split(r"(?<=[.!?])\s+", reply):
        if _RULES.search(sentence) and not _rests_on(sentence, known):
            found.append(f"rule found nowhere: {sentence[:80]}")
    return found


def _stands_alone_in(token: str, text: str) -> bool:
    """5 is not found in 15, nor 9:00 in 19:00."""
    return re.search(rf"(?<![\w.,:]){re.escape(token)}(?![\w]|[.,:]\d)", text) is not None


def _rests_on(sentence: str, known: str) -> bool:
    words = set(_WORDS.findall(sentence.casefold()))
    return bool(words) and sum(w in known for w in words) / len(words) >= 0.7
