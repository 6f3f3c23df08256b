"""Which engines answer, in order: the model where a key is set, and always the one without."""

from __future__ import annotations

from chat.llm.base import Engine
from chat.llm.verbatim import Verbatim


def in_order() -> list[Engine]:
    return [Verbatim()]
