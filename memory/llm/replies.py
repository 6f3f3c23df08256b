"""What an endpoint's reply comes to: whole text, tool calls and usage, or why it is none."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .base import (
    BadOutput,
    ChatEvent,
    Finished,
    Refused,
    TextDelta,
    ToolCall,
    Unavailable,
    Usage,
)


@dataclass
class Reading:
    """One stream being read: it counts as whole only if it said why it ended."""

    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    reason: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)

    def take(self, chunk: Any) -> list[ChatEvent]:
        if chunk.usage is not None:
            self.usage = Usage.of(chunk.usage)
        events: list[ChatEvent] = []
        for choice in chunk.choices[:1]:
            self.reason = choice.finish_reason or self.reason
            self.refusal += choice.delta.refusal or ""
            if choice.delta.content:
                events.append(TextDelta(choice.delta.content))
            for call in choice.delta.tool_calls or []:
                kept = self.calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
                kept["id"] += call.id or ""
                kept["name"] += (call.function and call.function.name) or ""
                kept["arguments"] += (call.function and call.function.arguments) or ""
        return events

    def end(self) -> list[ChatEvent]:
        # A stream that stops with [DONE] and no finish_reason raises nothing in the SDK.
        if not self.reason:
            raise Unavailable("the stream ended without a finish_reason", kind="broken")
        if self.refusal or self.reason == "content_filter":
            raise Refused(self.refusal or "content filter")
        if self.reason == "length":
            raise BadOutput("cut off at the token limit", self.usage)
        calls = [
            ToolCall(c["id"], c["name"], parsed(c["arguments"], self.usage))
            for c in self.calls.values()
        ]
        return [*calls, Finished(self.reason, self.usage)]


def parsed(text: str, usage: Usage) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as exc:
        raise BadOutput("not JSON", usage) from exc
    if not isinstance(data, dict):
        raise BadOutput("not a JSON object", usage)
    return data
