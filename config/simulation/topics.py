"""The topics of a simulated practice: what its customers' statements are about."""

from __future__ import annotations

from datetime import datetime

from memory import services

from .practice import Practice

EXAMPLES = 3  # of a topic's statements; an admin would write as many
WISHES = ("prefer", "preference", "favourite", "favorite", "usual", "language", "time", "contact")


def lay_down(practice: Practice, *, now: datetime) -> None:
    """The file names topics by key alone; the rest is what an admin would make of the key."""
    for key, texts in practice.statements:
        words = key.replace("-", "_").split("_")
        wish = any(w.startswith(WISHES) for w in words)
        services.save_topic(
            key,
            by="import",
            now=now,
            category="preference" if wish else "confirmed_fact",
            cardinality="many" if words[-1].endswith("s") else "one",
            label=" ".join(words).capitalize(),
            examples=list(texts[:EXAMPLES]),
        )
