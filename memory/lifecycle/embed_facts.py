"""Vectors of facts follow after the commit: a model is not waited for under a lock."""

from __future__ import annotations

import logging

from memory.llm.base import Unavailable
from memory.llm.embeddings import embed, embedder
from memory.models import Memory

logger = logging.getLogger(__name__)
BATCH = 200  # rows a run; the next run takes the rest


def embed_missing(customer_id: int) -> int:
    """Embed what this customer told and has no vector yet; without a model it waits."""
    rows = Memory.objects.for_customer(customer_id).filter(embedding=None).exclude(text="")
    waiting = list(rows[:BATCH])
    try:
        vectors = embed([m.text for m in waiting])
    except Unavailable:
        logger.warning("Memories of customer %s have no vectors yet", customer_id)
        return 0
    for m, vector in zip(waiting, vectors, strict=True):
        # Only where the words are still the same: a request to forget may have come meanwhile.
        Memory.objects.filter(pk=m.pk, text=m.text).update(
            embedding=vector, embedding_model=embedder().model
        )
    return len(waiting)
