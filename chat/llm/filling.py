"""What a tool says fills the note that is bound to it."""

from __future__ import annotations

from .base import FOR_A_NOTE, Move, RunTool, ToolCall, UseNote


async def with_tool_result(move: Move, run_tool: RunTool | None) -> Move:
    """A note that is bound to a tool gets what the tool says; the note stands without it too."""
    if not isinstance(move, UseNote) or not move.note.tool or run_tool is None:
        return move
    known = {f.topic: f.value for f in move.facts if f.topic}
    said = await run_tool(ToolCall(FOR_A_NOTE, move.note.tool, known))
    return UseNote(move.note, move.facts, said)
