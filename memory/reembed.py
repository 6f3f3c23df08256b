"""After a change of the embedding model: vectors are made anew in the background, row by row.

The rows are their own list of what is left (`embedding_model` says who made a vector), so a run
that was broken off goes on where it was, and two runs do no harm. Until its turn comes a row keeps
its old vector; what has changed meanwhile is left to the next round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from celery import shared_task
from django.db.models import Model, Q, QuerySet

from memory.llm import embeddings
from memory.models import Answer, AnswerMatch, Memory, StoreItem

BATCH = 64  # rows between two looks at the clock of the beat; about two seconds of one core
BATCHES_A_RUN = 10  # a worker has other things to do


@dataclass(frozen=True, slots=True)
class Table:
    model: type[Model]
    columns: tuple[tuple[str, str], ...]  # (where the text stands, where its vector goes)

    def left(self, name: str) -> QuerySet[Any]:
        """Rows whose vector another model made. Those without any are their writers' business."""
        rows = self.model._default_manager.exclude(embedding_model__in=["", name])
        if self.model is StoreItem:
            # Vectors of an embedder that an agent brought along are not ours to replace.
            rows = rows.exclude(embedding_model="custom").exclude(embedded_text="")
        return rows

    def done(self, name: str) -> QuerySet[Any]:
        return self.model._default_manager.filter(embedding_model=name)


TABLES = (
    Table(Answer, (("title", "title_embedding"), ("text", "text_embedding"))),
    Table(Memory, (("text", "embedding"),)),
    Table(AnswerMatch, (("asked", "embedding"),)),
    Table(StoreItem, (("embedded_text", "embedding"),)),
)


@dataclass(frozen=True, slots=True)
class Progress:
    table: str
    done: int
    left: int


def progress() -> list[Progress]:
    name = embeddings.embedder().model
    return [Progress(t.model.__name__, t.done(name).count(), t.left(name).count()) for t in TABLES]


def reembed(*, batch: int = BATCH) -> Iterator[Progress]:
    """Make a batch of vectors between two steps of the iterator; answers first, they serve all."""
    name = embeddings.embedder().model
    for table in TABLES:
        after, done = 0, 0
        left = table.left(name).count()
        while rows := list(table.left(name).filter(pk__gt=after).order_by("pk")[:batch]):
            after = rows[-1].pk
            done += _batch(table, rows, name)
            yield Progress(table.model.__name__, done, max(left - done, 0))


def _batch(table: Table, rows: list[Any], name: str) -> int:
    texts = [str(getattr(row, text) or "") for text, _ in table.columns for row in rows]
    vectors = iter(embeddings.embed(texts))
    columns = {vector: [next(vectors) for _ in rows] for _, vector in table.columns}
    return sum(
        _write(table, row, {column: found[i] for column, found in columns.items()}, name)
        for i, row in enumerate(rows)
    )


def _write(table: Table, row: Any, vectors: dict[str, Any], name: str) -> int:
    same = Q(pk=row.pk, embedding_model=row.embedding_model)
    for text, _ in table.columns:
        if text != "text" or table.model is not Answer:  # an answer's words never change
            same &= Q(**{text: getattr(row, text)})
    return table.model._default_manager.filter(same).update(**vectors, embedding_model=name)


@shared_task(name="memory.reembed")
def reembed_some(**kwargs: object) -> None:
    """A bounded part of what is left; the beat comes again."""
    for n, _ in enumerate(reembed(), 1):
        if n >= BATCHES_A_RUN:
            return


@shared_task(name="memory.sweep_store")
def sweep_store(**kwargs: object) -> None:
    """Delete agents' items whose time is over; reads leave them out anyway."""
    from django.utils import timezone

    StoreItem.objects.filter(expires_at__lte=timezone.now()).delete()
