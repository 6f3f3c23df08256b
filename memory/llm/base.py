"""What the rest of memory asks of a model, whoever runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from memory.types import Vector


class Embedder(Protocol):
    """Turns texts into vectors of EMBEDDING_WIDTH floats, unit length, zero-padded."""

    model: str  # stored beside each vector; rows of two models are never compared

    def embed(self, texts: Sequence[str]) -> list[Vector]: ...


Prompt = list[dict[str, Any]]  # {"role": "system" | "user" | "assistant" | "tool", "content": …}


def size(prompt: Prompt) -> int:
    """About how many tokens a prompt is; four letters make one."""
    return sum(len(m["content"]) for m in prompt) // 4


Kind = Literal["timeout", "rate", "server", "request", "connection", "broken", "circuit"]


class Unavailable(Exception):
    """The model did not answer. `retry`: another try may help; `retry_after`: seconds, if said."""

    def __init__(
        self,
        message: str,
        *,
        kind: Kind = "connection",
        retry: bool = True,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry = retry
        self.retry_after = retry_after


class Refused(Exception):
    """The model would not answer this."""


class BadOutput(Exception):
    """The model answered, but not in the form asked for: no JSON, cut off, empty."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @classmethod
    def of(cls, usage: Any) -> Usage:
        return cls(usage.prompt_tokens, usage.completion_tokens) if usage else cls()

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
        )

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def cost(self, prices: dict[str, list[float]], model: str) -> float:
        """In the currency of `prices`: by model, [prompt, completion] a million tokens."""
        per_prompt, per_completion = prices.get(model, (0.0, 0.0))
        return (self.prompt_tokens * per_prompt + self.completion_tokens * per_completion) / 1e6


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    reason: str
    usage: Usage


ChatEvent = TextDelta | ToolCall | Finished


class ChatModel(Protocol):
    """Reads a prompt and answers. What comes back is a proposal, to be validated.

    `deadline` is a time.monotonic() value. Both raise Unavailable, Refused, BadOutput.
    """

    model: str

    def stream(
        self,
        prompt: Prompt,
        *,
        tools: Sequence[dict[str, Any]] = (),
        deadline: float,
        max_tokens: int = 800,
    ) -> AsyncIterator[ChatEvent]: ...

    async def fill(
        self,
        prompt: Prompt,
        *,
        name: str,
        schema: dict[str, Any],
        deadline: float,
        max_tokens: int = 800,
    ) -> tuple[dict[str, Any], Usage]: ...

    async def find_out_tools(self, deadline: float | None = None) -> bool: ...
