"""Ringing the worker after a commit. Rows are the queue: a bell that nobody hears loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import transaction

_bell: ContextVar[bool] = ContextVar("bell", default=True)


def ring_on_commit(ring: Callable[[], object]) -> None:
    transaction.on_commit(lambda: ring() if _bell.get() else None, robust=True)


@contextmanager
def without_bell() -> Iterator[None]:
    """For whoever calls what the worker would do himself."""
    token = _bell.set(False)
    try:
        yield
    finally:
        _bell.reset(token)
