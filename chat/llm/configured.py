"""The engine with a model, by the settings; None where there is no key."""

from __future__ import annotations

from django.conf import settings

from memory.llm.base import Usage
from memory.llm.configured import chat_model

from .openai import Generative

LEFT_FOR_STORING = 2.0  # seconds of a turn that the model does not get


def generative() -> Generative | None:
    model = chat_model("answer")
    if model is None:
        return None
    return Generative(
        model,
        seconds=max(1.0, settings.CHAT_TURN_SECONDS - LEFT_FOR_STORING),
        tokens=settings.OPENAI_TOKENS_PER_TURN,
        tool_calls=settings.CHAT_TOOL_CALLS,
        name=model.model,
    )


def cost(usage: Usage, engine: str) -> float:
    return usage.cost(settings.OPENAI_PRICES, engine)
