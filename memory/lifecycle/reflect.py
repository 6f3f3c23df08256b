"""What is learnt, and only from an event: the lesson is stored, never the failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory.types import Evidence

EVENTS = (
    "correction",  # staff say that it was otherwise
    "failed_tool",
    "thumbs_down",
    "accepted",  # the customer says that it helped
    "close",  # a chat ended, or is so long that its buffer is full and memory reads it
    "milestone",  # a person has settled what the bot had not
)


@dataclass(frozen=True, slots=True)
class Experience:
    """What was tried with one customer, and what worked."""

    tried: str
    worked: str
    evidence: Evidence

    @property
    def text(self) -> str:
        tried = f"Tried: {self.tried.strip()}" if self.tried.strip() else ""
        return "\n".join(filter(None, (tried, f"What worked: {self.worked.strip()}")))


@dataclass(frozen=True, slots=True)
class ToolFailure:
    tool: str
    status: int | None = None
    schema_error: str = ""


@dataclass(frozen=True, slots=True)
class Learnt:
    about: str
    text: str
    conditions: Evidence
    evidence: Evidence


_BY_STATUS: Mapping[int, str] = {
    400: "Check the arguments of {tool} against its schema before the call.",
    401: "Renew the credentials of {tool} before trying it again.",
    403: "{tool} answers, but this account may not use it: ask a person instead of trying again.",
    404: "Ask the customer to check the number before calling {tool} again: it found nothing.",
    408: "Wait and retry {tool} once; then hand over.",
    409: "Read the current state before calling {tool} again: it changed meanwhile.",
    422: "Check the arguments of {tool} against its schema before the call.",
    429: "Wait before the next call of {tool}: it limits how often it is used.",
}


def from_tool(failure: ToolFailure) -> Learnt | None:
    """Return what to do next time, as far as the status or schema check says it."""
    about = f"tool:{failure.tool}"
    if failure.schema_error:
        text = f"Check the arguments of {failure.tool} against its schema before the call."
        return Learnt(about, text, {"schema": True}, {"schema_error": failure.schema_error})
    if failure.status is None:
        return None
    text = _BY_STATUS.get(failure.status, "")
    if not text and failure.status >= 500:
        text = "Retry {tool} once later; then hand over."
    if not text:
        return None
    status: Evidence = {"status": failure.status}
    return Learnt(about, text.format(tool=failure.tool), status, dict(status))


def from_feedback(kind: str, *, tried: str, worked: str, evidence: Evidence) -> Experience | None:
    """A rejected reply alone is a failure; with what was accepted after it, it is an experience."""
    if kind not in EVENTS and kind != "corrected":
        return None
    return Experience(tried, worked, dict(evidence) | {"event": kind}) if worked.strip() else None
