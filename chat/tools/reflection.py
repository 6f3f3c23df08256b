"""Execute → evaluate → reflect → retry. A retry must differ; at most two; then a person.

The lesson is what is kept, never the failure: it says what to do, and on what evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import Attempt, Execute, Outcome, ToolSpec

MAX_RETRIES = 2
LONGEST_WAIT = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learnt: `change` is applied to the first attempt of later turns."""

    about: str  # "tool:order_status"
    text: str
    change: dict[str, Any]  # {"with_token": true} or {"timeout": 6.0}
    conditions: dict[str, Any]  # {"status": 401}
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """A tool's run: every attempt with its outcome, and the lessons that a success bore out."""

    outcomes: tuple[Outcome, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    skipped: str = ""  # why the last retry was not made

    @property
    def last(self) -> Outcome:
        return self.outcomes[-1]

    @property
    def ok(self) -> bool:
        return bool(self.outcomes) and self.last.ok


@dataclass
class Reflector:
    """Runs one tool. Other arguments are for who chose them: a model sees the failure as data."""

    execute: Execute
    max_retries: int = MAX_RETRIES

    async def run(
        self, tool: ToolSpec, arguments: dict[str, Any], remembered: Sequence[dict[str, Any]] = ()
    ) -> Run:
        """`remembered`: the changes of earlier lessons about this tool, known from the start."""
        attempt = _with_lessons(Attempt(arguments, timeout=tool.timeout), remembered)
        outcomes: list[Outcome] = []
        lessons: list[Lesson] = []
        while True:
            outcomes.append(await self.execute(tool, attempt))
            if outcomes[-1].ok:
                # Only what led to success is a lesson; the rest was a guess.
                return Run(tuple(outcomes), tuple(lessons))
            if len(outcomes) > self.max_retries:
                return Run(tuple(outcomes), skipped="tried often enough")
            change, lesson = self._reflect(tool, outcomes[-1])
            following = attempt.but(**change)
            if following in [o.attempt for o in outcomes]:
                return Run(tuple(outcomes), skipped="another try would be the same")
            lessons = [*lessons, lesson] if lesson else lessons
            attempt = following

    def _reflect(self, tool: ToolSpec, seen: Outcome) -> tuple[dict[str, Any], Lesson | None]:
        if seen.status == 401 and tool.token and not seen.attempt.with_token:
            change: dict[str, Any] = {"with_token": True}
            return change, _lesson(tool, seen, change, "Send the token from the first call on.")
        if seen.failure == "timeout" and seen.attempt.timeout < LONGEST_WAIT:
            change = {"timeout": min(LONGEST_WAIT, seen.attempt.timeout * 2)}
            return change, _lesson(
                tool, seen, change, f"Give it {change['timeout']:g} s to answer."
            )
        return {}, None


def _with_lessons(attempt: Attempt, remembered: Sequence[dict[str, Any]]) -> Attempt:
    for change in remembered:
        known = {k: v for k, v in change.items() if k in {"with_token", "timeout"}}
        attempt = attempt.but(**known)
    return attempt


def _lesson(tool: ToolSpec, seen: Outcome, change: dict[str, Any], text: str) -> Lesson:
    condition = {"status": seen.status} if seen.status else {"failure": seen.failure}
    return Lesson(
        about=f"tool:{tool.name}",
        text=text,
        change=change,
        conditions=condition,
        evidence={"status": seen.status, "failure": seen.failure, "detail": seen.detail},
    )
