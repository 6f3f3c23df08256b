"""An engine for tests: it does what it is told, turn by turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from .base import Move, RunTool, Situation, TextDelta, Usage

Step = TextDelta | Move | Usage | BaseException | float  # a float: seconds to wait


class Scripted:
    """`script`: one list of steps a turn.

    The last one is repeated. `seen`: the situations given.
    """

    name = "scripted"

    def __init__(self, *script: Sequence[Step]) -> None:
        self.script = list(script)
        self.seen: list[Situation] = []

    async def turn(
        self, situation: Situation, *, run_tool: RunTool | None, tools: Sequence[dict[str, Any]]
    ) -> AsyncIterator[TextDelta | Move | Usage]:
        self.seen.append(situation)
        steps = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        for step in steps:
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, float):
                await asyncio.sleep(step)
            else:
                yield step
