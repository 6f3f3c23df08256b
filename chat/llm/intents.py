"""What a message is for. Pure: phrases, and a small classifier over the sentence's vector.

The classifier (intents.npz) was trained by `manage.py train_intents` on invented messages of many
trades (chat/training). It knows kinds of message, never a trade's cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory.speech import acts
from memory.types import Vector

from . import patterns as p
from .distress import in_distress

Embed = Callable[[str], Vector]
Floats = npt.NDArray[np.float32]

CUES = (
    p.GREETING,
    p.THANKS,
    p.BYE,
    p.PERSON,
    p.KNOWN,
    p.FORGET,
    p.SELF,
    p.USUAL,
    p.ASKS,
    p.WISHES,
    p.OWN,
    p.YOU,
    p.STATES,
    p.JUDGES,
    p.HISTORY,
)
COEFFICIENTS = Path(__file__).with_name("intents.npz")
TELLS = 0.4
SHORT = 12  # words
HARDLY = 0.12  # with so little of it, one sentence makes no question about herself
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
CUE_WEIGHT = 0.5  # beside a vector of length 1


class Kind(StrEnum):
    SMALL_TALK = "small_talk"
    PERSON = "person"
    SELF = "self"
    STATEMENT = "statement"
    QUESTION = "question"
    PERSONAL = "personal"  # for a person to judge: this customer's own case
    REQUEST = "request"
    REPORT = "report"  # something has happened that a person here must know: a fault, a change
    FORGET = "forget"
    EMERGENCY = "emergency"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Reading:
    """How one message reads. `scores`: the classifier's, by kind; they add up to 1."""

    kind: Kind
    why: str
    scores: Mapping[str, float] = field(default_factory=dict)
    asks: bool = False  # it holds a question
    distress: bool = False  # strong pain or distress now: for a person, in any trade

    def score(self, kind: Kind) -> float:
        return self.scores.get(kind.value, 0.0)


def read(text: str, *, embed: Embed, english: str = "") -> Reading:
    """Return what `text` is for. Emergencies are looked for elsewhere (emergencies.py).

    `english`: the same word for word, where it is in another language.
    """
    both = text if english in ("", text) else f"{text}\n{english}"
    scores = likelihoods(english or text, embed=embed)
    person, known, forget, self_asked, wishes = p.hits(
        both, (p.PERSON, p.KNOWN, p.FORGET, p.SELF, p.WISHES)
    )
    asks = asks_something(both)
    distress = in_distress(both)

    def as_(kind: Kind, why: str) -> Reading:
        return Reading(kind, why, scores, asks=asks, distress=distress)

    if small_talk_alone(text):
        return as_(Kind.SMALL_TALK, "nothing but courtesies")
    if known:
        return as_(Kind.KNOWN, "asks what is known")
    forget = forget and not any(p.hits(text, (p.FORGET_NOT,)))
    if forget:
        return as_(Kind.FORGET, "asks to forget")
    # In a long story the phrase may mean anything: then the whole must read like it too.
    if person and scores["self"] < 0.7 and (len(p.words(text)) <= 20 or scores["person"] >= 0.3):
        return as_(Kind.PERSON, "asks for a person")
    if wish := _wish(both):
        return replace(as_(Kind.REQUEST, wish), asks="for good" not in wish and asks)
    if _about_self(both, scores, self_asked=self_asked, asks=asks, embed=embed):
        return as_(Kind.SELF, "asks about what was told")
    best = _likeliest(scores, asks=asks, wishes=wishes)
    return as_(best, f"reads like it ({scores[best.value]:.2f})")


def _wish(text: str) -> str:
    """Return which wish it is that has the form of a question, or of a statement, or ""."""
    for_good, contact, lasting = p.hits(text, (p.FOR_GOOD, p.CONTACT, p.LASTING))
    if for_good:
        return "wishes it so for good"
    if errand(text):
        return "something is to be done, once"
    return "wants to be contacted" if contact and not lasting else ""


def errand(text: str) -> bool:
    """Say whether somebody is to get in touch on an occasion: "ring me when it is ready"."""
    lasting, once = p.hits(text, (p.LASTING, p.ERRAND))
    return once and not lasting


def _about_self(
    text: str, scores: Mapping[str, float], *, self_asked: bool, asks: bool, embed: Embed
) -> bool:
    """Judged by the sentence that asks: a story around it is full of what was told."""
    if scores["personal"] >= 0.5 and scores["personal"] > scores["self"]:
        return False
    if not self_asked and any(p.hits(text, (p.POSSIBLE,))):
        return False
    if len(p.words(text)) <= SHORT:
        return self_asked or scores["self"] >= 0.5
    asking = asking_part(text)
    if not asks or asking == text:
        return asks and (self_asked or scores["self"] >= 0.5)
    if scores["self"] < HARDLY:
        return False
    phrased = any(p.hits(asking, (p.SELF,)))
    return phrased or likelihoods(asking, embed=embed)["self"] >= 0.5


def _likeliest(scores: Mapping[str, float], *, asks: bool, wishes: bool) -> Kind:
    """The classifier's first choice, unless the form of the sentence speaks against it."""
    unlikely = {"emergency", "self", "known", "forget"}  # each has its own way in
    if asks:
        unlikely = unlikely | {"report"}  # what happened is then the story around a question
    best = max((k for k in scores if k not in unlikely), key=lambda k: scores[k])
    if best == "small_talk" and asks and scores[best] < 0.6:
        best = "question"
    if best == "person" and scores[best] < 0.5:
        best = "question" if asks else "statement"
    if best == "statement" and asks:
        best = "question"
    if best == "question" and wishes and not asks:
        best = "request"
    return Kind(best)


