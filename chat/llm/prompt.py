"""The prompt: the fixed part first (so that it is cached), guidance, then everything else as data.

The data is one JSON object: no text in it can end its own quotation. Customer text is nowhere else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from memory.types import Category, Fact

from .base import Situation

RECENT_CHARS = 1_000  # of one earlier row
MESSAGE_CHARS = 4_000
MAX_CANDIDATES = 5


@cache
def fixed_part(name: str = "answer") -> str:
    """ "form" says how a decision is written, for an endpoint that calls no tools."""
    return (Path(__file__).parent.parent / "prompts" / f"{name}.md").read_text(encoding="utf-8")


@cache
def version() -> str:
    """What a receipt says of the prompt that was used."""
    return hashlib.sha256((fixed_part() + fixed_part("form")).encode()).hexdigest()[:12]


def own_words(s: Situation) -> list[str]:
    """What no reply may repeat."""
    return [fixed_part(), fixed_part("form"), s.guidance]


def prompt_for(
    s: Situation,
    results: Sequence[dict[str, Any]] = (),
    *,
    tools: Sequence[dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """`tools`: for an endpoint that does not take them beside the prompt, and decides in a form."""
    form = "" if tools is None else "\n" + fixed_part("form")
    guidance = f"\n\nGuidance of the business:\n{s.guidance}" if s.guidance else ""
    return [
        {"role": "system", "content": fixed_part() + form + guidance},
        {"role": "user", "content": json.dumps(_data(s, results, tools or ()), ensure_ascii=False)},
    ]


def told(s: Situation) -> list[Fact]:
    """What she told. What staff told her is a card or nothing: no model words it anew."""
    return [f for f in s.recalled.facts if f.category != Category.ESCALATION_ANSWER]


def _data(
    s: Situation, results: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Current facts only: an old value beside a new one would be repeated."""
    described = [t["function"] for t in tools]
    return ({"tools": described} if described else {}) | {
        "business": s.business,
        "facts": [{"about": f.label, "fact": f.text} for f in told(s)],
        "candidates": [
            {"id": c.number, "question": c.title, "by": c.role, "answer": "\n\n".join(c.parts)}
            for c in s.offerable[:MAX_CANDIDATES]
        ],
        "topics": [{"key": t.key, "about": t.label} for t in s.topics if t.may_ask],
        "before": [{"from": line.sender, "text": line.text[:RECENT_CHARS]} for line in s.before],
        "message": s.text[:MESSAGE_CHARS],
        "tool_results": list(results),
    }
