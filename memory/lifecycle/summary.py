"""What is left of a closed conversation: its topics, its questions and how each of them ended.

Pure, and without a value: what was said about a topic is told by the fact alone, so a fact that is
forgotten leaves no trace here. Numbers, names and the words of her values are left open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from memory import secrets
from memory.speech import acts, kinds
from memory.types import Decision, Intent, Said, TopicSpec, Transcript

OPEN = "…"
QUESTIONS = 4  # the first ones; more would be no summary
LONGEST = 120  # characters of one question
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]+)*[.!?]*")
_VALUE = re.compile(r"\S*[\d@]\S*")
_SHORTEST = 3


def summary(
    transcript: Transcript,
    decisions: Sequence[Decision],
    *,
    topics: Mapping[str, TopicSpec],
    known: Iterable[str] = (),
    visitor: bool = False,
) -> str:
    """Return one line that names topics and questions. `known`: values that are hers already.

    `visitor`: may be anybody at that browser, so no sensitive topic is named.
    """
    customer = [m for m in transcript.by("customer") if not m.offered]
    named = {k: t for k, t in topics.items() if not (visitor and t.sensitive)}
    told = tuple(dict.fromkeys(t for d in decisions if (t := _told(d)) in named))
    spoken = kinds.stems(" ".join(m.text for m in customer))
    about = tuple(k for k, t in named.items() if k not in told and _named(t) & spoken)
    hidden = _words([*known, *(d.candidate.value for d in decisions)])
    lines = [f"{len(customer)} message{'' if len(customer) == 1 else 's'} from the customer"]
    if transcript.by("staff"):
        lines.append("a person answered")
    if told:
        lines.append("told: " + ", ".join(topics[k].label for k in told))
    if about:
        lines.append("talked about: " + ", ".join(topics[k].label for k in about))
    lines += [
        f"asked {_shown(text, topics, hidden, visitor)}: {ending}"
        for text, ending in _questions(transcript)[:QUESTIONS]
    ]
    return "; ".join(lines) + "."


def _told(decision: Decision) -> str:
    candidate = decision.candidate
    return candidate.topic or "" if candidate.intent is not Intent.FORGET else ""


def _named(topic: TopicSpec) -> frozenset[str]:
    return kinds.stems(f"{topic.label} {topic.key.replace('_', ' ')}")


def _questions(transcript: Transcript) -> list[tuple[str, str]]:
    """Each question of hers, with what came of it before she asked the next."""
    asked: list[tuple[str, list[Said]]] = []
    replies: list[Said] = []
    for m in transcript.messages:
        if m.sender != "customer":
            replies.append(m)
        elif not m.offered:
            sentences = [s.strip() for s in _SENTENCE.findall(m.text)]
            asking = [s for s in sentences if acts.asks(s) and not acts.small_talk(s)]
            if asking:
                replies = []  # of one message, all questions share what is replied to it
                asked += [(s, replies) for s in asking]
    return [(text, _ending(found)) for text, found in asked]


def _ending(replies: Sequence[Said]) -> str:
    if any(m.sender == "staff" and not acts.only_asks(m.text) for m in replies):
        return "a person answered"
    bot = [m for m in replies if m.sender == "bot"]
    if any(m.offered for m in bot):
        return "a stored answer was shown"
    if any(m.asks_topic for m in bot):
        return "the bot asked back"
    return "the bot replied" if bot else "left open"


def _shown(
    text: str, topics: Mapping[str, TopicSpec], hidden: Collection[str], visitor: bool
) -> str:
    """The question without values; one that touches a sensitive topic is named by the topic."""
    spoken = kinds.stems(text)
    for topic in topics.values():
        if topic.sensitive and (_named(topic) & spoken or _words(topic.examples) & _words([text])):
            return f"about {'something sensitive' if visitor else topic.label}"
    plain = _VALUE.sub(OPEN, secrets.blank(text))
    words = [OPEN if _tells(w, i, hidden) else w for i, w in enumerate(plain.split())]
    kept = re.sub(rf"{OPEN}(?:\s+{OPEN})+", OPEN, " ".join(words))
    return f"“{kept if len(kept) <= LONGEST else kept[: LONGEST - 1].rstrip() + OPEN}”"


def _tells(word: str, position: int, hidden: Collection[str]) -> bool:
    bare = word.strip(".,;:!?\"'“”()")
    name = position > 0 and bare[:1].isupper() and bare != "I" and not bare.startswith("I'")
    return name or bool(_words([bare]) & set(hidden))


def _words(texts: Iterable[str]) -> frozenset[str]:
    """The words that carry a value, without those that any sentence has."""
    return frozenset(
        w
        for text in texts
        for w in re.findall(r"\w+", acts.plain(text))
        if len(w) >= _SHORTEST and w not in kinds.stop() and w not in kinds.frame()
    )
