"""Which language, and word-for-word glosses into English for those that are half understood.

The glosses (glosses.txt, general words alone) serve to see what a clause is about; what is
stored stays in the customer's own words. A language without glosses is not understood at all.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from .acts import plain

HERE = Path(__file__).parent
GLOSSED = ("es", "pt", "de", "fr")
TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*'?", re.UNICODE)
FOREIGN_LETTER = re.compile(r"[áéíóúñãõçâêôäöüßàèùîûœ¿¡]")
OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\u9fff\uac00-\ud7af]")


@lru_cache(maxsize=512)  # both gates, the reading and each part of a message ask
def detect(text: str) -> str:
    """Return a code of common.txt, or "?" for another script. Without evidence it is English."""
    if len(OTHER_SCRIPT.findall(text)) > 2:
        return "?"
    words = [w.lower() for w in TOKEN.findall(plain(text))]
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
    least = 0.5 if best in GLOSSED else 2  # one common word of a language without glosses is a name
    return best if scores[best] >= max(scores["en"] + lead, least) else "en"


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
