"""What a process loads before the first customer waits for it."""

from __future__ import annotations

from memory.lifecycle import gate
from memory.llm.embeddings import embed_one_here
from memory.speech import language


def warm_up(text: str = "hello") -> None:
    """Load the embedder, the gate and English: two seconds that the first message would pay.

    `text`: what is sure to come; its vector is kept till it is asked for.
    """
    embed_one_here(text)
    gate.gates()
    language.vocabulary()
