"""What columns of several models share."""

from __future__ import annotations

from typing import Any

# One width serves every model: MiniLM's 384 are padded with zeros (cosine unchanged), others are
# asked for 512.
EMBEDDING_WIDTH = 512


def choices(enum: Any) -> list[tuple[str, str]]:
    return [(e.value, e.value.replace("_", " ")) for e in enum]
