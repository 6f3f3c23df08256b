"""What is measured is what runs: `evaluate` goes through the front doors, and counts as agreed."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.evaluation_samples import SAMPLES

ROOT = Path(__file__).parents[2]
EVALUATION = [
    ROOT / "memory/management/commands/evaluate.py",
    *sorted(ROOT.glob("*/management/evaluation/*.py")),
]
SCORE = ROOT.parent / "shared/eval/score.py"
# memory's front door and the values it speaks in; for `turns` the chat's.
DOORS = (
    "memory.services",
    "memory.models",
    "memory.types",
    "chat.turns",
    "chat.conversations",
    "chat.frames",
    "chat.models",
)
OWN = ("memory.management", "chat.management")


def imported(path: Path) -> set[str]:
    """Every name of ours that is imported, with the module it is in."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] in ("memory", "chat", "escalations")}


@pytest.mark.parametrize("path", EVALUATION, ids=lambda p: p.name)
def test_evaluate_imports_the_front_doors_alone(path):
    doors = (*DOORS, *OWN)
    past = {n for n in imported(path) if not any(f"{n}.".startswith(f"{d}.") for d in doors)}

    assert not past


@pytest.mark.parametrize("path", EVALUATION, ids=lambda p: p.name)
def test_evaluate_sets_no_setting(path):
    for node in ast.walk(ast.parse(path.read_text())):
        targets = node.targets if isinstance(node, ast.Assign) else []
        assert not any(ast.unparse(t).startswith("settings.") for t in targets)
        assert "override_settings" not in (ast.unparse(node) if isinstance(node, ast.Name) else "")


@pytest.mark.slow
@pytest.mark.parametrize("suite", SAMPLES)
def test_its_figures_are_those_that_the_agreed_form_computes(suite, tmp_path):
    file, out = tmp_path / f"sample.{suite}", tmp_path / "out.json"
    file.write_text(SAMPLES[suite])
    evaluate = [sys.executable, "manage.py", "evaluate", suite, str(file), "--json", str(out)]
    # Settings of its own: the product's, as somebody measures it, not the tests'.
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    ran = subprocess.run(evaluate, cwd=ROOT, env=env, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    told = json.loads(out.read_text())
    assert told["suite"] == suite
    assert told["engine"]
    assert told["outcomes"]
    if SCORE.exists():  # it lies beside a checkout where the product is measured
        score = [sys.executable, str(SCORE), str(file), str(out), "--check"]
        checked = subprocess.run(score, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


def test_a_line_that_breaks_the_form_is_named(tmp_path):
    file = tmp_path / "broken.jsonl"
    file.write_text(SAMPLES["memory"] + "{not json\n")
    ran = subprocess.run(
        [sys.executable, "manage.py", "evaluate", "memory", str(file)],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 2
    assert "3" in ran.stderr
