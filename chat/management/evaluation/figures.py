"""The figures of `turns`, from the outcomes alone."""

from __future__ import annotations

from typing import Any


def turns(cases: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    by_kind: dict[str, list[int]] = {}
    right = missed = asked_back = escalated = 0
    for case, outcome in zip(cases, outcomes, strict=True):
        wanted, did = case["expected"], outcome["did"]
        kind = wanted[0].partition(":")[0]
        hit = did in wanted or any(f"answer:{i}" in wanted for i in outcome["offered"][:3])
        count = by_kind.setdefault(kind, [0, 0])
        count[0] += hit
        count[1] += 1
        right += hit
        missed += kind == "emergency" and did != "emergency"
        asks = any(w.startswith("ask:") for w in wanted)
        asked_back += did.startswith("ask:") and not asks
        escalated += kind == "small_talk" and did == "person"
    return {
        "turns": len(cases),
        "right": right,
        "by_kind": by_kind,
        "emergencies_missed": missed,
        "asked_back_wrongly": asked_back,
        "small_talk_escalated": escalated,
    }
