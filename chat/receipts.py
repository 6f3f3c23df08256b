"""The receipt of a turn: what staff see as "why this answer"."""

from __future__ import annotations

from typing import Any

from chat.agent import Outcome
from chat.llm import prompt
from chat.llm.configured import cost
from chat.replies import Reply
from chat.situations import Asked
from memory.types import Fact, Recalled

LEFT_OUT = 8  # facts that a receipt names; a customer may have hundreds


def receipt(asked: Asked, reply: Reply, outcome: Outcome) -> dict[str, Any]:
    """What staff see as "why this answer".

    Used and rejected, with scores, gates and milliseconds.
    """
    s = asked.situation
    return {
        "engine": outcome.engine,
        "failures": outcome.failures,
        "reading": {
            "kind": s.reading.kind,
            "why": s.reading.why,
            "scores": {k: round(v, 3) for k, v in s.reading.scores.items() if v > 0.05},
        },
        "moves": [type(m).__name__ for m in outcome.moves],
        "topic": reply.topics[0] if reply.topics else "",
        "topics": reply.topics,
        "named": [[key, round(score, 3)] for key, score in s.named],
        **_facts(s.recalled, reply),
        "withheld": sorted(s.withheld.topics),
        "gate": {
            "passed": s.recalled.gate.passed,
            "reason": s.recalled.gate.reason,
            "by": s.recalled.gate.by,
            "skipped": s.recalled.skipped,
        },
        "answer": {
            "way": s.answer.way,
            "reason": s.answer.reason,
            "margin": round(s.answer.margin, 3),
            "used": reply.answers,
            "match_id": s.answer.match_id,
            "candidates": [[c.number, round(c.score, 3)] for c in s.answer.candidates],
        },
        "note": s.note.note_id if s.note else None,
        "told": [c.get("topic") for c in s.told],
        "tokens": outcome.usage.total,
        "cost": round(cost(outcome.spent), 6),
        "prompt": {"version": prompt.version(), "guidance": asked.guidance_version},
        "tools": asked.tools.log if asked.tools else [],
        "ms": asked.milliseconds,
    }


def _facts(recalled: Recalled, reply: Reply) -> dict[str, Any]:
    """What the reply used, and the best of what it did not: looked at and not needed, or left."""
    scored = {f.id: f for f in (*recalled.facts, *recalled.rejected) if f.id is not None}
    used = {(f.id, f.topic, f.text): scored.get(f.id or 0, f) for f in reply.facts}
    seen = (*recalled.facts, *recalled.rejected)
    left = [f for f in seen if (f.id, f.topic, f.text) not in used]
    return {
        "facts": [_as_json(f) for f in used.values()],
        "facts_rejected": [_as_json(f) for f in left[:LEFT_OUT]],
    }


def _as_json(fact: Fact) -> dict[str, Any]:
    return {"id": fact.id, "topic": fact.topic, "score": round(fact.score, 3), "parts": fact.parts}
