"""What the worker does for memory: the bell after a close, the sweep, the night."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from memory import kept, pipeline
from memory.lifecycle import embed_answers as embedding


@shared_task(name="memory.run_agent")
def run_agent(*, episode_id: int, **kwargs: object) -> None:
    pipeline.run(episode_id, now=timezone.now())


@shared_task(name="memory.sweep")
def sweep(**kwargs: object) -> None:
    pipeline.sweep(now=timezone.now())
    embedding.embed_answers()


@shared_task(name="memory.nightly")
def nightly(**kwargs: object) -> None:
    pipeline.nightly(now=timezone.now())
    kept.sum_up()


@shared_task(name="memory.embed_answers")
def embed_answers(**kwargs: object) -> None:
    """Answers are found by their letters until their vectors are here."""
    embedding.embed_answers()
