"""One turn of the bot, given the situation, an engine and tools: until there is something to do.

Pure: no database, no Django. What it returns is done and stored by turns.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from chat.llm.base import (
    Engine,
    Move,
    NeedsHuman,
    RunTool,
    Situation,
    TextDelta,
    Unavailable,
    Usage,
)

__all__ = ["Budget", "NeedsHuman", "Outcome", "run"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What one turn may cost."""

    tool_calls: int = 4


@dataclass(slots=True)
class Outcome:
    """What a turn came to. `needs`: a person too, after the moves."""

    moves: list[Move] = field(default_factory=list)
    needs: NeedsHuman | None = None
    spent: dict[str, Usage] = field(default_factory=dict)  # by engine: each has its price
    engine: str = ""
    failures: list[str] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        return sum(self.spent.values(), Usage())


async def run(
    situation: Situation,
    outcome: Outcome,
    *,
    engines: Sequence[Engine],
    tools: Sequence[dict[str, Any]] = (),
    run_tool: RunTool | None = None,
) -> AsyncIterator[TextDelta]:
    """Yield draft text, and fill `outcome`. Where an engine is unavailable the next one answers.

    Never silent: an engine that gives nothing counts as one that failed, and after the last a
    person is needed.
    """
    for engine in engines:
        outcome.engine = engine.name
        outcome.moves.clear()
        try:
            async for step in engine.turn(situation, run_tool=run_tool, tools=tools):
                if isinstance(step, TextDelta):
                    yield step
                elif isinstance(step, Usage):
                    outcome.spent[engine.name] = outcome.spent.get(engine.name, Usage()) + step
                else:
                    outcome.moves.append(step)
        except NeedsHuman as need:
            # Staff should see, too, that it was not the first choice that gave up.
            need.detail = "; ".join(filter(None, (need.detail, *outcome.failures)))
            outcome.needs = need
            return
        except Unavailable as exc:
            outcome.failures.append(f"{engine.name}: {exc}")
            continue
        if outcome.moves:
            return
        outcome.failures.append(f"{engine.name}: nothing came")
    outcome.moves.clear()
    outcome.needs = NeedsHuman("model", detail="; ".join(outcome.failures), wording="model")
