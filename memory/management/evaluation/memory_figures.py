"""The figures of the `memory` suite, computed from the raw outcome alone."""

from __future__ import annotations

import re
from typing import Any

CHANGES = frozenset(
    [
        "supersede",
        "supersession",
        "supersession-back",
        "a_b_a",
        "correction",
        "forget",
        "retract_value",
        "multi-retract",
        "temporary",
        "expiry",
        "staff_supersede",
        "staff-supersede",
        "consolidation",
        "conflict-in-message",
    ]
)
NAMES = (
    "cases passed facts_expected facts_found unexpected_active stale_active false_active leaks "
    "asks asks_passed verbatim_expected verbatim_found"
)

Row = dict[str, Any]


def figures(cases: list[Row], outcomes: list[Row]) -> dict[str, int]:
    counted = dict.fromkeys(NAMES.split(), 0)
    for case, outcome in zip(cases, outcomes, strict=True):
        counted["cases"] += 1
        counted["passed"] += not _Case(case, outcome, counted).failures()
    return counted


def failures(case: Row, outcome: Row) -> list[str]:
    """Return in words what one case lacks; empty when it passes."""
    return _Case(case, outcome, dict.fromkeys(NAMES.split(), 0)).failures()


class _Case:
    def __init__(self, case: Row, outcome: Row, counted: dict[str, int]) -> None:
        self.case, self.outcome, self.counted = case, outcome, counted
        self.changes = bool(CHANGES & set(case.get("tags", ())))

    def failures(self) -> list[str]:
        found: list[str] = []
        for who, expected in self.case.get("expect", {}).items():
            found += self._everyone(expected) if who == "everyone" else self._one(who, expected)
        for ask, got in zip(self.case.get("asks", ()), self.outcome["asks"], strict=True):
            found += self._ask(ask, got)
        return found

    def _everyone(self, expected: Row) -> list[str]:
        found = []
        active = [r for r in self.outcome["shared"] if r["status"] == "active"]
        for words in expected.get("verbatim", ()):
            hit = any(r["text"] == words for r in active)
            self.counted["verbatim_expected"] += 1
            self.counted["verbatim_found"] += hit
            found += [] if hit else [f"not kept word for word: {words[:60]!r}"]
        for m in expected.get("absent", ()):
            if _any(active, m):
                self.counted["leaks"] += 1
                found.append(f"shared with everyone: {m}")
        return found

    def _one(self, who: str, expected: Row) -> list[str]:
        mine = [r for r in self.outcome["memories"] if r["customer"] == who]
        active = [r for r in mine if r["status"] == "active"]
        over = [r for r in mine if r["status"] != "active"]
        found = self._active(active, expected.get("active", ()))
        for m in expected.get("inactive", ()):
            if not _any(over, m):
                self.counted["stale_active"] += _any(active, m)
                found.append(f"no history: {m}")
        for m in expected.get("absent", ()):
            if _any(active, m):
                self.counted["stale_active" if self.changes else "false_active"] += 1
                found.append(f"active though it must not be: {m}")
        wanted = expected.get("active", ())
        self.counted["unexpected_active"] += sum(
            not any(matches(r, m) for m in wanted) for r in active
        )
        if len(active) > expected.get("max_active", len(active)):
            found.append(f"{len(active)} active, at most {expected['max_active']}")
        return found

    def _active(self, active: list[Row], wanted: Any) -> list[str]:
        found = []
        for m in wanted:
            self.counted["facts_expected"] += 1
            if _any(active, m):
                self.counted["facts_found"] += 1
                continue
            self.counted["stale_active"] += _any(active, {**m, "excludes": []})
            found.append(f"not active: {m}")
        return found

    def _ask(self, ask: Row, got: Row) -> list[str]:
        context = fold(got["context"])
        found = [f"ask lacks {s!r}" for s in ask.get("recalls", ()) if fold(s) not in context]
        found += [f"ask shows {s!r}" for s in ask.get("never", ()) if fold(s) in context]
        others = [r for r in got["rows"] if r["customer"] not in (None, ask["customer"])]
        if others:
            self.counted["leaks"] += 1
            found.append(f"ask shows {len(others)} rows of another customer")
        self.counted["asks"] += 1
        self.counted["asks_passed"] += not found
        return [f"{line} ({ask['text'][:40]!r})" for line in found]


def fold(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()


def matches(row: Row, matcher: Row) -> bool:
    if matcher.get("topic") and row.get("topic") != matcher["topic"]:
        return False
    text = fold(f"{row['text']} {row.get('value') or ''}")
    held = all(fold(s) in text for s in matcher.get("includes", ()))
    return held and not any(fold(s) in text for s in matcher.get("excludes", ()))


def _any(rows: list[Row], matcher: Row) -> bool:
    return any(matches(r, matcher) for r in rows)
