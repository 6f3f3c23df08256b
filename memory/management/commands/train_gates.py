"""Make the gates' coefficients again from our own labelled messages (memory/training)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand

from memory.lifecycle import gate
from memory.llm.embeddings import embed
from memory.speech.classifier import Array, fit, inputs

MESSAGES = Path(__file__).parents[2] / "training" / "messages.jsonl"
L2 = 0.5
POSITIVE_WEIGHT = 2.0  # a missed message is the costly error
# Where, with each trade left out of its own training, the gates still find about 95 of 100.
THRESHOLDS = {"save": 0.29, "retrieve": 0.28}


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: object, **options: object) -> None:
        messages = [json.loads(line) for line in MESSAGES.read_text("utf-8").splitlines()]
        rows = self._rows(messages)
        held: dict[str, Any] = {}
        for name, threshold in THRESHOLDS.items():
            wanted = np.array([float(m[name]) for m in messages])
            weights, bias = fit(rows, wanted, l2=L2, positive_weight=POSITIVE_WEIGHT)
            held[f"{name}_weights"] = weights.astype(np.float32)
            held[f"{name}_bias_threshold"] = np.array([bias, threshold])
            found, skipped = self._left_out(messages, rows, wanted, threshold)
            self.stdout.write(
                f"{name}: {len(messages)} messages, trades left out in turn, classifier alone: "
                f"recall {found:.3f}, skipped {skipped:.3f}"
            )
        np.savez_compressed(gate.COEFFICIENTS, **held)

    def _rows(self, messages: Sequence[dict[str, Any]]) -> Array:
        vectors = embed([m["text"] for m in messages])
        return np.array(
            [
                inputs(vector, gate.understood(m["text"]), m.get("before", ()))
                for vector, m in zip(vectors, messages, strict=True)
            ]
        )

    def _left_out(
        self, messages: Sequence[dict[str, Any]], rows: Array, wanted: Array, threshold: float
    ) -> tuple[float, float]:
        """Recall and share skipped where each trade is judged by a classifier that never saw it."""
        passed = np.zeros(len(messages), dtype=bool)
        trades = np.array([m["trade"] for m in messages])
        for trade in np.unique(trades):
            mine = trades == trade
            weights, bias = fit(rows[~mine], wanted[~mine], l2=L2, positive_weight=POSITIVE_WEIGHT)
            passed[mine] = 1 / (1 + np.exp(-(rows[mine] @ weights + bias))) >= threshold
        return float(passed[wanted > 0].mean()), float(1 - passed.mean())
