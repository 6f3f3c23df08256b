"""Wait till nothing that a test began still works in the database.

A turn goes on when its socket closed, and its thread when its task was cancelled. What empties the
tables after a test that commits would meet the locks of such a thread, and a row that it writes
later would be the next test's.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import SyncToAsync
from django.db import connections


def wait_for_threads(*more: ThreadPoolExecutor) -> None:
    """Return when no thread of a turn is at work. The loop's own threads end with the loop."""
    from chat import turns

    shared = (turns._computing, turns._settling, turns.looking)
    for executor in (*shared, SyncToAsync.single_thread_executor, *more):
        # All its threads can meet only when each of them is done with what it had to do.
        together = threading.Barrier(executor._max_workers)
        meeting = [executor.submit(_meet, together) for _ in range(executor._max_workers)]
        for arrived in meeting:
            arrived.result()


def _meet(together: threading.Barrier) -> None:
    together.wait()
    connections.close_all()  # this thread's own: one that is left open keeps the test database
