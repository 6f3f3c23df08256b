"""`answers`: the right stored answer, or a person. Asks are independent and teach nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory import services
from memory.types import AnswerFor

from . import form

ENGINE = "offline"
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)  # the file has no clock of its own
Say = Callable[[str], object]
COUNTS = (
    "right",
    "wrong",
    "offered_right",
    "offered_wrong",
    "offered_unknown",
    "escalated_known",
    "escalated_rightly",
)
_WAYS = {"deliver": "deliver", "offer": "offer", "gap": "escalate"}


@dataclass(frozen=True, slots=True)
class Data:
    stored: list[dict[str, Any]]
    asks: list[dict[str, Any]]


def read(path: Path) -> Data:
    text = form.text_of(path)
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as exc:
        raise form.FormError(exc.lineno, f"is no JSON: {exc.msg}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list …
        raise form.FormError(1, "is no JSON that can be read") from None
    for key in ("stored", "asks"):
        form.need(whole, key, list, 1)
    known: set[str] = set()
    for line, row in _rows(text, "stored", whole["stored"]):
        for key in ("id", "question", "answer"):
            form.need(row, key, str, line)
        form.need_strings(row, "more_questions", line, optional=True)
        known.add(row["id"])
    for line, row in _rows(text, "asks", whole["asks"]):
        form.need(row, "id", str, line)
        form.need(row, "text", str, line)
        if form.need(row, "expected", (str, type(None)), line) not in known | {None}:
            raise form.FormError(line, f"expects {row['expected']!r}, which is not stored")
    return Data(whole["stored"], whole["asks"])


def _rows(text: str, key: str, rows: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield each row with the line on which it begins."""
    at = text.index("[", text.index(f'"{key}"')) + 1
    decoder = json.JSONDecoder()
    for row in rows:
        while text[at] in " \t\r\n,":
            at += 1
        yield text.count("\n", 0, at) + 1, row
        at = decoder.raw_decode(text, at)[1]


def run(data: Data, say: Say) -> dict[str, Any]:
    ids: dict[int, str] = {}
    with services.without_bell():
        for row in data.stored:
            answer = services.add_answer(
                title=row["question"],
                parts=[row["answer"]],
                wordings=row.get("more_questions") or (),
                by="import",
                now=NOW,
            )
            ids[answer.pk] = row["id"]
    while services.embed_answers():
        pass
    asker = services.new_customer(kind="identified", external_id="asker", now=NOW)
    outcomes = []
    for number, ask in enumerate(data.asks, 1):
        found = services.answer_for(ask["text"], customer_id=asker.pk, now=NOW)
        outcomes.append(_outcome(ask["id"], found, ids))
        if number % 200 == 0:
            say(f"{number} of {len(data.asks)} asks")
    return {"engine": ENGINE, **figures(data.asks, outcomes), "outcomes": outcomes}


def _outcome(ask_id: str, found: AnswerFor, ids: dict[int, str]) -> dict[str, Any]:
    score = found.candidates[0].score if found.candidates else 0.0
    return {
        "id": ask_id,
        "way": _WAYS[found.way],
        "ids": [ids[c.answer_id] for c in found.candidates],
        "score": score,
    }


def figures(asks: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    counts = dict.fromkeys(COUNTS, 0)
    scored: list[tuple[float, bool]] = []
    for ask, o in zip(asks, outcomes, strict=True):
        gold = ask["expected"]
        counts[_kind(o, gold)] += 1
        if o["ids"]:
            scored.append((o["score"], gold is not None and o["ids"][0] == gold))
    answerable = sum(a["expected"] is not None for a in asks)
    sure = _right_at_1pct_wrong(scored, len(asks))
    return {
        "asks": len(asks),
        "answerable": answerable,
        **counts,
        "right_at_1pct_wrong": sure / answerable if answerable else 1.0,
    }


def _kind(o: dict[str, Any], gold: str | None) -> str:
    if o["way"] == "deliver":
        return "right" if gold is not None and o["ids"][0] == gold else "wrong"
    if o["way"] == "offer":
        if gold is None:
            return "offered_unknown"
        return "offered_right" if gold in o["ids"][:3] else "offered_wrong"
    return "escalated_rightly" if gold is None else "escalated_known"


def _right_at_1pct_wrong(scored: list[tuple[float, bool]], asks: int) -> int:
    allowed, right, wrong, best = int(0.01 * asks), 0, 0, 0
    for _, hit in sorted(scored, key=lambda x: -x[0]):
        right, wrong = right + hit, wrong + (not hit)
        best = max(best, right) if wrong <= allowed else best
    return best
