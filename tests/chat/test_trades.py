"""Whole sets of turns of two trades in customers' words; `manage.py evaluate turns` runs them."""

import json
from pathlib import Path

import pytest

from chat.llm import emergencies, language
from chat.management.evaluation import turns as suite
from memory.llm.embeddings import embed_one

TRADES = sorted(Path(__file__).with_name("trades").glob("*.turns.jsonl"))


@pytest.mark.parametrize("file", TRADES, ids=lambda file: file.name.partition(".")[0])
def test_no_emergency_of_a_trade_is_missed_and_no_small_talk_alarms(file):
    listed = json.loads(file.read_text(encoding="utf-8").splitlines()[0])["emergency"]

    def alarms(text):
        said = {text, language.english(text)}
        return any(emergencies.find(t, listed=listed, embed=embed_one) for t in said)

    cases = suite.read(file).cases
    wrong = [
        case["text"]
        for case in cases
        if case["expected"][0] in ("emergency", "small_talk")
        and alarms(case["text"]) != (case["expected"] == ["emergency"])
    ]
    assert wrong == []
