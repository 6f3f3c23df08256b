"""/healthz: does the database answer, does the broker, is the worker alive? For watchers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from celery import current_app
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.deprecation import MiddlewareMixin

from config.logs import HEALTH as PATH

logger = logging.getLogger(__name__)

SIGN = "worker.alive"  # in the cache, which the worker and the web processes share
SIGN_EVERY = 10  # seconds
SILENT_AFTER = 60  # seconds


class Health(MiddlewareMixin):
    """Answers before the host and the scheme are looked at: a watcher beside us knows neither."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """All parts, or those that `of` names: 200 if each is well, else 503; no detail."""
        if request.path != PATH:
            return None
        named = [name for name in request.GET.get("of", "").split(",") if name in PARTS]
        found = {name: _state(name) for name in named or PARTS}
        well = all(state == "ok" for state in found.values())
        answer = JsonResponse(found, status=200 if well else 503)
        answer["Cache-Control"] = "no-store"
        return answer


def alive() -> None:
    """The worker's sign of life. A cache that is away costs the sign, and nothing else."""
    try:
        cache.set(SIGN, time.time(), timeout=SILENT_AFTER * 10)
    except Exception:  # whatever the cache's driver raises
        logger.warning("The worker's sign of life was not stored", exc_info=True)


def _state(name: str) -> str:
    try:
        return PARTS[name]()
    except Exception as exc:  # whatever the drivers raise: the page's very purpose
        logger.warning("%s is not well: %s", name, exc)
        return "away"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return "ok"


def _broker() -> str:
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=2)
    return "ok"


def _worker() -> str:
    at = cache.get(SIGN)
    return "ok" if at is not None and time.time() - at < SILENT_AFTER else "silent"


PARTS: Mapping[str, Callable[[], str]] = {
    "database": _database,
    "broker": _broker,
    "worker": _worker,
}
