"""The values that memory speaks in: frozen, without Django, so that every decision can be tested.

Vectors are `numpy` arrays of shape (EMBEDDING_WIDTH,), float32, unit length. Times are aware datetimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Sender = Literal["customer", "bot", "staff"]
Way = Literal["deliver", "offer", "gap"]


# In place of words that were to be forgotten: read by the customer, by staff and by the agent.
GONE = "[removed on request]"

EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def told_time(when: datetime) -> datetime:
    """Return a time that came from outside. Raises ValueError, in words for who sent it.

    PostgreSQL stores years that Python cannot read back: one such row breaks every list it is in.
    """
    if when.utcoffset() is None:
        raise ValueError("A time needs its offset, for example 2026-03-02T09:00:00-05:00.")
    if not EARLIEST <= when < LATEST:
        raise ValueError("This time is too far away: between 1900 and 2200, please.")
    return when


class Category(StrEnum):
    PREFERENCE = "preference"
    CONFIRMED_FACT = "confirmed_fact"
    LEARNED_PROCEDURE = "learned_procedure"
    ESCALATION_ANSWER = "escalation_answer"


class MemoryType(StrEnum):
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"
    REJECTED = "rejected"


class Action(StrEnum):
    """What one candidate does to what is known. DELETE: taken back or forgotten at her request."""

    CREATE = "CREATE"
    REINFORCE = "REINFORCE"
    UPDATE = "UPDATE"
    SUPERSEDE = "SUPERSEDE"
    DELETE = "DELETE"
    IGNORE = "IGNORE"


class Intent(StrEnum):
    """What the customer does with a fact: says it, takes a value back, or wants it forgotten."""

    STATE = "state"
    RETRACT = "retract"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation, as it was written."""

    seq: int
    sender: Sender
    text: str
    at: datetime
    name: str = ""
    asks_topic: str = ""  # the bot's own gap question: the topic it asked for
    offered: str = ""  # an answer card or canned text: never the customer's words


@dataclass(frozen=True, slots=True)
class Transcript:
    """All messages since the last flush of one conversation, in order of `seq`."""

    messages: tuple[Said, ...]
    timezone: str = "UTC"
    language: str = ""

    def by(self, sender: Sender) -> tuple[Said, ...]:
        return tuple(m for m in self.messages if m.sender == sender)


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic as the lifecycle sees it; mirrors `memory.models.Topic`."""

    key: str
    category: Category
    single_valued: bool
    label: str
    description: str = ""
    examples: tuple[str, ...] = ()
    not_examples: tuple[str, ...] = ()
    permanent: bool = False
    sensitive: bool = False
    # what the review queue taught of it: offset and steepness (lifecycle/extract/site.py)
    lean: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A typed claim found in the customer's words; a proposal until `validate` and `resolve` agree."""

    category: Category
    topic: str | None
    value: str
    text: str  # a clean sentence for people to read
    quote: str  # letter for letter what the customer wrote
    seq: int
    stated_at: datetime
    intent: Intent = Intent.STATE
    negated: bool = False  # "not in the evening": a refusal, kept as one
    adds: bool = False  # adds to, narrows or excludes part of what is known: both clauses stay
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    confidence: float = 0.5
    importance: float = 0.5
    vector: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Known:
    """A stored memory of the same customer, as `resolve` needs it."""

    id: int
    category: Category
    topic: str | None
    value: str
    text: str
    quote: str
    status: Status
    stated_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    ended_at: datetime | None = None  # when it stopped being active, by the customer's words
    negated: bool = False
    corrected: bool = False  # staff set this value
    corrected_away: tuple[str, ...] = ()  # values that staff took out, for this topic
    vector: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    action: Action
    candidate: Candidate
    replaces_id: int | None = None
    reason: str = ""  # in words: the audit line and the admin's explanation
    evidence: tuple[str, ...] = ()
    needs_review: bool = False
    value: str | None = None  # UPDATE: the merged value and sentence
    text: str | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """`passed` with the reason in words; `by` is the layer that decided: rule, classifier, model."""

    passed: bool
    reason: str
    by: Literal["rule", "classifier", "model"] = "rule"
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory that `recall` hands out, with the parts of its score."""

    id: int | None  # None: working memory of this conversation, not stored yet
    customer_id: int
    topic: str | None
    label: str
    category: Category
    text: str
    value: str
    stated_at: datetime
    score: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    sensitive: bool = False
    near: float | None = None  # cosine with the words that `known_about` was given


@dataclass(frozen=True, slots=True)
class Withheld:
    """Topics that must not be used: a person has to decide (`disputed`), or newer words of hers
    are not read yet (`unread`). `erasing`: she asked for everything to go."""

    disputed: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    erasing: bool = False

    @property
    def topics(self) -> frozenset[str]:
        return self.disputed | self.unread

    def holds_back(self, topic: str | None, *, stored: bool) -> bool:
        """Say whether a fact may not be used. What she says in this very conversation is newer
        than what nobody has read yet."""
        return self.erasing or topic in self.disputed or (stored and topic in self.unread)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is known for this message. `skipped`: the gate said that the past is not needed."""

    facts: tuple[Fact, ...] = ()
    rejected: tuple[Fact, ...] = ()
    withheld: tuple[
        str, ...
    ] = ()  # topics that must not be used till a person or the worker decided
    context: str = ""  # "Past context: …", established facts as quoted data
    gate: GateResult = field(default_factory=lambda: GateResult(False, "not asked"))
    skipped: bool = False
    at: Withheld | None = None  # why `withheld` is; None where the past was left alone

    def about(self, topic: str) -> tuple[Fact, ...]:
        return tuple(f for f in self.facts if f.topic == topic)


