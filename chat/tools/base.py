"""A registered tool as plain values, and what one attempt brought."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Failure = Literal[
    "", "arguments", "refused", "status", "not_json", "schema", "too_large", "timeout", "connection"
]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Mirrors `chat.models.Tool`. `token` is the secret's value: it is sent, and shown nowhere."""

    name: str
    description: str
    arguments: dict[str, Any]  # JSON schema
    url: str  # "https://shop.example/orders/{order_id}"
    result: dict[str, Any] = field(default_factory=dict)  # JSON schema
    auth_header: str = ""
    token: str = field(default="", repr=False)
    needs_identity: bool = True
    timeout: float = 3.0  # seconds

    def for_model(self) -> dict[str, Any]:
        """As the chat completions API wants it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.arguments or {"type": "object", "properties": {}},
            },
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to call a tool. Equal attempts would bring the same: the second is not made."""

    arguments: dict[str, Any]
    with_token: bool = False
    timeout: float = 3.0  # seconds

    def but(self, **changes: Any) -> Attempt:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt. `body`: the start of what was read, as evidence."""

    attempt: Attempt
    failure: Failure = ""
    status: int = 0
    data: Any = None
    body: str = ""
    detail: str = ""

    @property
    def ok(self) -> bool:
        return not self.failure


Execute = Callable[[ToolSpec, Attempt], Awaitable[Outcome]]
