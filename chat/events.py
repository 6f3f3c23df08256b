"""What happens in the life of one customer message, as `turns.take_turn` tells its driver."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ack:
    """The message is stored (or was before): the sender may forget its own copy."""

    client_id: str
    seq: int
    conversation_id: int


@dataclass(frozen=True, slots=True)
class Typing:
    """The bot is at work on it, and that may take some seconds."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a draft. The row that follows holds the whole text: a lost delta does no harm."""

    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """The log grew up to `seq`."""

    conversation_id: int
    seq: int


@dataclass(frozen=True, slots=True)
class StateChanged:
    conversation_id: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing was stored; `text` says why, and what to do, beside the message."""

    client_id: str
    code: str
    text: str


Event = Ack | Typing | Delta | Rows | StateChanged | Failed
