"""Is this an emergency? Pure.

In doubt yes: a person who is asked once too often is the lesser harm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from . import patterns as p
from .distress import in_distress
from .intents import Embed, Floats, Kind, likelihoods

SURE = 0.41  # chosen on invented messages of nine trades
SURE_OF_A_PART = 0.86  # a sentence taken out of its story alarms sooner
MOST_PARTS = 8
DANGER_WEIGHT = 0.5
LISTED_WEIGHT = 0.7
NAMED = 0.65  # cosine from which the business's own words are meant
FAR = 0.3  # cosine of sentences that merely speak of the same things
UNLISTED = 0.2  # … where the business has said nothing
ASKED = 0.1  # who asks is seldom in one
CALMER = 0.25  # "I faint at the sight of needles", "what do I do if …", "forget the burn"


def find(text: str, *, listed: Sequence[str], embed: Embed) -> str:
    """Return why `text` is an emergency, or "". `listed`: the business's own, in plain words."""
    if why := _why(text, listed, embed, SURE):
        return why
    found = (_why(part, listed, embed, SURE_OF_A_PART) for part in _long(text))
    return next(filter(None, found), "")


def alarm(text: str, *, listed: Sequence[str], embed: Embed) -> float:
    """Return how much of an emergency this is; SURE or more is one."""
    plain = p.IDIOM.sub(" ", text)
    score = likelihoods(text, embed=embed)[Kind.EMERGENCY.value]
    danger, history, forget, asks = p.hits(plain, (p.DANGER, p.HISTORY, p.FORGET, p.ASKS))
    score += DANGER_WEIGHT * danger - CALMER * (history or forget) - ASKED * asks
    near = nearest(plain, listed, embed)
    if not danger and near < NAMED and in_distress(text):
        score -= CALMER  # strong pain alone brings a person; the business says what is an emergency
    # What is far from all that the business calls an emergency has to sound more like one.
    return score + LISTED_WEIGHT * ((near if listed else UNLISTED) - FAR)


def nearest(text: str, listed: Sequence[str], embed: Embed) -> float:
    """Return the cosine with the business's nearest words for an emergency."""
    if not listed or not p.words(text):
        return 0.0
    return float((_vectors(tuple(listed), embed) @ embed(text)).max())


@lru_cache(maxsize=8)
def _vectors(listed: tuple[str, ...], embed: Embed) -> Floats:
    return np.stack([embed(phrase) for phrase in spelt_out(listed)])


@lru_cache(maxsize=8)
def spelt_out(listed: tuple[str, ...]) -> tuple[str, ...]:
    """Return each entry, and what stands between its commas and "or"s."""
    found = list(listed)
    for entry in listed:
        found += [part.strip() for part in re.split(r",|;| or ", entry) if len(part.split()) > 1]
    return tuple(dict.fromkeys(found))


def _why(text: str, listed: Sequence[str], embed: Embed, sure: float) -> str:
    if _says(text, listed):
        return "words on the list"
    score = alarm(text, listed=listed, embed=embed)
    return f"reads like an emergency ({score:.2f})" if score >= sure else ""


def _says(text: str, listed: Sequence[str]) -> bool:
    """The listed words as they stand, of more than one word: one alone may be anything."""
    plain = " ".join(p.words(p.IDIOM.sub(" ", text)))
    asked = any(p.hits(text, (p.HISTORY,)))
    entries = [" ".join(p.words(entry)) for entry in spelt_out(tuple(listed))]
    return not asked and any(f" {e} " in f" {plain} " for e in entries if len(e.split()) > 1)


def _long(text: str) -> list[str]:
    """In a long message the alarming sentence must not drown in the others."""
    said = [s for s in p.sentences(text) if len(p.words(s)) > 3]
    if len(said) < 2:
        return []
    # Ten thousand characters hold hundreds of sentences: those with a dangerous word come first.
    return sorted(said, key=lambda s: not any(p.hits(s, (p.DANGER,))))[:MOST_PARTS]
