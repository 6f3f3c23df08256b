"""Evidence from outside the model: what the customer did not demonstrably write is not stored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory import secrets, values
from memory.speech import acts, language
from memory.types import GONE, Candidate, Category, Evidence, Intent, Said, TopicSpec, Transcript

_LONGEST_VALUE = 400
_LONGEST_TEXT = 2000
_OF_CUSTOMERS = (Category.PREFERENCE, Category.CONFIRMED_FACT)  # nobody shares by chatting
_WITH_DIGIT = re.compile(r"[^\s,;()\[\]\"'“”‘’]*\d[^\s,;()\[\]\"'“”‘’]*")


@dataclass(frozen=True, slots=True)
class Verdict:
    ok: bool
    reason: str = ""


def check(
    candidate: Candidate, transcript: Transcript, *, topics: Mapping[str, TopicSpec]
) -> Verdict:
    """Say whether `candidate` rests on what the customer wrote, and why not."""
    message = next((m for m in transcript.messages if m.seq == candidate.seq), None)
    if message is None or message.sender != "customer" or message.offered:
        return Verdict(False, "not in the customer's own words")
    run = _run_around(message, transcript.messages)
    if not _occurs(candidate.quote, run):
        return Verdict(False, "the quote does not occur in what the customer wrote")
    refused = _wrong_kind(candidate, topics) or _secret_in(candidate) or _gone(candidate)
    if refused:
        return Verdict(False, refused)
    answered = _answered(message, transcript.messages)
    source = "\n".join([*(m.text for m in run), *answered])
    if candidate.intent is Intent.STATE and (lost := _changed_numbers(candidate, source)):
        return Verdict(False, f"a number is not as the customer wrote it ({len(lost)})")
    if candidate.intent is Intent.STATE and not _rests_on(candidate, answered):
        return Verdict(False, "the value is not in the words that it is said to rest on")
    return Verdict(True)


def _run_around(message: Said, messages: Sequence[Said]) -> list[Said]:
    """The burst that `message` belongs to: the customer's messages with nobody between."""
    at = messages.index(message)
    first = at
    while first > 0 and messages[first - 1].sender == "customer":
        first -= 1
    last = at
    while last + 1 < len(messages) and messages[last + 1].sender == "customer":
        last += 1
    return list(messages[first : last + 1])


def _occurs(quote: str, run: Sequence[Said]) -> bool:
    """Letter for letter; a quote of several lines may come from several messages of one burst."""
    if not quote.strip():
        return False
    texts = [m.text for m in run]
    if any(quote in t for t in texts):
        return True
    return all(any(line in t for t in texts) for line in quote.split("\n") if line.strip())


def _rests_on(candidate: Candidate, answered: Sequence[str]) -> bool:
    """A word of the value stands in the quote, or in the question that the quote answers."""
    said = values.words("\n".join([candidate.quote, *answered]))
    return bool(values.words(candidate.value) & said)


def _answered(message: Said, messages: Sequence[Said]) -> list[str]:
    """What the customer replied to: "yes please" takes its value from the question."""
    before = [m for m in messages if m.seq < message.seq and m.sender != "customer"]
    return [m.text for m in before[-2:] if not m.offered]


def _wrong_kind(candidate: Candidate, topics: Mapping[str, TopicSpec]) -> str:
    if candidate.category not in _OF_CUSTOMERS:
        return "customers state preferences and facts alone"
    if candidate.topic is not None:
        topic = topics.get(candidate.topic)
        if topic is None:
            return "the topic does not exist"
        if topic.category != candidate.category:
            return "the category is not the topic's"
    if candidate.intent is Intent.FORGET:
        return _not_to_forget(candidate)
    if candidate.intent is not Intent.STATE:
        return ""
    if not values.words(candidate.value) or not candidate.text.strip():
        return "there is no value"
    if len(candidate.value) > _LONGEST_VALUE or len(candidate.text) > _LONGEST_TEXT:
        return "the value is too long"
    if candidate.valid_until and candidate.valid_until <= (
        candidate.valid_from or candidate.stated_at
    ):
        return "it ends before it begins"
    return ""


