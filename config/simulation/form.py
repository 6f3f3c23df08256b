"""Reading a practice file: what breaks its form is said with the place where it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from .practice import Personal, Practice, Question


class BadPractice(Exception):
    """The file does not have the form of a practice; the text says where."""


def read(path: Path) -> Practice:
    """Raises BadPractice, naming what is missing."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as exc:
        raise BadPractice(f"cannot be read: {exc}") from None
    except json.JSONDecodeError as exc:
        raise BadPractice(f"line {exc.lineno}: is no JSON: {exc.msg}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in …
        raise BadPractice("the file: is no JSON that can be read") from None
    return _practice(data)


def _practice(data: Any) -> Practice:
    practice = Practice(
        name=_need(data, "practice", str, "the file"),
        timezone=_zone(_need(data, "timezone", str, "the file")),
        questions=tuple(_question(q, where) for q, where in _each(data, "questions")),
        personal=tuple(
            Personal(*(_need(p, key, str, where) for key in ("id", "text", "answer")))
            for p, where in _each(data, "personal")
        ),
        statements=tuple(
            (_need(s, "topic", str, where), _texts(s, "texts", where))
            for s, where in _each(data, "statements")
        ),
    )
    if not practice.questions:
        raise BadPractice("questions: there are none")
    ids = [q.id for q in practice.questions]
    if twice := sorted({i for i in ids if ids.count(i) > 1}):
        raise BadPractice(f"questions: the id {twice[0]!r} is there twice")
    return practice


def _question(row: Any, where: str) -> Question:
    weight = _need(row, "weight", (int, float), where)
    if not weight > 0:
        raise BadPractice(f"{where}: 'weight' is not above 0")
    wordings = _texts(row, "wordings", where)
    if not wordings:
        raise BadPractice(f"{where}: 'wordings' is empty")
    answer = _need(row, "answer", str, where)
    if not answer.strip():
        raise BadPractice(f"{where}: 'answer' is empty")
    role = row.get("role", "")
    return Question(_need(row, "id", str, where), weight, str(role), answer, wordings)


def _each(data: Any, key: str) -> Iterator[tuple[Any, str]]:
    for number, row in enumerate(_need(data, key, list, "the file"), 1):
        yield row, f"{key}, no. {number}"


def _texts(row: Any, key: str, where: str) -> tuple[str, ...]:
    texts = _need(row, key, list, where)
    if not all(isinstance(t, str) and t.strip() for t in texts):
        raise BadPractice(f"{where}: {key!r} holds something that is no text")
    return tuple(texts)


def _need(row: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    if not isinstance(row, dict):
        raise BadPractice(f"{where}: is no object")
    if key not in row:
        raise BadPractice(f"{where}: has no {key!r}")
    if not isinstance(row[key], kind) or isinstance(row[key], bool):
        raise BadPractice(f"{where}: {key!r} is of the wrong type")
    return row[key]


def _zone(name: str) -> str:
    try:
        return str(ZoneInfo(name))
    except (KeyError, ValueError, OSError):
        raise BadPractice(f"the file: {name!r} is no time zone") from None
