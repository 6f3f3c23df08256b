"""What the form of the words tells of a topic, where likeness of meaning tells too little.

A number is written like the topic's own examples; a channel is ordered; nobody is named. General
English and the topics' own words alone: no topic is known by name.
"""
# ruff: noqa: E501

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from memory.speech import acts, kinds
from memory.types import TopicSpec

from .topics import Array, Index

TOLD = 0.75  # chance of a topic that the form of the words points to
BY_NUMBER, NEAR = 0.65, 0.3
UNLIKELY = 0.2  # of its chance is left to a topic that the form speaks against

_TOKEN = re.compile(r"(?<![\w@.])[\w][\w/.-]*\w(?![\w@])")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}", re.I)
_LONG = 8  # letters and digits in one: its length is its shape
_RUNS = 3
_NAMES_PEOPLE = re.compile(r"\b(?:names?|called|address(?:ed)?)\b")
# How people tell what they want to be called, beside "call me" and the like.
_CALLS_HERSELF = re.compile(
    r"^(?:(?:and|but|so|or|no|oh|sorry|actually)\W+)*(?:it's|its|it is|i'm|im|i am|just|use|say|try|only|always|please|pls|plain|with|spell)\b"
    r"|\b(?:will do|is (?:fine|ok|okay|enough|better|right|short|me)|'s fine|please|pls|for short|instead|i answer to|pronounced|not|rather than|spelt|spelled|formal|first name|surname)\b"
)
_OF_A_THING = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have|'d| had)?(?: now| just| recently)? (?:have|has|had|got|get|use|took|take|bought|run|switched|moved|changed|went|upgraded)"
    r"|(?:i|we)(?:'ve| have| are|'re|'m| am) (?:now |still |just |all )?(?:had|got|on|with|at|in|under|through|using|switched|moved|changed)"
    r"|ours?|mine)\b|\b(?:mine|ours)'s\b"
)
_FEW_WORDS = 3
_CHANNEL = r"(?:texts?|sms|e-?mails?|mails?|messages?|calls?|phone|ring|letters?|voicemails?|post)"
_ORDERED = re.compile(
    rf"^(?:(?:please|pls|plz|just|always|only|and|so|or|but|then|do|can you|could you|you can|better)\s+)*(?:(?:don't|dont|do not|never|not)\s+)?"
    rf"(?:{_CHANNEL}|(?P<verb>[a-z]{{4,}})) (?:me|us)\b(?! (?:by|an?|the|that|this|what|how|why|when|where|which|who|some|know|if|whether|my|your)\b)"
    rf"|\b{_CHANNEL} (?:please|pls|plz|only|is (?:best|better|easier|easiest|fine|good)|works best|would be (?:better|best|easier|good)|suits (?:me|us))\b"
    rf"|\b(?:by|via|through|over|in|as an?) {_CHANNEL}\b"
)
_ONCE = re.compile(r"\b(?:when|once|if|as soon as|after|before|until|till)\b")
_REACHES = re.compile(
    r"\b(?:channel|reach(?:ed)?|contact(?:ed)?|in touch|hear from|news|updates?|reminders?|notif\w+)\b"
)


def weighed(known: Index, text: str, chances: Array) -> Array:
    """Return the chances of a clause for each topic, put right by the form of its words."""
    found = written_alike(known, text)
    if found is None:
        found = _by_channel(known, text, chances)
    if found is not None:
        pointed = np.array(chances) * UNLIKELY
        pointed[found] = max(float(chances[found]), TOLD)
        return np.asarray(pointed)
    if (coded := _told_by_number(known, text, chances)) is not None:
        chances = np.array(chances)
        chances[coded] = max(float(chances[coded]), BY_NUMBER)
    if lacking := _lacks_an_address(known, text):
        chances = np.array(chances)
        chances[lacking] *= UNLIKELY
    return _without_names(known, text, chances)


def _told_by_number(known: Index, text: str, chances: Array) -> int | None:
    """The likeliest topic, if it is the one topic of numbers that comes near and a number is told."""
    best = int(np.argmax(chances))
    numbers = [i for i, k in enumerate(known.kinds) if k.get("code", 0.0) >= 0.5]
    if best not in numbers or chances[best] < NEAR or "code" not in kinds.of(text):
        return None
    others = [float(chances[i]) for i in numbers if i != best]
    return best if max(others, default=0.0) * 3 <= chances[best] else None


