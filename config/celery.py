"""The worker's app, what it does by the clock, and what it loads before its first task."""

import os

from celery import Celery
from celery.signals import worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("rapport")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# Every task here is a sweep: it takes what a bell missed by a conditional UPDATE, so running twice does no harm.
app.conf.beat_schedule = {}


@worker_process_init.connect
def load_the_embedder(**kwargs: object) -> None:
    """The first task after a start should not wait two seconds for the model."""
