"""What the model decides, as the endpoint is asked for it: by its tools, or by one schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import Move, NeedsHuman, Offer, ToolCall, Unavailable

REPLY_CHARS = 600
# What the rules leave open. A wish for a person or a blocked answer is never reconsidered.
OPEN_NEEDS = frozenset({"no_answer", "unsure", "request"})


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string", "maxLength": REPLY_CHARS}
WAYS = ["use_answer", "offer", "ask", "reply", "hand_over", "call_tool"]
DECISION = _closed(
    way={"type": "string", "enum": WAYS},
    ids={"type": "array", "items": {"type": "integer"}},
    text=_TEXT,
    topic={"type": "string", "maxLength": 64},
    tool={"type": "string", "maxLength": 64},
    arguments={"type": "string", "maxLength": 1000},
)


def _function(name: str, description: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": _closed(**properties),
            "strict": True,
        },
    }


CHOICES = [
    _function(
        "use_answer",
        "Show one stored answer in its very words.",
        ids={"type": "array", "items": {"type": "integer"}},
        text=_TEXT,
    ),
    _function(
        "offer",
        "Let the customer choose among up to three.",
        ids={"type": "array", "items": {"type": "integer"}},
    ),
    _function("ask", "Ask the customer about a topic of their own.", topic={"type": "string"}),
    _function("hand_over", "A person has to take this.", text=_TEXT),
]


@dataclass(frozen=True, slots=True)
class Decision:
    way: str
    ids: tuple[int, ...] = ()
    text: str = ""
    topic: str = ""
    call: ToolCall | None = None


def from_schema(data: dict[str, Any]) -> Decision:
    if data.get("way") != "call_tool":
        return of_way(data.get("way"), data)
    try:
        arguments = json.loads(data.get("arguments") or "{}")
    except (ValueError, RecursionError, TypeError) as exc:
        raise Unavailable("tool arguments are no JSON", kind="broken") from exc
    if not isinstance(arguments, dict):
        raise Unavailable("tool arguments are no object", kind="broken")
    call = ToolCall("schema", str(data.get("tool") or ""), arguments)
    return Decision("call_tool", call=call)


def from_tools(text: str, calls: list[ToolCall]) -> Decision:
    if not calls:
        return Decision("reply", text=text.strip())
    call = calls[0]
    if call.name in WAYS:
        return of_way(call.name, call.arguments)
    return Decision("call_tool", call=call)


def of_way(way: Any, data: dict[str, Any]) -> Decision:
    """Endpoints without strict schemas may send anything: what has no place is left out."""
    if way not in WAYS or way == "call_tool":
        raise Unavailable("no such way to answer", kind="broken")
    ids = data.get("ids")
    return Decision(
        way,
        ids=tuple(i for i in ids if isinstance(i, int)) if isinstance(ids, list) else (),
        text=str(data.get("text") or "").strip(),
        topic=str(data.get("topic") or ""),
    )


def left_open(
    moves: Sequence[Move], need: NeedsHuman | None, tools: Sequence[dict[str, Any]]
) -> bool:
    """Whether the rules left something for the model to decide.

    What only a person can judge stays a person's; but "where is my parcel" may have a tool.
    """
    if need is not None and need.wording == "distress":
        return False
    if need is not None and need.wording == "personal":
        return need.reason == "unsure" and bool(tools)
    if need is not None:
        return need.reason in OPEN_NEEDS and not any(hasattr(m, "note") for m in moves)
    return any(isinstance(m, Offer) for m in moves)
