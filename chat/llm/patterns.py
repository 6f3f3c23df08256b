"""Turns of phrase that say what a message is for, whatever the trade.

They stand in phrases/*.txt, one regular expression a line: English, with the commonest words of a
front desk in Spanish, French, German, Portuguese and Italian. None names a trade's case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

Pattern = re.Pattern[str]

PART, SHARED = 600, 200  # characters
FOLDER = Path(__file__).with_name("phrases")


def phrases(name: str) -> Pattern:
    """Return one pattern of all lines of phrases/`name`.txt."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(f"(?:{line})" for line in lines if line), re.IGNORECASE)


def word_list(name: str) -> frozenset[str]:
    return frozenset((FOLDER / f"{name}.txt").read_text(encoding="utf-8").split())


SOCIAL = word_list("social")  # small talk is made of nothing else
EMPTY = word_list("empty")  # words that name no topic
GLUE = word_list("glue")  # of those, the words that say nothing by themselves
GREETING = phrases("greeting")
THANKS = phrases("thanks")
BYE = phrases("bye")

PERSON = phrases("person")  # a person is wanted
KNOWN = phrases("known")  # "what do you know about me?"
FORGET = phrases("forget")
FORGET_NOT = phrases("forget_not")  # "I forgot", "delete my order": nothing of ours to forget
FORGET_ALL = phrases("forget_all")

SELF = phrases("self")  # a question about what the customer told before
USUAL = phrases("usual")  # "my usual slot"
ASKS = phrases("asks")
WISHES = phrases("wishes")
STATES = phrases("states")
JUDGES = phrases("judges")  # asks for a judgement of this customer's own case
OWN = phrases("own")
YOU = phrases("you")

DANGER = phrases("danger")
IDIOM = phrases("idiom")  # a dangerous word that means no danger: taken out before DANGER is tried
DISTRESS = phrases("distress")  # strong pain or distress, said of now
DISTRESS_NOT = phrases("distress_not")  # pain to come, over, denied, or no pain at all
OF_ONES_OWN = re.compile(
    r"\b(i|i'?m|i'?ve|me|my|mine|we|us|our|he|she|his|her|he'?s|she'?s|mi|me|mein|meine|mir|ich|mon|ma|"
    r"mes|je|j'ai|meu|minha|mio|mia)\b",
    re.IGNORECASE,
)
ERRAND = phrases("errand")  # "ring me when it is ready": something is to be done, once
FOR_GOOD = phrases("for_good")  # "could you always text me?" asks for nothing but that it be noted
CONTACT = phrases("contact")  # "can you call me?" wants a call, and asks nothing
POSSIBLE = phrases("possible")  # "how many can I have?" asks what can be, not what was told
LASTING = phrases("lasting")  # how she likes things done, and no errand
HISTORY = phrases("history")  # it was once, or only might be
EMOJI_ONLY = re.compile(r"^[\W\d_]*$")

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def words(text: str) -> list[str]:
    """Return the words in lower case, without accents and apostrophes."""
    plain = unicodedata.normalize("NFD", text.casefold().replace("’", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return [w.replace("'", "") for w in _WORD.findall(plain)]


def hits(text: str, patterns: Iterable[Pattern]) -> list[bool]:
    """Say which are found. A long text is looked at part by part: what some patterns cost grows
    with the square of its length, and all that they name is shorter than what two parts share."""
    text = text.replace("’", "'")
    starts = range(0, max(1, len(text) - SHARED), PART - SHARED)
    return [any(p.search(text, at, at + PART) for at in starts) for p in patterns]


def sentences(text: str) -> list[str]:
    """Return the sentences of a message; line breaks end one too."""
    parts = re.split(r"(?<=[.!?…])\s+|\n+|(?<=[a-z]);\s+", text.strip())
    return [p for p in (part.strip() for part in parts) if p]
