"""Which topics must not be used: what a person still has to decide, what nobody has read yet."""

from __future__ import annotations

import logging
import time

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from memory import pipeline
from memory.lifecycle import episode, known, mentions
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_here as embed
from memory.models import Conflict, Customer, Episode, Memory
from memory.prepared import Prepared, argument
from memory.types import Status, Withheld

logger = logging.getLogger(__name__)
PAUSE = 0.05  # seconds between two looks whether the worker is through


def withheld(customer_id: int, *, wait: bool = True) -> Withheld:
    """Return what no reader may use. One query where there is nothing in doubt; all who read what
    stands for her come by here.

    `wait`: let the worker come first, a little; False for who only says so.
    """
    for erasing_since, conflicts, waits in _IN_DOUBT(hers=customer_id):
        if erasing_since is None:
            return Withheld(
                disputed=in_conflict(customer_id) if conflicts else frozenset(),
                unread=unread(customer_id, wait=wait) if waits else frozenset(),
            )
    return Withheld(erasing=True)


_IN_DOUBT = Prepared(
    lambda: Customer.objects.filter(pk=argument("hers")).values_list(
        "erase_requested_at",
        Exists(Conflict.objects.filter(customer_id=OuterRef("pk"), decided_at=None)),
        Exists(_waiting().filter(customer_id=OuterRef("pk"))),
    )
)


def _waiting() -> QuerySet[Episode]:
    return Episode.objects.filter(processed_at=None, dismissed=False)


def in_conflict(customer_id: int) -> frozenset[str]:
    cards = Conflict.objects.filter(customer_id=customer_id, decided_at=None)
    return frozenset(cards.values_list("topic__key", flat=True))


def unread(customer_id: int, *, wait: bool = True) -> frozenset[str]:
    """Wait a little for the worker; then nothing is used that its unread messages may change."""
    waiting = _waiting().filter(customer_id=customer_id)
    until = time.monotonic() + (settings.MEMORY_WAIT_MS / 1000 if wait else 0)
    while waiting.exists():
        if time.monotonic() >= until:
            return _mentioned(customer_id, list(waiting))
        time.sleep(PAUSE)
    return frozenset()


def _mentioned(customer_id: int, waiting: list[Episode]) -> frozenset[str]:
    stored: dict[str, list[str]] = {}
    active = Memory.objects.for_customer(customer_id).filter(status=Status.ACTIVE)
    for key, value in active.exclude(topic=None).values_list("topic__key", "value"):
        stored.setdefault(key, []).append(value)
    specs = known.specs()
    found: frozenset[str] = frozenset()
    try:
        for row in waiting:
            transcript = episode.load(row.transcript)
            found |= mentions.topics_mentioned(transcript, specs, embed=embed, known=stored)
    except Unavailable:
        return frozenset(s.key for s in specs)  # nobody can tell: none of them is used
    return found | _would_be_read(waiting)


def _would_be_read(waiting: list[Episode]) -> frozenset[str]:
    """The topics that the agent itself would find. What it cannot read breaks no answer."""
    found: set[str] = set()
    for row in waiting:
        try:
            said = pipeline.consider(episode.load(row.transcript))
        except Exception:
            logger.exception("Unable to read episode %s ahead", row.pk)
            continue
        found |= {c.topic for c in said.candidates if c.topic}
    return frozenset(found)
