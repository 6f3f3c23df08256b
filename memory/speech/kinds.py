"""Kinds of words: days, channels, relations, numbers, codes … and words without their endings."""
# ruff: noqa: E501

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from .acts import plain

CODE = re.compile(
    r"\b(?=[\w./-]*\d)(?=[\w./-]{4,})[a-z]{0,5}[-_. /]?\d[\w]*(?:[-./_]\w+)*\b|\b[a-z]{1,4} ?\d{2,}(?: \d{2,})+\b"
    r"|\b\d{2,}(?: \d{2,}[a-z]?)+\b|\b[a-z]{1,4}[-_]\w*\d\w*(?:-\w+)*"
    r"|\b(?=(?:[a-z]*\d){2})(?=\d*[a-z])[a-z\d]{8,}\b",
)
PHONE = re.compile(r"(?<![\w-])\+?\(?\d{2,4}\)?[ /.-]?\d{3,4}[ .-]?\d{3,5}(?![\w-])")
MAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.\w+")
CLOCK = re.compile(
    r"\b\d{1,2}(?::\d\d| ?[ap]\.?m\b| o'?clock)|\b(?:before|after|by|at|till|until|from) \d{1,2}\b(?![\d:/.-])"
)
MONEY = re.compile(r"[$€£]\s?\d|\b\d+\s?(?:dollars?|euros?|pounds?|bucks|quid)\b")
STREET = re.compile(
    r"\b\d+\w?,? [a-z' ]+\b(?:street|st|road|rd|lane|avenue|ave|row|close|court|drive|way|crescent|square|place|terrace|yard|steps)\b|\b(?:street|road|lane|avenue|flat|apt)\b"
)
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-zà-ÿ]+")
AGE = re.compile(
    r"\b(?:\d{1,2} (?:years?|yrs?|months?)|(?:is|he's|she's|aged|turned) \d{1,2}\b|year old)"
)
NAMING = re.compile(
    r"\bcalls? me\b|\bgo(?:es)? by\b|\bnames?\b|\bnamed\b|\bknown as\b|\bnickname|\bpronouns?\b"
)
WORD = re.compile(r"[a-zà-ÿ]+(?:'[a-z]+)?")
ENDINGS = re.compile(r"(?:ings?|ers?|ed|ies|es|s|ly)$")


@cache
def held() -> dict[str, frozenset[str]]:
    lines = (Path(__file__).parent / "kinds.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(":", 1) for line in lines if line and not line.startswith("#"))
    return {kind: frozenset(words.split()) for kind, words in pairs}


@cache
def stop() -> frozenset[str]:
    from .language import common

    return common()["en"] | {
        "s",
        "t",
        "m",
        "d",
        "ve",
        "re",
        "ll",
        "customer",
        "memory",
        "each",
        "one",
    }


@cache
def frame() -> frozenset[str]:
    """Words that frame a statement in any trade: "have", "switched", "please"."""
    return held_in("frame.txt")


def held_in(name: str) -> frozenset[str]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return frozenset(w for line in lines if not line.startswith("#") for w in line.split())


@lru_cache(maxsize=4096)
def content(text: str) -> str:
    """The words that carry the matter, in their order; the whole text if there are none."""
    words = re.findall(r"[\w$€£][\w'’./@+#-]*", text)
    kept = [w for w in words if plain(w).strip(".'") not in frame() | stop()]
    return " ".join(kept) or text


@lru_cache(maxsize=4096)
def masked(text: str) -> str:
    """The text with what it is about left open: how one says it, whatever the thing is called."""
    general = frame() | stop() | frozenset().union(*held().values())
    parts: list[str] = []
    for word in re.findall(r"[\w$€£][\w'’./@+#-]*|[^\w\s]", text):
        low = plain(word).strip(".'")
        known = low in general or low.split("'")[0] in general or not re.search(r"\w", word)
        if known:
            parts.append(word.lower())
        elif not parts or parts[-1] != "something":
            parts.append("something")
    return " ".join(parts)


@lru_cache(maxsize=4096)
def of(text: str) -> frozenset[str]:
    """The kinds of words and numbers that a text holds."""
    folded = plain(text)
    words = set(re.findall(r"[a-z][a-z'-]*[a-z]", folded))
    found = {kind for kind, members in held().items() if words & members}
    for kind, pattern in (
        ("phone", PHONE), ("mail", MAIL), ("clock", CLOCK), ("money", MONEY), ("street", STREET),
        ("age", AGE), ("naming", NAMING),
    ):  # fmt: skip
        if pattern.search(folded):
            found.add(kind)
    if CODE.search(PHONE.sub(" ", CLOCK.sub(" ", folded))):
        found.add("code")
    if re.search(r"\d", folded):
        found.add("number")
    if found & {"weekday", "daypart", "clock", "month"}:
        found.add("when")
    if NAME.search(text):
        found.add("name")
    return frozenset(found)


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Content words without their endings, and the kinds they belong to."""
    words = [w.split("'")[0] for w in WORD.findall(plain(text).replace("e-mail", "email"))]
    return frozenset(stem(w) for w in words if w not in stop() and len(w) > 1)


def stem(word: str) -> str:
    short = ENDINGS.sub("", word)
    return short if len(short) >= 3 else word
