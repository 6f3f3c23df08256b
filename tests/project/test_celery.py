import time
from collections.abc import Iterator

import pytest
from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError

from config.celery import app


def test_the_clock_knows_only_tasks_that_exist() -> None:
    app.loader.import_default_modules()
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert named - set(app.tasks) == set()


@pytest.fixture
def broker_is_away() -> Iterator[Celery]:
    from config import settings as product

    away = Celery("away", broker="redis://127.0.0.1:1", set_as_current=False)
    away.conf.broker_transport_options = product.CELERY_BROKER_TRANSPORT_OPTIONS
    away.conf.task_publish_retry = settings.CELERY_TASK_PUBLISH_RETRY
    yield away
    away.close()


def test_a_broker_that_is_away_fails_a_publish_at_once(broker_is_away: Celery) -> None:
    began = time.monotonic()
    with pytest.raises(OperationalError):
        broker_is_away.send_task("memory.tasks.any")
    assert time.monotonic() - began < 2
