"""Keep a dead endpoint from slowing every turn: after failures in a row it rests."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass
class Breaker:
    """Open after `failures` in a row; after `rest` seconds one caller may try again.

    One per process and endpoint: each process finds out for itself, and shares nothing.
    """

    failures: int = 3
    rest: float = 30.0  # seconds
    _failed: int = 0
    _opened_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def allows(self) -> bool:
        with self._lock:
            if self._failed < self.failures:
                return True
            if time.monotonic() - self._opened_at < self.rest:
                return False
            self._opened_at = time.monotonic()  # this caller tries; the others go on waiting
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._failed = 0

    def failed(self) -> None:
        with self._lock:
            self._failed += 1
            self._opened_at = time.monotonic()
