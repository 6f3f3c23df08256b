"""Reading evaluation files: what breaks the form is named with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any


class FormError(Exception):
    """`line` counts from 1; 0 where the file cannot be read at all."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}" if line else why)
        self.line = line


def share(part: int, whole: int) -> float:
    """Of nothing, all: a file without such a case holds no failure of that kind."""
    return part / whole if whole else 1.0


def cpu(milliseconds: list[float]) -> dict[str, float]:
    spent = sorted(milliseconds) or [0.0]
    return {
        "cpu_ms_median": median(spent),
        "cpu_ms_p95": spent[min(len(spent) - 1, int(0.95 * len(spent)))],
    }


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise FormError(0, f"cannot be read: {exc}") from None


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSONL file with their line numbers; empty lines are skipped."""
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as exc:
            raise FormError(number, f"is no JSON: {exc.msg}") from None
        except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list …
            raise FormError(number, "is no JSON that can be read") from None
        if not isinstance(row, dict):
            raise FormError(number, "is no object")
        yield number, row


def need(row: Any, key: str, kind: type | tuple[type, ...], line: int) -> Any:
    """Return row[key], which must be there and of that type."""
    if not isinstance(row, dict) or key not in row:
        raise FormError(line, f"has no {key!r}")
    if not isinstance(row[key], kind):
        raise FormError(line, f"{key!r} is of the wrong type")
    return row[key]


def need_one_of(row: Any, key: str, allowed: tuple[str, ...], line: int) -> str:
    value = need(row, key, str, line)
    if value not in allowed:
        raise FormError(line, f"{key!r} is none of {', '.join(allowed)}")
    return str(value)


def need_strings(row: Any, key: str, line: int, *, optional: bool = False) -> list[str]:
    if optional and isinstance(row, dict) and row.get(key) is None:
        return []
    values = need(row, key, list, line)
    if not all(isinstance(v, str) for v in values):
        raise FormError(line, f"{key!r} holds something that is no text")
    return list(values)


def need_time(row: Any, key: str, line: int) -> datetime:
    value = need(row, key, str, line)
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise FormError(line, f"{key!r} is no time") from None
    if at.tzinfo is None:
        raise FormError(line, f"{key!r} has no offset")
    return at
