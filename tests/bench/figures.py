"""What a measurement prints: how long, how many, and whether it is within its bar."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.db import connection


def line(name: str, ms: Sequence[float], *, bar: float | None = None) -> bool:
    """Print one line of milliseconds; return whether p95 is within `bar`."""
    if not ms:
        print(f"{name:44} nothing was measured")
        return False
    p95 = percentile(ms, 95)
    ok = bar is None or p95 <= bar
    against = "" if bar is None else f"   bar {bar:g} ms: {'kept' if ok else 'BROKEN'}"
    print(
        f"{name:44} n {len(ms):5}   p50 {statistics.median(ms):7.2f}   p95 {p95:7.2f} ms{against}"
    )
    return ok


def percentile(values: Sequence[float], share: int) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, round(share / 100 * len(ranked)))]


class Timed:
    """Runs calls one by one; keeps the time of each and the CPU of this thread and of
    PostgreSQL."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._backend = _backend_seconds()

    def __call__(self, call: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        call()
        self.cpu.append((time.thread_time() - cpu) * 1000)
        self.wall.append((time.perf_counter() - wall) * 1000)

    def backend_ms(self) -> float:
        """Mean CPU of the database process, a call: the kernel counts in steps of 10 ms."""
        return (_backend_seconds() - self._backend) * 1000 / max(1, len(self.wall))


def _backend_seconds() -> float:
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        row = cursor.fetchone()
    with open(f"/proc/{row[0]}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def seconds(name: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"{name:44} {time.monotonic() - began:7.1f} s")
