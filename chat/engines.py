"""Which engines answer, in order: the model where a key is set, and always the one without."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings

from chat.llm.base import Engine
from chat.llm.configured import generative, seconds_left
from chat.llm.verbatim import Verbatim

__all__ = ["in_order", "seconds_left", "takes_time", "tokens_left"]


def takes_time(engines: Sequence[Engine] | None) -> bool:
    """Whether a model may be asked: then a reply takes seconds, not a moment."""
    if engines:
        return any(engine.name != Verbatim.name for engine in engines)
    return bool(settings.OPENAI_API_KEY)


def in_order(*, spent: int = 0, turn: int = 0, used: float = 0.0) -> list[Engine]:
    """`spent`: tokens of this conversation so far; past the budget the model is not asked.

    `turn`, `used`: tokens and seconds of this turn that are gone.
    """
    within = spent + turn < settings.OPENAI_TOKENS_PER_CONVERSATION
    model = generative(used=used, spent=turn) if within else None
    return [model, Verbatim()] if model else [Verbatim()]


def tokens_left(spent: int) -> int:
    """Return what a turn may cost, in a conversation that has cost `spent`."""
    left = settings.OPENAI_TOKENS_PER_CONVERSATION - spent
    return max(0, min(settings.OPENAI_TOKENS_PER_TURN, left))
