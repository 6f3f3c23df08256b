"""Two trivial ways to remember, printed beside: every customer sentence, and nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import memory_figures

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def say_beside(cases: list[dict[str, Any]], say: Callable[[str], object]) -> None:
    for name, outcome in (("every sentence", _everything), ("nothing", _nothing)):
        f = memory_figures.figures(cases, [outcome(c) for c in cases])
        say(
            f"storing {name}: {f['passed']} of {f['cases']} cases, "
            f"{f['facts_found']} of {f['facts_expected']} facts, stale {f['stale_active']}, "
            f"false {f['false_active']}, unexpected {f['unexpected_active']}"
        )


def _everything(case: dict[str, Any]) -> dict[str, Any]:
    """All sentences stay active, under no topic: none is any better placed than another."""
    rows = [
        {"customer": s["customer"], "topic": None, "text": text, "value": "", "status": "active"}
        for s in case["sessions"]
        for m in s["messages"]
        if m["from"] == "customer"
        for text in _SENTENCE.split(m["text"])
        if text.strip()
    ]
    asks = []
    for ask in case.get("asks", ()):
        mine = [r for r in rows if r["customer"] == ask["customer"]]
        context = "\n".join(str(r["text"]) for r in mine)
        asks.append({"context": context, "rows": [{"customer": ask["customer"]} for _ in mine]})
    return {"id": case["id"], "memories": rows, "shared": [], "asks": asks}


def _nothing(case: dict[str, Any]) -> dict[str, Any]:
    asks = [{"context": "", "rows": []} for _ in case.get("asks", ())]
    return {"id": case["id"], "memories": [], "shared": [], "asks": asks}
