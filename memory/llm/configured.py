"""Which model does what, by the settings; None where there is no key: the offline engine."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from django.conf import settings

from .openai import OpenAIChat

Purpose = Literal["answer", "knowledge", "gate"]


def chat_model(purpose: Purpose) -> OpenAIChat | None:
    if not settings.OPENAI_API_KEY:
        return None
    name = getattr(settings, f"OPENAI_{purpose.upper()}_MODEL")
    return _client(name, settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)


@lru_cache(maxsize=16)
def _client(model: str, base_url: str, api_key: str) -> OpenAIChat:
    """One for each model and process: its breaker remembers what it found."""
    return OpenAIChat(model=model, base_url=base_url, api_key=api_key)
