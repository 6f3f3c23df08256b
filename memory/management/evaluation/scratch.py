"""A database for one run: made, migrated, dropped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def database() -> Iterator[None]:
    """Point the default connection at a new, empty, migrated database, and drop it at the end."""
    before = connection.settings_dict["NAME"]
    tests = connection.settings_dict.setdefault("TEST", {})
    named, tests["NAME"] = tests.get("NAME"), f"evaluate_{os.getpid()}"
    _let_go()
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            _forgetful()
            yield
        finally:
            _let_go()
            connection.creation.destroy_test_db(before, verbosity=0)
    finally:
        tests["NAME"] = named
        _let_go()


def _forgetful() -> None:
    """What is dropped at the end need not survive a crash: commits do not wait for the disk."""
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    _let_go()


def _let_go() -> None:
    """A pool keeps connections to the database that it was made for."""
    connection.close()
    if hasattr(connection, "close_pool"):
        connection.close_pool()
