"""What a turn works with, and what may come of it.

Pure: the agent and its engines know no database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from memory.llm.base import BadOutput, Refused, TextDelta, ToolCall, Unavailable, Usage
from memory.types import AnswerCandidate, AnswerFor, Fact, NoteFound, Recalled, Withheld

from .intents import Reading

__all__ = [
    "FOR_A_NOTE",
    "Answer",
    "Ask",
    "BadOutput",
    "Engine",
    "Forget",
    "Known",
    "Line",
    "Move",
    "NeedsHuman",
    "Noted",
    "Offer",
    "Recall",
    "Refused",
    "Remark",
    "Situation",
    "SmallTalk",
    "TextDelta",
    "ToolCall",
    "ToolFailed",
    "Topic",
    "Unavailable",
    "Usage",
    "UseNote",
]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the bot needs it.

    What it is called, and whether the customer may be asked for it.
    """

    key: str
    label: str
    description: str = ""
    examples: tuple[str, ...] = ()
    may_ask: bool = True  # a preference or a confirmed fact of the customer's own
    preference: bool = False
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One earlier row of the conversation."""

    sender: str  # customer, bot, staff
    text: str


@dataclass(frozen=True, slots=True)
class Situation:
    """All that one turn may use. `text`: the customer's unanswered words, one message a line."""

    text: str
    reading: Reading
    before: tuple[Line, ...] = ()
    asked_topic: str = ""  # the bot's own open question
    told: tuple[
        dict[str, Any], ...
    ] = ()  # what the words say of the customer (memory's candidates)
    topics: tuple[Topic, ...] = ()
    named: tuple[tuple[str, float], ...] = ()  # topics that the question names, best first
    pointed_at: str = ""  # the topic of "the second one", in what the bot listed before
    recalled: Recalled = field(default_factory=Recalled)
    standing: tuple[Fact, ...] = ()  # all that is known of this customer and may be said
    withheld: Withheld = field(default_factory=Withheld)  # what may not be said, and why
    answer: AnswerFor = field(default_factory=lambda: AnswerFor("gap"))
    # How the wording reads that came nearest: staff gave everyone this answer to that one.
    precedent: Reading | None = None
    note: NoteFound | None = None
    verified: bool = False
    business: str = ""
    guidance: str = ""

    def topic(self, key: str) -> Topic | None:
        return next((t for t in self.topics if t.key == key), None)

    @property
    def offerable(self) -> tuple[AnswerCandidate, ...]:
        """The stored answers that she may come to see: none, where one touches what is grave."""
        return () if self.answer.blocked else self.answer.candidates

    def standing_on(self, key: str) -> tuple[Fact, ...]:
        return tuple(f for f in self.standing if f.topic == key)


# --- What may come of a turn ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SmallTalk:
    courtesy: str  # greeting, thanks, goodbye, fine, chat


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's very words, as their own card; `line` may stand before it."""

    candidate: AnswerCandidate
    line: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    candidates: tuple[AnswerCandidate, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """The customer's own facts, said back."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known, said back."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """An honest gap: the customer is asked about a topic of their own."""

    topic: Topic


@dataclass(frozen=True, slots=True)
class Noted:
    """What the customer told is noted, and said back. `asked`: the reply to our own question."""

    facts: tuple[dict[str, Any], ...]
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Forget:
    """`topic` "" and `everything` False: by the customer's own words."""

    request: str
    topic: str = ""
    everything: bool = False


@dataclass(frozen=True, slots=True)
class UseNote:
    """What the business has written for a situation, filled with the customer's own facts."""

    note: NoteFound
    facts: tuple[Fact, ...]
    tool_result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of the model's own."""

    text: str


Move = SmallTalk | Answer | Offer | Recall | Known | Ask | Noted | Forget | UseNote | Remark


class NeedsHuman(Exception):
    """A person must take this.

    `reason`: an Escalation.Reason; `wording`: what the customer is told.
    """

    def __init__(
        self,
        reason: str,
        *,
        detail: str = "",
        wording: str = "no_answer",
        request: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.detail = detail
        self.wording = wording
        self.request = request or {}


class ToolFailed(NeedsHuman):
    """A tool was asked and could not say. `seen`: what came of it, as data for a model.

    `may_differ`: other arguments might do better.
    """

    def __init__(self, detail: str, *, seen: dict[str, Any], may_differ: bool) -> None:
        super().__init__("tool", detail=detail, wording="unsure")
        self.seen = seen
        self.may_differ = may_differ


RunTool = Callable[[ToolCall], Awaitable[dict[str, Any]]]
FOR_A_NOTE = "note"  # id of a call whose result fills a note's slots: it may come to nothing


class Engine(Protocol):
    """Decides what to do in a situation.

    Yields draft text and moves; raises NeedsHuman, Unavailable.
    """

    name: str

    def turn(
        self, situation: Situation, *, run_tool: RunTool | None, tools: Sequence[dict[str, Any]]
    ) -> AsyncIterator[TextDelta | Move | Usage]: ...
