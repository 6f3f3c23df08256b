"""PostgreSQL and Valkey from wheels, run for whoever needs them, stopped by the last one out."""

import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Iterator

from config.env import secret
from config.servers.base import EmbeddedError, Server, var_dir
from config.servers.postgres import Postgres
from config.servers.valkey import Valkey

__all__ = [
    "EmbeddedError",
    "Server",
    "held_for_a_command",
    "needed",
    "postgres",
    "secret_key",
    "valkey",
    "var_dir",
]


def postgres() -> Postgres:
    return Postgres("pg")


def postgres_for_tests() -> Postgres:
    """A cluster of its own, which forgets everything in a crash and is fast for it."""
    return Postgres("pg-test", durable=False)


def valkey() -> Valkey:
    return Valkey("valkey")


def needed() -> list[Server]:
    """Return the servers that the environment does not name, in the order of their start."""
    servers: list[Server] = []
    if not secret("DATABASE_URL"):
        servers.append(postgres())
    if not secret("REDIS_URL"):
        servers.append(valkey())
    return servers


@contextlib.contextmanager
def held_for_a_command() -> Iterator[None]:
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # so that the servers are let go
    with contextlib.ExitStack() as stack:
        for server in needed():
            stack.enter_context(server)
        stack.callback(close_connections)
        yield


def close_connections() -> None:
    """A pool whose server goes away complains at length."""
    from django.conf import settings
    from django.db import connections

    if not settings.configured:
        return
    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]


def secret_key() -> str:
    """Return this checkout's own key, made at first use and readable by its owner alone."""
    path = var_dir() / "secret_key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)  # fails when another process was first, whose key then counts
        fresh.unlink()
    return path.read_text(encoding="ascii")
