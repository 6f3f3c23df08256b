"""The command that measures: its form, its database, its figures."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.management.evaluation import form, memory_baselines, memory_figures
from memory.management.evaluation import memory as suite

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "eval"
TOPIC = {
    "key": "plan",
    "category": "confirmed_fact",
    "cardinality": "one",
    "label": "Plan",
    "examples": ["I'm on Acorn"],
}
HEADER = {"timezone": "Europe/London", "topics": [TOPIC]}
AT = "2026-03-02T09:00:00+00:00"
CASE = {
    "id": "one",
    "tags": ["supersede"],
    "sessions": [
        {
            "customer": "c1",
            "at": AT,
            "messages": [{"from": "customer", "text": "It's Acorn. Thanks"}],
        }
    ],
    "check_at": AT,
    "expect": {
        "c1": {
            "active": [{"includes": ["acorn"]}],
            "absent": [{"includes": ["birch"]}],
            "max_active": 1,
        }
    },
    "asks": [{"customer": "c1", "at": AT, "text": "which plan?", "recalls": ["acorn"]}],
}


def written(tmp_path, *rows):
    path = tmp_path / "x.memory.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows))
    return path


def outcome(*texts, status="active", context="acorn", rows=()):
    memories = [
        {"customer": "c1", "topic": "plan", "text": t, "value": t, "status": status} for t in texts
    ]
    asks = [{"context": context, "rows": list(rows)}]
    return {"id": "one", "memories": memories, "shared": [], "asks": asks}


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["{"], 1),
        ([HEADER, "[1]"], 2),
        ([HEADER, "[" * 100_000], 2),
        ([HEADER, "9" * 5_000], 2),
        ([HEADER, CASE, {**CASE, "check_at": "tomorrow"}], 3),
        ([HEADER, {**CASE, "check_at": "2026-03-02T09:00:00"}], 2),
        ([HEADER, {k: v for k, v in CASE.items() if k != "sessions"}], 2),
        ([{"timezone": "UTC"}], 1),
        ([], 1),
    ],
)
def test_a_line_that_breaks_the_form_is_named(tmp_path, rows, line):
    path = written(tmp_path, *rows)

    with pytest.raises(form.FormError) as error:
        suite.read(path)
    assert error.value.line == line
    with pytest.raises(CommandError, match=f"line {line}") as refused:
        call_command("evaluate", "memory", str(path))
    assert refused.value.returncode == 2


def test_a_file_that_is_not_there_ends_with_status_two(tmp_path):
    with pytest.raises(CommandError, match="cannot be read") as refused:
        call_command("evaluate", "memory", str(tmp_path / "none.jsonl"))
    assert refused.value.returncode == 2


def test_a_case_passes_when_everything_holds():
    assert memory_figures.failures(CASE, outcome("Acorn")) == []


@pytest.mark.parametrize(
    ("got", "figure"),
    [
        (outcome(), "facts_found"),
        (outcome("Acorn", "Birch"), "stale_active"),
        (outcome("Acorn", rows=[{"customer": "c2"}]), "leaks"),
        (outcome("Acorn", "Cherry"), "unexpected_active"),
    ],
)
def test_what_does_not_hold_is_counted(got, figure):
    counted = memory_figures.figures([CASE], [got])

    assert counted["passed"] == 0
    assert counted[figure] == (0 if figure == "facts_found" else 1)


def test_a_shared_answer_is_compared_word_for_word_and_may_leak():
    case = {
        **CASE,
        "expect": {"everyone": {"verbatim": ["No."], "absent": [{"includes": ["$78"]}]}},
    }
    shared = [{"text": "No.", "status": "active"}, {"text": "It is $78.", "status": "active"}]

    counted = memory_figures.figures([case], [{**outcome("Acorn"), "shared": shared}])

    assert (counted["verbatim_found"], counted["leaks"], counted["passed"]) == (1, 1, 0)


def test_the_baselines_are_printed_beside():
    said = []
    memory_baselines.say_beside([CASE], said.append)

    assert [line.split(":")[0] for line in said] == ["storing every sentence", "storing nothing"]
    assert "1 of 1 facts" in said[0]


def test_evaluate_comes_in_by_the_front_door_alone():
    folder = ROOT / "memory" / "management" / "evaluation"
    for path in [*folder.glob("*.py"), ROOT / "memory/management/commands/evaluate.py"]:
        imported = re.findall(
            r"^\s*(?:from|import) (memory[\w.]*)(?: import (\w+))?", path.read_text(), re.M
        )
        for module, name in imported:
            whole = f"{module}.{name}" if module == "memory" else module
            assert re.match(r"memory\.(services|types|models|management)\b", whole), (path, whole)


@pytest.mark.django_db(transaction=True)
def test_it_runs_in_a_database_of_its_own_and_agrees_with_the_scorer(tmp_path, reads_nothing):
    before = connection.settings_dict["NAME"]
    path, out = written(tmp_path, HEADER, CASE), tmp_path / "out.json"

    call_command("evaluate", "memory", str(path), json=out)

    assert connection.settings_dict["NAME"] == before
    told = json.loads(out.read_text())
    assert (told["suite"], told["cases"], told["facts_found"]) == ("memory", 1, 0)
    scorer = SHARED / "score.py"
    if scorer.exists():
        run = subprocess.run(
            [sys.executable, str(scorer), str(path), str(out), "--check"],
            capture_output=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr


@pytest.fixture
def reads_nothing(monkeypatch):
    from memory import pipeline

    monkeypatch.setattr(pipeline, "consider", lambda said, **how: pipeline.Proposal())


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "trades").iterdir()), ids=lambda p: p.stem
)
def test_our_own_trades_can_be_read_and_name_topics_that_they_have(path):
    data = suite.read(path)
    known = {t["key"] for t in data.topics}
    asked = {
        m.get("topic")
        for case in data.cases
        for who, expected in case["expect"].items()
        if who != "everyone"
        for kind in ("active", "inactive", "absent")
        for m in expected.get(kind, ())
    }
    assert data.cases
    assert asked - {None} <= known
