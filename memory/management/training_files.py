"""Where our own examples lie: messages and topics of many trades, a line each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "training"
# Gates are trained on the first of each pair and judged on the second; likeness is trained on both,
# the encoder is fitted to all.
GATE_MESSAGES, GATE_TOPICS = _FOLDER / "messages.jsonl", _FOLDER / "topics.jsonl"
UNSEEN_MESSAGES, UNSEEN_TOPICS = (
    _FOLDER / "unseen_messages.jsonl",
    _FOLDER / "unseen_topics.jsonl",
)
ANSWERS = _FOLDER / "staff_answers.jsonl"
_MORE = ("more", "talk")  # the second with what was said before, and longer
MESSAGES = (
    GATE_MESSAGES,
    UNSEEN_MESSAGES,
    *(_FOLDER / f"{name}_messages.jsonl" for name in _MORE),
)
TOPICS = (GATE_TOPICS, UNSEEN_TOPICS, *(_FOLDER / f"{name}_topics.jsonl" for name in _MORE))


def lines_of(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()]
