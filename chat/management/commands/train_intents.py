"""Make the classifier of intents again from our own labelled messages (chat/training)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from django.core.management.base import BaseCommand

from chat.llm import patterns as p
from chat.llm.embedding import embed_one
from chat.llm.intents import COEFFICIENTS, features

MESSAGES = Path(__file__).parents[2] / "training" / "intents.tsv"
TOLD = Path(__file__).parents[3] / "memory" / "training" / "messages.jsonl"
INVERSE_L2 = 4.0
FOLDS = 10


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: object, **options: object) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_val_predict

        lines = MESSAGES.read_text(encoding="utf-8").splitlines()
        pairs = [line.split("\t") for line in lines if line] + _statements()
        rows = np.stack([features(text, embed=embed_one) for _, text in pairs])
        wanted = np.array([label for label, _ in pairs])
        model = LogisticRegression(C=INVERSE_L2, max_iter=3000, class_weight="balanced")
        guessed = cross_val_predict(model, rows, wanted, cv=FOLDS)
        for label in sorted(set(wanted)):
            share = (guessed[wanted == label] == label).mean()
            self.stdout.write(f"{label:12} {share:.2f} of {(wanted == label).sum()}")
        self.stdout.write(f"all          {(guessed == wanted).mean():.3f} of {len(wanted)}")
        model.fit(rows, wanted)
        np.savez_compressed(
            COEFFICIENTS,
            weights=model.coef_.T.astype(np.float32),
            bias=model.intercept_.astype(np.float32),
            classes=model.classes_.astype("U16"),
        )


def _statements() -> list[list[str]]:
    """What memory's gate was taught to save, and neither asks nor wishes: ordinary statements."""
    lines = TOLD.read_text(encoding="utf-8").splitlines()
    told = [m for m in map(json.loads, lines) if m["save"] and not m.get("before")]
    unlike = (p.ASKS, p.WISHES, p.FORGET, p.PERSON)
    return [["statement", m["text"]] for m in told if not any(p.hits(m["text"], unlike))]
