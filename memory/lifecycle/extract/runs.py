"""A run: the customer's messages with nobody between them, read as one text."""
# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass

from memory.types import Said, Transcript

from . import standing


@dataclass(frozen=True)
class Run:
    """`text` is the messages joined by line ends, quoted words blanked; `marks`: where each begins."""

    messages: tuple[Said, ...]
    before: Said | None  # what the bot or staff said last
    earlier: str  # her own last message before that
    text: str
    marks: tuple[int, ...]

    def message_at(self, offset: int) -> Said:
        return self.messages[max(i for i, m in enumerate(self.marks) if m <= offset)]


def runs_of(transcript: Transcript) -> list[Run]:
    runs: list[Run] = []
    current: list[Said] = []
    before: Said | None = None
    earlier = ""
    for m in (*transcript.messages, None):
        if m is not None and m.sender == "customer" and not m.offered:
            current.append(m)
            continue
        if current:
            runs.append(_run(tuple(current), before, earlier))
            earlier = current[-1].text
            current = []
        before = m
    return runs


def _run(messages: tuple[Said, ...], before: Said | None, earlier: str) -> Run:
    marks: list[int] = []
    at = 0
    for m in messages:
        marks.append(at)
        at += len(m.text) + 1
    text = "\n".join(standing.own_words(m.text) for m in messages)
    return Run(messages, before, earlier, text, tuple(marks))
