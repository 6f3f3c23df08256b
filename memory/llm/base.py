"""What the rest of memory asks of a model, whoever runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from memory.types import Vector


class Unavailable(Exception):
    """The model did not answer: time-out, quota, refused connection, damaged file."""


class Embedder(Protocol):
    """Turns texts into vectors of EMBEDDING_WIDTH floats, unit length, zero-padded."""

    model: str  # stored beside each vector; rows of two models are never compared

    def embed(self, texts: Sequence[str]) -> list[Vector]: ...


class ChatModel(Protocol):
    """Reads text and fills in a JSON schema. What comes back is a proposal, to be validated.

    Raises Unavailable.
    """

    model: str

    def fill(self, *, prompt: str, text: str, schema: dict[str, Any]) -> dict[str, Any]: ...
