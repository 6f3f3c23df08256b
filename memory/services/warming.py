"""What a process loads before the first customer waits for it."""

from __future__ import annotations

from memory.lifecycle import gate
from memory.llm.embeddings import embed_one_here


def warm_up() -> None:
    """Load the embedder and the gate: two seconds that the first message would pay otherwise."""
    embed_one_here("hello")
    gate.gates()
