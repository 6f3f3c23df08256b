"""The vector of a message for chat: the classifier of intents knows these very weights alone."""

from memory.llm.embeddings import embed_one_here as embed_one

__all__ = ["embed_one"]
