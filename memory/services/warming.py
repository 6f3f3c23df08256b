"""What a process loads before the first customer waits for it."""

from __future__ import annotations

from memory import pipeline
from memory.lifecycle import gate
from memory.llm.embeddings import embed_one_here
from memory.llm.fitted import read_here
from memory.llm.joint import read_beside
from memory.speech import language
from memory.types import Category, TopicSpec

ANY = TopicSpec("any", Category.PREFERENCE, True, "Any", "Whatever it is.", ())


def warm_up(text: str = "hello") -> None:
    """Load the encoders, the gate and English: seconds that the first message would pay.

    `text`: what is sure to come; its vector is kept till it is asked for.
    """
    embed_one_here(text)
    read_here(text, [(0, len(text))])
    read_beside(text, (0, len(text)), ANY)
    gate.gates()
    language.vocabulary()


def warm_up_topics() -> None:
    """Read the business's topics; needs the database."""
    pipeline.get_ready()
