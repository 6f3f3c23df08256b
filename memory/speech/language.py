"""Which language, and word-for-word glosses into English for those that are half understood.

The glosses (glosses.txt, general words alone) serve to see what a clause is about; what is
stored stays in the customer's own words. A language without glosses is not understood at all, also
where it cannot be named: what is no English is told by its words, most of which English has not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from .acts import plain

HERE = Path(__file__).parent
VOCABULARY = HERE.parent / "llm" / "minilm_tokenizer.json"
KNOWN = 0.35  # of the words: the least that says which language it is
FEW = 3  # words: with fewer, nobody can tell a language from a name
GLOSSED = ("es", "pt", "de", "fr")
FOREIGN_LETTER = re.compile(r"[áéíóúñãõçâêôäöüßàèùîûœ¿¡]")
PROSE = re.compile(r"(?<![\w/])[^\W\d_]+(?:['-][^\W\d_]+)*(?![\w/])")  # and no part of a code
CONTRACTED = re.compile(r"\w'(?:s|m|d|t|ve|re|ll)$")
OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\u9fff\uac00-\ud7af]")


@lru_cache(maxsize=512)  # both gates, the reading and each part of a message ask
def detect(text: str) -> str:
    """Return a code of common.txt, or "?" for any other language. Short words without evidence are
    English: names and answers of a word or two."""
    if len(OTHER_SCRIPT.findall(text)) > 2:
        return "?"
    words = [w.lower() for w in PROSE.findall(plain(text))]
    if not words:
        return "en"
    scores = {
        code: float(sum(w in few for w in words))
        for code, few in common().items()
        if code != "shared"
    }
    for code in GLOSSED:
        scores[code] += 0.5 * _glossed_words(text, code)
    if FOREIGN_LETTER.search(plain(text)):
        scores["en"] -= 1
    # English wins ties: borrowed words, "no" and "me" are not a language.
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    lead = 0.5 if len(words) < 4 else 1
    # One common word of a language without glosses is a name; one of a long sentence is a chance.
    least = max(0.5, KNOWN * len(words)) if best in GLOSSED else 2
    if scores[best] >= max(scores["en"] + lead, least):
        return best
    return "en" if _english(PROSE.findall(plain(text).lower())) else "?"


def _english(words: Sequence[str]) -> bool:
    """Say whether these may be English: a word that it alone has, or about half are its words."""
    parts = [p for w in words for p in re.split("['-]", w) if len(p) > 1 or p == "i"]
    if len(parts) < FEW or any(map(CONTRACTED.search, words)):
        return True
    if not _little().isdisjoint(parts):
        return True
    known = sum(p in common()["en"] or (p in vocabulary() and p not in _foreign()) for p in parts)
    return known >= len(parts) // 2


@cache
def _little() -> frozenset[str]:
    """The commonest words of English that no other language of the list has."""
    return common()["en"] - _foreign()


@cache
def _foreign() -> frozenset[str]:
    return frozenset[str]().union(*(few for code, few in common().items() if code != "en"))


@cache
def vocabulary() -> frozenset[str]:
    """What the sentence model's tokenizer keeps whole: the commonest 20,000 English words."""
    pieces = json.loads(VOCABULARY.read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(piece for piece in pieces if piece.isalpha() and len(piece) > 2)


def _glossed_words(text: str, code: str) -> int:
    borrowed = common()["en"] | common()["shared"]
    found = (m.group() for m in _phrases(code).finditer(plain(text)))
    return sum(
        len(form.split()) for form in found if form != table()[code][form] and form not in borrowed
    )


@cache
def common() -> dict[str, frozenset[str]]:
    """For each language its commonest short words; "shared": what English has from others."""
    held: dict[str, set[str]] = {}
    for line in (HERE / "common.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            code, words = line.split(":", 1)
            held.setdefault(code, set()).update(words.split())
    return {code: frozenset(words) for code, words in held.items()}


@cache
def table() -> dict[str, dict[str, str]]:
    """For each glossed language: its word or phrase → English."""
    held: dict[str, dict[str, str]] = {code: {} for code in GLOSSED}
    source = (HERE / "glosses.txt").read_text(encoding="utf-8")
    for line in source.splitlines():
        if not line or line.startswith("#"):
            continue
        english, *columns = (part.strip() for part in line.split("|"))
        for code, forms in zip(GLOSSED, columns, strict=True):
            for form in filter(None, (f.strip() for f in forms.split(","))):
                held[code].setdefault(form, english)
    return held


@cache
def _phrases(code: str) -> re.Pattern[str]:
    longest = sorted(table()[code], key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?:(?<=')|(?!\w))")


def gloss(text: str, code: str) -> str:
    """Return `text` word for word in English where the words are known; names and numbers stay."""
    if code not in GLOSSED:
        return text
    known = table()[code]
    return _phrases(code).sub(
        lambda m: known[m.group()] + (" " if m.group()[-1] == "'" else ""), plain(text)
    )
