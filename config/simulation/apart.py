"""Nothing of a simulation reaches the running product: no row, no ping, no bell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from channels.layers import channel_layers
from django.test.utils import override_settings

from config import celery
from memory.management.evaluation import scratch

app: Any = celery.app  # untyped there


@contextmanager
def apart() -> Iterator[None]:
    """A database and a broker of its own, and no channel layer: nobody listens.

    The rows there have numbers that other rows have here: a worker or an open tab would take one
    for the other. Nor is there anybody to wait for: a simulated customer finishes her sentence.
    """
    nobody_waits = override_settings(CHAT_BURST_MS=0)
    with nobody_waits, _broker("memory://localhost"), _no_channels(), scratch.database():
        yield


@contextmanager
def _broker(url: str) -> Iterator[None]:
    conf: Any = app.conf  # Celery's own settings object: its stubs call it read-only
    pool: Any = app.pool
    kept = conf.broker_url, conf.broker_transport_options
    pool.force_close_all()
    conf.broker_url, conf.broker_transport_options = url, {}
    try:
        yield
    finally:
        pool.force_close_all()
        conf.broker_url, conf.broker_transport_options = kept


@contextmanager
def _no_channels() -> Iterator[None]:
    before = channel_layers.set("default", None)  # type: ignore[arg-type]
    try:
        yield
    finally:
        if before is not None:
            channel_layers.set("default", before)
        else:
            channel_layers.backends.pop("default", None)
