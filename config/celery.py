"""The worker's app, what it does by the clock, and what it loads before its first task."""

import os
import warnings
from time import monotonic

from celery import Celery
from celery.schedules import crontab
from celery.signals import beat_embedded_init, heartbeat_sent, worker_process_init

from config.child import die_with

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# As root it is root's own machine or a container, where another user would own the same.
warnings.filterwarnings("ignore", message="\\s*You're running the worker with superuser")

MAIN_PROCESS = os.getpid()
said_at = float("-inf")  # the worker's last sign of life

app = Celery("rapport")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["memory"], related_name="reembed")

# Each is a sweep that takes what a bell missed by a conditional UPDATE: running twice is no harm.
app.conf.beat_schedule = {
    "memory-sweep": {"task": "memory.sweep", "schedule": 60.0},
    "memory-nightly": {
        "task": "memory.nightly",
        "schedule": crontab(hour="3", minute="10"),
    },
    # A bounded part each time, while vectors of a former embedding model are left.
    "memory-reembed": {"task": "memory.reembed", "schedule": 120.0, "options": {"expires": 100}},
    "memory-sweep-store": {"task": "memory.sweep_store", "schedule": 3600.0},
    # A turn is due after 18 s: with this a person has it within 30 s of the process's end.
    "chat-overdue": {"task": "chat.overdue", "schedule": 5.0, "options": {"expires": 20}},
    "chat-close-idle": {"task": "chat.close_idle", "schedule": 60.0},
    "chat-drop-tokens": {"task": "chat.drop_tokens", "schedule": crontab(hour="4", minute="20")},
    "desk-watch": {"task": "escalations.tasks.watch", "schedule": 30.0},
    # Each morning; an answer is told of once for each of its review dates.
    "desk-tell-owners": {
        "task": "escalations.tasks.tell_owners",
        "schedule": crontab(hour="6", minute="40"),
    },
    "desk-judge-outcomes": {
        "task": "escalations.tasks.judge_outcomes",
        "schedule": crontab(hour="2", minute="40"),
    },
    "desk-mails": {"task": "escalations.tasks.send_mails", "schedule": 30.0},
}


@beat_embedded_init.connect
@worker_process_init.connect
def die_with_the_worker(**kwargs: object) -> None:
    """A worker that is killed while it starts would leave its clock and its pool to nobody."""
    die_with(MAIN_PROCESS)


@worker_process_init.connect
def warm_up(**kwargs: object) -> None:
    from config.warmup import load_models

    load_models()


@heartbeat_sent.connect
def say_that_we_live(**kwargs: object) -> None:
    """Comes every two seconds while the broker is reached, however long the task in the pool."""
    from config import health

    global said_at  # noqa: PLW0603 - one process, one clock
    if monotonic() - said_at >= health.SIGN_EVERY:
        said_at = monotonic()
        health.alive()