@dataclass(frozen=True, slots=True)
class AnswerCandidate:
    answer_id: int
    title: str
    parts: tuple[str, ...]  # the very words, one string per message of the expert
    role: str
    author: str
    said_on: datetime
    score: float  # how likely this answers the question, in [0, 1]
    wording: str = ""  # the stored wording that came nearest
    wordings: tuple[str, ...] = ()  # what staff gave it to for everyone, the nearest first
    why: str = ""
    memory_id: int | None = None  # told this customer alone: then there is no answer for others

    @property
    def key(self) -> str:
        """What a choice of it is called."""
        return str(self.answer_id) if self.memory_id is None else f"m{self.memory_id}"

    @property
    def number(self) -> int:
        """One number for both, where only numbers will do: hers are below zero."""
        return self.answer_id if self.memory_id is None else -self.memory_id


FAR_BELOW = 0.01  # of the best: a title less likely than that is left out of an offer


@dataclass(frozen=True, slots=True)
class AnswerFor:
    """The three ways out. `deliver`: candidates[0] in its very words; `offer`: up to three; `gap`: a person.

    `blocked` names the customer's own permanent or sensitive facts that the words touch: a person decides.
    """

    way: Way
    candidates: tuple[AnswerCandidate, ...] = ()
    margin: float = 0.0
    reason: str = ""
    match_id: int | None = None  # the AnswerMatch row that records this, where one was written
    blocked: tuple[Fact, ...] = ()

    @property
    def offerable(self) -> tuple[AnswerCandidate, ...]:
        """Those whose words were compared with what is known of her: the first, where it would do.

        What is far below the first is no choice for anybody.
        """
        if self.way == "deliver":
            return self.candidates[:1]
        best = max((c.score for c in self.candidates), default=0.0)
        return tuple(c for c in self.candidates[:3] if c.score >= FAR_BELOW * best)


@dataclass(frozen=True, slots=True)
class NoteFound:
    """A note of the business for a situation. `text` has {topic_key} slots still to be filled.

    Not `usable`: the situation is this one, but the topic that the note needs is not known of her.
    """

    note_id: int
    title: str
    text: str
    topic: str | None
    score: float
    tool: str = ""
    hands_over: bool = True
    usable: bool = True


@dataclass(frozen=True, slots=True)
class ShareVerdict:
    """May this staff answer be shared with everyone? `choice` is the preselection of the keeping step."""

    choice: Literal["everyone", "customer", "none"]
    reason: str
    pending: bool = False
    valid_until: datetime | None = None
    touches: tuple[str, ...] = ()


Evidence = dict[str, Any]
Vectors = Sequence[Vector]