def _lacks_an_address(known: Index, text: str) -> list[int]:
    """Topics of addresses on the net, where the words hold none."""
    if "host" in shapes(text):
        return []
    return [i for i, t in enumerate(known.topics) if all_hold_an_address(t)]


def address_in(text: str) -> str:
    """The address on the net that a text holds, or ""."""
    hosts = (m.group() for m in _TOKEN.finditer(text) if _shape(m.group()) == "host")
    return next(hosts, "")


@lru_cache(maxsize=512)
def all_hold_an_address(topic: TopicSpec) -> bool:
    """Do all the examples of a topic hold an address on the net?"""
    return bool(topic.examples) and all("host" in shapes(e) for e in topic.examples)


def written_alike(known: Index, text: str) -> int | None:
    """The one topic whose examples hold a number or address that is written like this one."""
    mine = shapes(text)
    if not mine:
        return None
    like = [i for i, t in enumerate(known.topics) if mine & _shapes_of(t)]
    return like[0] if len(like) == 1 else None


@lru_cache(maxsize=512)
def _shapes_of(topic: TopicSpec) -> frozenset[str]:
    return frozenset[str]().union(*map(shapes, topic.examples)) if topic.examples else frozenset()


@lru_cache(maxsize=4096)
def shapes(text: str) -> frozenset[str]:
    """How the ids and addresses of a text are written: "AB-1234-C" and "XY-99-D" are alike."""
    return frozenset(s for m in _TOKEN.finditer(text) if (s := _shape(m.group())))


def _shape(token: str) -> str:
    if _HOST.fullmatch(token) and not any(c.isdigit() for c in token.rsplit(".", 1)[1]):
        return "host"
    if not (any(c.isdigit() for c in token) and any(c.isalpha() for c in token)):
        return ""
    runs = re.findall(r"[a-zA-Z]+|\d+|[^\w\s]|_", token)
    if token.isalnum():
        return f"{len(token)} in one" if len(token) >= _LONG and len(runs) >= _RUNS else ""
    told = "".join("A" if r.isalpha() else "9" if r.isdigit() else r for r in runs)
    return told if len(runs) > _RUNS and sum(map(len, runs)) >= _LONG else ""


def _by_channel(known: Index, text: str, chances: Array) -> int | None:
    """ "E-mail is best", "text me": the topic that says how somebody is reached."""
    folded = acts.opened(text)
    order = _ORDERED.search(folded)
    if order is None or (_ONCE.search(folded) and not acts.LASTING.search(folded)):
        return None
    verb = order.groupdict().get("verb")
    if verb and verb in kinds.frame() | kinds.stop():
        return None
    reach = [
        i
        for i, t in enumerate(known.topics)
        if known.kinds[i].get("channel", 0.0) > 0
        and _REACHES.search(acts.plain(f"{t.label} {t.description}"))
    ]
    best = max(reach, key=lambda i: float(chances[i]), default=None)
    # "Call me Sam": a verb alone may mean something else.
    unclear = bool(verb) or "call" in order.group()
    if best is None or chances[best] * (1 if unclear else 2) < max(chances):
        return None
    return best


def _without_names(known: Index, text: str, chances: Array) -> Array:
    """What one has or is with is not what one is called; its share goes to the other topics."""
    if _may_name(acts.plain(text)):
        return chances
    left = np.array(chances)
    for i, t in enumerate(known.topics):
        if _names_people(known, i, t):
            left[i] *= UNLIKELY
    taken = float(chances.sum() - left.sum())
    return np.asarray(np.minimum(left / max(1 - taken, 0.3), np.maximum(left, 0.95)))


def _may_name(folded: str) -> bool:
    if kinds.NAMING.search(folded):
        return True
    if _OF_A_THING.search(folded):
        return False
    short = len(folded.split()) <= _FEW_WORDS
    titled = "title" in kinds.of(folded)
    return short or titled or bool(_CALLS_HERSELF.search(folded))


def _names_people(known: Index, i: int, topic: TopicSpec) -> bool:
    told = acts.plain(f"{topic.label} {topic.description}")
    return bool(_NAMES_PEOPLE.search(told)) and known.kinds[i].get("naming", 0.0) >= 0.3