def _not_to_forget(candidate: Candidate) -> str:
    """What is forgotten is gone: "I'm no longer with them" asks for no such thing."""
    code = language.detect(candidate.quote)
    if code not in ("en", *language.GLOSSED):
        return ""  # not half understood: the model's word
    said = language.gloss(candidate.quote, code) if code in language.GLOSSED else candidate.quote
    if not (acts.speaks_of_forgetting(said) or acts.wants_forgotten(said)):
        return "nothing in these words asks to forget"
    everything = candidate.topic is None and not candidate.value
    if everything and not acts.wants_all_forgotten(said):
        return "not everything is to be forgotten"
    return ""


def _secret_in(candidate: Candidate) -> str:
    for text in (candidate.quote, candidate.value, candidate.text):
        found = secrets.find(text)
        if found or "[removed: " in text:
            return f"holds a {found[0].kind if found else 'secret'}"
    return ""


def _gone(candidate: Candidate) -> str:
    """Nor is a request to forget carried out twice: what is left of its words may mean anything."""
    said = f"{candidate.quote}\n{candidate.value}\n{candidate.text}"
    return "was removed at the customer's request" if GONE in said else ""


def _changed_numbers(candidate: Candidate, source: str) -> set[str]:
    """Numbers of the value that the source does not hold, each whole and to the character."""
    ends = (candidate.valid_from, candidate.valid_until)
    dates = {p for d in ends if d for p in (str(d.year), str(d.day), str(d.month), f"{d:%Y-%m-%d}")}
    claimed = {t.strip(".:!?*_~") for t in _WITH_DIGIT.findall(candidate.value)}
    return {c for c in claimed - dates if not _stands_whole(c, source)}


def _stands_whole(token: str, source: str) -> bool:
    """A part of a longer number or id is another number."""
    before, after = r"(?<![\w])(?<![\w][-./:])", r"(?!\d)(?![-./:]\w)"
    return re.search(before + re.escape(token) + after, source, re.I) is not None


# --- Lessons -----------------------------------------------------------------------------------

_SAYS_WHAT_TO_DO = re.compile(
    r"\b(use|send|ask|check|refresh|renew|retry|try|wait|call|add|include|pass|give|hand|tell|"
    r"look|read|search|offer|confirm|log in|sign in|shorten|split|first|instead|before|only|must|"
    r"needs?|should)\b",
    re.I,
)
_NOT_THERE = re.compile(
    r"(does ?n[o'’]t exist|no such|not found|was removed|is gone|unknown (route|endpoint))",
    re.I,
)
_NO_RIGHT = re.compile(r"\b(permission|forbidden|credential|unauthori[sz]ed|token|log ?in)", re.I)
_FOR_EVER = re.compile(
    r"\b(never works?|always fails|is broken|cannot be used|not supported)\b", re.I
)
_EVIDENCE = ("status", "schema_error", "tool_result", "corrected_by", "rating")


def check_lesson(text: str, evidence: Evidence) -> Verdict:
    """Does the lesson agree with the status code, schema check, tool result or person behind it?"""
    if not any(evidence.get(k) not in (None, "") for k in _EVIDENCE):
        return Verdict(False, "nothing outside the model stands behind it")
    if secrets.find(text):
        return Verdict(False, "holds a secret")
    if not _SAYS_WHAT_TO_DO.search(text):
        return Verdict(False, "says what failed, not what to do")
    reason = _against_status(text, evidence.get("status"))
    if not reason and evidence.get("tool_result") == "ok" and _FOR_EVER.search(text):
        reason = "the tool worked"
    return Verdict(not reason, reason)


def _against_status(text: str, status: object) -> str:
    if not isinstance(status, int):
        return ""
    if status not in (404, 410) and _NOT_THERE.search(text):
        return f"status {status} does not say that it is missing"
    if status in (404, 410) and _NO_RIGHT.search(text):
        return f"status {status} does not say that a right is missing"
    if (status >= 500 or status in (408, 429)) and _FOR_EVER.search(text):
        return f"status {status} passes"
    if 200 <= status < 300 and _FOR_EVER.search(text):
        return f"status {status} says that it worked"
    return ""
