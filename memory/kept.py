"""Rows that admins edit and every message needs: read again only after somebody changed them.

A trigger notes every change of such a table in the very transaction that makes it (migration 0007):
whoever changes it, and however, each process reads the table anew from that commit on. A note is a
row with a random number, and a table's stamp is their sum: nobody waits for anybody's lock, what is
rolled back leaves nothing, and old notes can be summed up (`sum_up`) while others are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import local
from typing import Generic, TypeVar

from django.db import connection

T = TypeVar("T")
Stamps = Mapping[str, str]

# A thread's own, and no context variable: asgiref hands those back to whoever waits for the thread,
# and one that no longer waits would go on with what was looked up for it.
_looked = local()


class Kept(Generic[T]):
    """What `read` returns, as long as none of `tables` has changed. Nobody may change the value.

    Every table needs its trigger: `watch_sql`.
    """

    def __init__(self, read: Callable[[], T], *tables: str) -> None:
        self._read, self.tables = read, tables
        self._held: dict[str, tuple[tuple[str, ...], T]] = {}  # by database

    def __call__(self) -> T:
        stamps, name = _known() or _stamps(), str(connection.settings_dict["NAME"])
        # Looked at before the rows are read: what changes in between is read once too often.
        current = tuple(stamps.get(table, "") for table in self.tables)
        held = self._held.get(name)
        if held is None or held[0] != current:
            held = self._held[name] = (current, self._read())
        return held[1]


@contextmanager
def looked_once() -> Iterator[None]:
    """Look for changes once for all that is read inside; for work that changes none of it."""
    before = _known()
    _looked.stamps = before or _stamps()
    try:
        yield
    finally:
        _looked.stamps = before


def _known() -> Stamps | None:
    return getattr(_looked, "stamps", None)


def _stamps() -> Stamps:
    with connection.cursor() as cursor:
        cursor.execute("SELECT of_table, sum(salt)::text FROM memory_change GROUP BY of_table")
        return dict(cursor.fetchall())


def sum_up() -> None:
    """Put one note a table in the place of many: the stamps stay as they are."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH old AS (DELETE FROM memory_change RETURNING of_table, salt)"
            " INSERT INTO memory_change SELECT of_table, sum(salt) FROM old GROUP BY of_table"
        )


def watch_sql(*tables: str) -> str:
    """Return the SQL, for a migration, after which changes of these tables are noticed."""
    return "".join(
        f"CREATE TRIGGER {table}_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION memory_note_change();"
        for table in tables
    )


def unwatch_sql(*tables: str) -> str:
    return "".join(f"DROP TRIGGER {table}_change ON {table};" for table in tables)
