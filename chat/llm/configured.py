"""The engine with a model, by the settings; None where there is no key."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from memory.llm.base import Usage
from memory.llm.configured import chat_model

from .openai import Generative

LEFT_FOR_STORING = 2.0  # seconds of a turn that the model does not get
WORTH_ASKING = 0.5  # seconds


def generative(*, used: float = 0.0, spent: int = 0) -> Generative | None:
    """`used`, `spent`: seconds and tokens of the turn that are gone.

    None without a key, or without time to ask.
    """
    model = chat_model("answer")
    left = seconds_left(used)
    if model is None or left < WORTH_ASKING:
        return None
    return Generative(
        model,
        seconds=left,
        tokens=settings.OPENAI_TOKENS_PER_TURN - spent,
        tool_calls=settings.CHAT_TOOL_CALLS,
        name=model.model,
    )


def seconds_left(used: float) -> float:
    return float(settings.CHAT_TURN_SECONDS) - LEFT_FOR_STORING - used


def cost(spent: Mapping[str, Usage]) -> float:
    return sum(usage.cost(settings.OPENAI_PRICES, engine) for engine, usage in spent.items())
