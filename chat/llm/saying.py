"""The customer's own words, said back so that they read right inside a sentence. Pure.

A whole sentence of hers stands in quotation marks, letter for letter. A bare value loses the
capital that it had at the start of her message, unless it is a name, a weekday or an abbreviation.
"""

from __future__ import annotations

import re

from . import patterns as p

_FIRST_PERSON = re.compile(
    r"\b(i|i['’](m|ve|d|ll)|im|ive|me|my|mine|myself|we|we['’](re|ve|d|ll)|us|our|ours"
    r"|yo|mis?|conmigo|soy|tengo|prefiero|ich|mein(e[nrms]?)?|mir|mich|je|j['’]\w+|mon|mes|moi"
    r"|eu|meus?|minhas?|prefiro|io|mio|mia|preferisco)\b",
    re.IGNORECASE,
)
# "Please e-mail, don't call": said to somebody, so it is her sentence too.
_SAID_TO = re.compile(
    r"^\W*(please|pls|no more|don['’]?t|do not|never (call|ring|text|write|e-?mail|phone|send)|"
    r"(e-?mail|text|call|ring|phone|write|send|contact|use|put|keep|remember|note) "
    r"(to |it|them|only))\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^([A-Z][^:.!?\n]{1,40}: )(?=\S)")
_DAY_OR_MONTH = re.compile(
    r"(mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|"
    r"september|october|november|december",
    re.IGNORECASE,
)
# Words that begin a value and are nobody's name. Others alone may be one: "Acorn".
_COMMON = p.EMPTY | p.word_list("plain")
_FUNCTION = p.word_list("function")


def said_back(text: str) -> str:
    """Return `text` as it may stand after "noted:", without an end of its own."""
    text = text.strip()
    label = _LABEL.match(text)
    if label:
        return label[1] + _quoted_or_bare(text[label.end() :], after_label=True)
    return _quoted_or_bare(text)


def in_sentence(value: str, *, at_start: bool = False) -> str:
    """Return a value for a slot in a sentence of the business."""
    said = _quoted_or_bare(value.strip())
    return said[:1].upper() + said[1:] if at_start else said


def _quoted_or_bare(text: str, *, after_label: bool = False) -> str:
    bare = text.rstrip().rstrip(".").rstrip()
    if _FIRST_PERSON.search(bare) or _SAID_TO.search(bare) or "?" in bare or "\n" in bare:
        return f"“{bare}”"
    return bare if after_label else _lowered(bare)


def _lowered(text: str) -> str:
    words = text.split()
    if not words or not words[0][:1].isupper():
        return text
    first = words[0].strip(",;:!“”\"'()")
    plain = first.casefold()
    others = [w for w in words[1:] if w[:1].isupper() and not _DAY_OR_MONTH.match(w)]
    if _DAY_OR_MONTH.fullmatch(first) or any(c.isupper() or c.isdigit() for c in first[1:]):
        return text
    name = plain not in _COMMON and (
        bool(others)
        or len(words) == 1
        or not words[1].isalpha()
        or words[1].casefold() in _FUNCTION
    )
    return text if name else text[:1].lower() + text[1:]
