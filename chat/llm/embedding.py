"""The vector of a message for chat: the classifier of intents knows these very weights alone."""

from __future__ import annotations

from functools import lru_cache

from memory.llm import embeddings
from memory.types import Vector


def embed_one(text: str) -> Vector:
    """Return MiniLM's vector, also where memory embeds with another model."""
    local = embeddings.local_embedder()
    if embeddings.embedder() is local:
        return embeddings.embed_one(text)
    return _local(text)


@lru_cache(maxsize=2048)  # 4 MB
def _local(text: str) -> Vector:
    return embeddings.local_embedder().embed([text])[0]
