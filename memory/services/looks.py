"""Who looked at what is sensitive: memory says what was shown, an upper app keeps the record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from memory.models import Memory


class Recorder(Protocol):
    def __call__(
        self, customer_id: int, topics: list[str], *, staff_id: int | None, now: datetime
    ) -> None: ...


_recorders: list[Recorder] = []


def record_looks_by(recorder: Recorder) -> None:
    """For `AppConfig.ready`, as `register` is."""
    if recorder not in _recorders:
        _recorders.append(recorder)


def looked_at(memories: Iterable[Memory], *, staff_id: int | None, now: datetime) -> None:
    """These were shown to somebody who works here: write down whose sensitive topics."""
    shown: dict[int, set[str]] = defaultdict(set)
    for m in memories:
        if m.sensitive and (m.text or m.value or m.quote):
            shown[m.customer_id].add(m.topic.key if m.topic else m.category)
    for customer_id, topics in sorted(shown.items()):
        looked(customer_id, topics, staff_id=staff_id, now=now)


def looked(customer_id: int, topics: Iterable[str], *, staff_id: int | None, now: datetime) -> None:
    named = sorted(topics)
    if named:
        for recorder in _recorders:
            recorder(customer_id, named, staff_id=staff_id, now=now)
