import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
BEHIND_THE_DOOR = [
    f"memory.{name}" for name in ["pipeline", "lifecycle", "scoring", "tasks", "querysets"]
]
PURE = [
    *("memory.types", "memory.scoring", "chat.events", "chat.frames", "chat.agent"),
    *(f"memory.lifecycle.{stage}" for stage in ("gate", "validate", "resolve", "share")),
    "escalations.hours",
]


def test_imports_keep_to_the_contracts() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml")) == 0


@pytest.mark.parametrize(
    ("number", "key", "meant"),
    [("2a", "protected_modules", BEHIND_THE_DOOR), ("7", "source_modules", PURE)],
)
def test_a_contract_names_every_module_it_is_meant_for(
    number: str, key: str, meant: list[str]
) -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    contracts = tool["importlinter"]["contracts"]
    named = next(c[key] for c in contracts if c["name"].startswith(f"{number} "))
    there = [module for module in meant if find_spec(module)]
    assert [module for module in there if module not in named] == []
