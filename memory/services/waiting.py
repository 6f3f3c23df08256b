"""What is said and not read yet: the topics that recall must leave alone till it is."""

from __future__ import annotations

import logging
from collections import defaultdict
from datetime import datetime

from memory import pipeline
from memory.lifecycle import episode as stored
from memory.lifecycle import known, mentions
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed
from memory.models import Conflict, Episode, Memory, Topic
from memory.types import Status, Transcript

logger = logging.getLogger(__name__)


def waits(customer_id: int) -> bool:
    return Episode.objects.filter(customer_id=customer_id, processed_at=None).exists()


def withheld_topics(customer_id: int, *, now: datetime) -> frozenset[str]:
    """Return the keys of topics with an open conflict, or that an unread conversation mentions."""
    cards = Conflict.objects.filter(customer_id=customer_id, decided_at=None)
    keys = set(cards.values_list("topic__key", flat=True))
    unread = Episode.objects.filter(customer_id=customer_id, processed_at=None)
    for episode in unread.order_by("pk"):
        keys |= _mentioned(customer_id, stored.load(episode.transcript))
    return frozenset(keys)


def _mentioned(customer_id: int, said: Transcript) -> set[str]:
    """Without vectors nothing can be told apart: every topic is withheld."""
    topics = [known.spec(t) for t in Topic.objects.order_by("key")]
    facts: dict[str, list[str]] = defaultdict(list)
    rows = Memory.objects.for_customer(customer_id).filter(status=Status.ACTIVE, kind="fact")
    for key, value in rows.exclude(topic=None).values_list("topic__key", "value"):
        facts[key].append(value)
    try:
        found = set(mentions.topics_mentioned(said, topics, embed=embed, known=facts))
    except Unavailable:
        return {t.key for t in topics}
    try:
        found |= {c.topic for c in pipeline.consider(said).candidates if c.topic}
    except Exception:  # what keeps the worker from reading it must not keep the bot from answering
        logger.exception("Unable to read ahead for customer %s", customer_id)
    return found
