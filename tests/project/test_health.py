"""/healthz: what a watcher is told, and that compose.yaml asks for what there is."""

import logging
import re
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery import Celery
from celery.signals import heartbeat_sent
from django.core.cache import cache
from django.utils import timezone

from config import celery, health


@pytest.fixture
def worker(db, monkeypatch):
    """A worker that has just been heard of."""
    monkeypatch.setattr(celery, "said_at", float("-inf"))
    cache.delete(health.SIGN)
    heartbeat_sent.send(sender=None)
    yield
    cache.delete(health.SIGN)


def test_all_is_well(client, worker):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"database": "ok", "broker": "ok", "worker": "ok"}


def test_is_asked_by_any_name_and_without_tls(client, worker, settings):
    settings.ALLOWED_HOSTS = ["support.example"]
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/healthz", headers={"host": "127.0.0.1:8000"}).status_code == 200


def test_says_that_the_worker_is_silent(client, worker, time_machine):
    time_machine.move_to(timezone.now() + timedelta(seconds=health.SILENT_AFTER + 1))
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["worker"] == "silent"
    assert client.get("/healthz?of=database,broker").status_code == 200


def test_says_that_the_database_is_away_and_not_why(client, worker, monkeypatch):
    def gone(*args, **kwargs):
        raise ConnectionError("the password of rapport is wrong")

    monkeypatch.setattr(health, "connection", SimpleNamespace(cursor=gone))
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "away"
    assert "password" not in answer.content.decode()


def test_says_that_the_broker_is_away(client, worker, monkeypatch):
    away = Celery("away", broker="redis://127.0.0.1:1", set_as_current=False)
    monkeypatch.setattr(health, "current_app", away)
    assert client.get("/healthz").json()["broker"] == "away"


def test_not_being_well_is_no_error_in_the_log(client, worker, monkeypatch):
    monkeypatch.setattr(health, "connection", None)
    logged = []
    catch = logging.Handler()
    catch.emit = logged.append
    logger = logging.getLogger("django.request")
    logger.addHandler(catch)
    try:
        assert client.get("/healthz").status_code == 503
        client.get("/no-such-page/")
    finally:
        logger.removeHandler(catch)
    assert [record.status_code for record in logged] == [404]


def test_a_cache_that_is_away_does_not_stop_the_worker(worker, monkeypatch):
    monkeypatch.setattr(cache, "set", lambda *a, **k: 1 / 0)
    health.alive()


def test_compose_asks_for_parts_that_there_are():
    asked = re.findall(r"/healthz\?of=([\w,]+)", Path("compose.yaml").read_text())
    assert len(asked) == 2
    assert {name for one in asked for name in one.split(",")} <= set(health.PARTS)