def asks_something(text: str) -> bool:
    """Say whether there is a question in it, also behind an exclamation and without its mark."""
    parts = (s for s in p.sentences(text) if not _SETS_A_SCENE.match(s))
    return any(any(p.hits(part, (p.ASKS,))) for part in (text, *parts))


# "When I was small we had a dentist who …", "How it happened I don't know"
_SETS_A_SCENE = re.compile(
    r"(?i)\W*(when|where|what|how|why|who)(ever)? (i|we|he|she|it|they|you|my|our|his|her|the)\b"
)


def likelihoods(text: str, *, embed: Embed) -> Mapping[str, float]:
    """Return how likely each kind is, by the classifier alone."""
    return _likelihoods(text, embed)


@lru_cache(maxsize=64)  # several steps of a turn ask it of the same words
def _likelihoods(text: str, embed: Embed) -> Mapping[str, float]:
    weights, bias, classes = _trained()
    logits = features(text, embed=embed) @ weights + bias
    odds = np.exp(logits - logits.max())
    return {c: float(o) for c, o in zip(classes, odds / odds.sum(), strict=True)}


def features(text: str, *, embed: Embed) -> Floats:
    """Return the classifier's input: the vector, then the cues."""
    plain = p.IDIOM.sub(" ", text)
    cues = [*p.hits(text, CUES), *p.hits(plain, [p.DANGER]), *p.hits(text, [p.IDIOM])]
    many = min(len(p.words(text)) / 20, 2.0)
    extra = np.array([*cues, many, bool(p.EMOJI_ONLY.match(text))], dtype=np.float32) * CUE_WEIGHT
    return np.concatenate([embed(text), extra]).astype(np.float32)


def small_talk_alone(text: str) -> bool:
    """Say whether there is nothing but courtesies, or no words at all, in a short message."""
    said = p.words(text)
    if not said:
        return bool(text.strip()) and not any(c.isdigit() for c in text) and text.strip() != "?"
    social = all(w in p.SOCIAL for w in said) and any(w not in p.GLUE for w in said)
    return len(said) <= 14 and social and not ("?" in text and len(said) > 4)


def courtesy(text: str) -> str:
    """Return which courtesy it is: greeting, thanks, goodbye, fine or chat."""
    greeting, thanks, bye = p.hits(text, (p.GREETING, p.THANKS, p.BYE))
    if thanks:
        return "thanks"
    if bye:
        return "goodbye"
    if greeting:
        return "greeting"
    return "fine" if small_talk_alone(text) else "chat"


def unfinished(text: str) -> bool:
    """Say whether this looks like the first part of something: short, and no end to it."""
    said = p.words(text)
    ends = text.rstrip()[-1:] in ".!?…)\"'"
    return bool(said) and len(said) <= 5 and not ends and not small_talk_alone(text)


def asks_for_all(text: str) -> bool:
    """Say whether a request to forget means everything."""
    plain = acts.without_reason(text)
    return any(p.hits(plain, (p.FORGET_ALL,))) and not acts.names_one_thing(plain)


def usual(text: str) -> bool:
    """Say whether the message refers to how it always is for this customer."""
    return any(p.hits(text, (p.USUAL,)))


def standing_wish(text: str, quotes: Iterable[str]) -> bool:
    """Say whether a wish is how things are to be done in general, and `quotes` are all it says:
    who noted it has done what there is to do. "Please call me back" is an errand."""
    if errand(text):
        return False
    left = text
    for quote in quotes:
        if not any(p.hits(quote, (p.LASTING,))):
            return False
        left = left.replace(quote, " ")
    return all(w in p.GLUE or w in p.SOCIAL for w in p.words(left))


def leans_back(text: str) -> bool:
    """Say whether a short message names nothing itself: "you already have that"."""
    said = p.words(text)
    return len(said) <= 6 and all(w in p.EMPTY or w in p.SOCIAL for w in said)


def pointed_at(text: str, listed: str) -> str:
    """Return what "the second one" or "the last" points at in a list, or ""."""
    said = set(p.words(text))
    found = next((n for word, n in ORDINALS.items() if word in said), None)
    if found is None:
        return ""
    lines = [line for line in re.split(r"\n|•", listed) if line.strip()]
    items = lines[1:] if len(lines) > 2 else re.split(r":|,|;|\band\b", lines[-1])[1:]
    items = [item for item in items if item.strip()]
    return items[found].strip() if -len(items) <= found < len(items) else ""


def sentence_with(text: str, quote: str) -> str:
    """Return the sentence that holds `quote`, or the whole text."""
    return next((s for s in p.sentences(text) if quote in s or s in quote), text)


def holds_statement(text: str, *, embed: Embed) -> bool:
    """Say whether any sentence of `text` tells something, or all of them together do."""
    return any(states(s, embed=embed) for s in dict.fromkeys((*p.sentences(text), text)))


def states(sentence: str, *, embed: Embed) -> bool:
    """Say whether a sentence tells something, rather than asks or chats."""
    asks, says_so = p.hits(sentence, (p.ASKS, p.STATES))
    if asks:
        return False
    likely = likelihoods(sentence, embed=embed)
    return says_so or likely[Kind.STATEMENT.value] + likely[Kind.REPORT.value] >= TELLS


def asking_part(text: str) -> str:
    """Return the sentences that ask, or the whole where none or all do."""
    asking = [s for s in p.sentences(text) if any(p.hits(s, (p.ASKS,)))]
    return " ".join(asking) or text


@lru_cache(maxsize=1)
def _trained() -> tuple[Floats, Floats, list[str]]:
    with np.load(COEFFICIENTS) as held:
        return held["weights"], held["bias"], [str(c) for c in held["classes"]]
