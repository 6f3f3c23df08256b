"""Test runs at the same time in one checkout get a database each; one after the other share."""

import fcntl
import os
from itertools import count
from typing import IO

from config.embedded import var_dir

_held: list[IO[str]] = []  # the lock lives as long as the process


def test_database_name() -> str:
    """Return a name that no other test run uses now; pytest-xdist's workers inherit it."""
    if "RAPPORT_TEST_DATABASE" not in os.environ:
        os.environ["RAPPORT_TEST_DATABASE"] = f"test_rapport_{_free_slot()}"
    return os.environ["RAPPORT_TEST_DATABASE"]


def _free_slot() -> int:
    folder = var_dir() / "lock"
    folder.mkdir(parents=True, exist_ok=True)
    for slot in count():
        file = (folder / f"tests.{slot}").open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            _held.append(file)
            return slot
    raise AssertionError("count() never ends")
