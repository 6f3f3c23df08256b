"""Whole loops, driven in Chromium: every act is a click, a key or a frame."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from config.celery import app
from config.servers.valkey import Valkey

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def broker() -> Iterator[str]:
    """Let this process ring a real Valkey, as in production."""
    with Valkey("valkey-test") as valkey, _rings(valkey.broker_url):
        app.control.purge()
        yield valkey.broker_url


@contextlib.contextmanager
def _rings(url: str) -> Iterator[None]:
    kept = app.conf.broker_url, app.conf.broker_transport_options
    _connect_to(url, {"socket_connect_timeout": 1})
    try:
        yield
    finally:
        _connect_to(*kept)


def _connect_to(url: str, options: dict[str, object]) -> None:
    celery: Any = app
    celery.conf.broker_url, celery.conf.broker_transport_options = url, options
    # Celery keeps its connections for the life of the process: let them go by hand.
    celery._pool = celery.amqp._producer_pool = None


@pytest.fixture
def start_worker(
    broker: str, transactional_db: None, tmp_path: Path
) -> Iterator[Callable[[], None]]:
    """Start a real worker with its clock when the journey says so; stop it at the end."""
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.journeys.worker_settings",
            "JOURNEY_DATABASE": str(connection.settings_dict["NAME"]),
            "JOURNEY_BROKER": broker,
        }
        how = f"worker --beat --schedule {tmp_path}/beat --concurrency 1 --loglevel WARNING"
        command = [sys.executable, "-m", "celery", "--app", "config.celery", "--quiet"]
        running.append(subprocess.Popen([*command, *how.split()], cwd=ROOT, env=environment))

    yield start
    for process in running:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
