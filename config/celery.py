"""The worker's app, what it does by the clock, and what it loads before its first task."""

import os
import warnings

from celery import Celery
from celery.signals import worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# As root it is root's own machine or a container, where another user would own the same.
warnings.filterwarnings("ignore", message="\\s*You're running the worker with superuser")

app = Celery("rapport")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# Each is a sweep that takes what a bell missed by a conditional UPDATE: running twice is no harm.
app.conf.beat_schedule = {}


@worker_process_init.connect
def load_the_embedder(**kwargs: object) -> None:
    """The first task after a start should not wait two seconds for the model."""
