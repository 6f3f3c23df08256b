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
MORE_MESSAGES, MORE_TOPICS = _FOLDER / "more_messages.jsonl", _FOLDER / "more_topics.jsonl"
# With what was said before, and longer.
TALK_MESSAGES, TALK_TOPICS = _FOLDER / "talk_messages.jsonl", _FOLDER / "talk_topics.jsonl"
MESSAGES = (GATE_MESSAGES, UNSEEN_MESSAGES, MORE_MESSAGES, TALK_MESSAGES)
TOPICS = (GATE_TOPICS, UNSEEN_TOPICS, MORE_TOPICS, TALK_TOPICS)


def lines_of(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()]
