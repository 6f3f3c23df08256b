"""The vector of a message for chat: the classifier was trained on these very weights."""

from memory.llm.embeddings import embed_one

__all__ = ["embed_one"]
