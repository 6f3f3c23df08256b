"""`gate`: does this message need the past, and is it worth saving? Each message by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory import services

from . import form

ENGINE = "offline"
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)  # the file has no clock of its own
GATES = ("retrieve", "save")
Say = Callable[[str], object]


def read(path: Path) -> list[dict[str, Any]]:
    rows = []
    for line, row in form.json_lines(path):
        form.need(row, "id", str, line)
        form.need(row, "text", str, line)
        form.need_strings(row, "before", line, optional=True)
        for kind in GATES:
            form.need(row, kind, bool, line)
        rows.append(row)
    return rows


def run(rows: list[dict[str, Any]], say: Say) -> dict[str, Any]:
    services.warm_up()  # a process loads its models before the first customer waits for it
    outcomes = []
    for number, row in enumerate(rows, 1):
        outcomes.append(_ask(row))
        if number % 500 == 0:
            say(f"{number} of {len(rows)} messages")
    return {"engine": ENGINE, **figures(rows, outcomes), "outcomes": outcomes}


def _ask(row: dict[str, Any]) -> dict[str, Any]:
    began = time.process_time()
    found = services.gated(row["text"], before=row.get("before") or (), now=NOW)
    spent = (time.process_time() - began) * 1000
    passed = {"retrieve": found.retrieve.passed, "save": found.save.passed}
    return {"id": row["id"], **passed, "cpu_ms": round(spent, 3)}


def figures(rows: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "messages": len(outcomes),
        **{kind: _shares(kind, rows, outcomes) for kind in GATES},
        **form.cpu([o["cpu_ms"] for o in outcomes]),
    }


def _shares(
    kind: str, rows: list[dict[str, Any]], outcomes: list[dict[str, Any]]
) -> dict[str, float]:
    hits = sum(o[kind] and row[kind] for row, o in zip(rows, outcomes, strict=True))
    passed = sum(o[kind] for o in outcomes)
    return {
        "precision": form.share(hits, passed),
        "recall": form.share(hits, sum(row[kind] for row in rows)),
        "skipped": form.share(len(rows) - passed, len(rows)),
    }
