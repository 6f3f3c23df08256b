"""Episodes are their own queue: taken by one conditional UPDATE, given back when it failed."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q

from memory.models import Episode
from memory.prepared import by_key

STALE_CLAIM = timedelta(minutes=6)  # longer than CELERY_TASK_TIME_LIMIT
MAX_ATTEMPTS = 5  # by the sweep; the nightly run tries again


def claim(episode_id: int, *, now: datetime) -> Episode | None:
    """Return the episode if it is ours to read; None if it is done or somebody has it."""
    free = Q(claimed_at=None) | Q(claimed_at__lte=now - STALE_CLAIM)
    won = Episode.objects.filter(free, pk=episode_id, processed_at=None).update(
        claimed_at=now, attempts=F("attempts") + 1
    )
    return by_key(Episode, episode_id) if won else None


def give_back(episode_id: int, *, error: str) -> None:
    """`error`: the kind of failure, never a customer's words."""
    Episode.objects.filter(pk=episode_id).update(claimed_at=None, error=error)


def done(episode_id: int, *, now: datetime) -> None:
    Episode.objects.filter(pk=episode_id).update(processed_at=now, error="")


def waiting(*, now: datetime, after: timedelta, every_attempt: bool = False) -> list[int]:
    """Return what the bell missed, oldest conversation first."""
    rows = Episode.objects.filter(processed_at=None, recorded_at__lte=now - after)
    rows = rows.filter(Q(claimed_at=None) | Q(claimed_at__lte=now - STALE_CLAIM))
    if not every_attempt:
        rows = rows.filter(attempts__lt=MAX_ATTEMPTS)
    return list(rows.order_by("ended_at", "pk").values_list("pk", flat=True))
