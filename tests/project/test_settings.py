import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
# By config.servers.base, by the browser tests, by the image when it starts uvicorn.
READ_ELSEWHERE = {"RAPPORT_VAR", "RAPPORT_CHROMIUM", "RAPPORT_PROXIES"}


def variables_that_settings_read() -> set[str]:
    tree = ast.parse((ROOT / "config/settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    readers = [c for c in calls if re.fullmatch(r"(env_\w+|secret)", ast.unparse(c.func))]
    return {str(ast.literal_eval(call.args[0])) for call in readers}


def test_readme_documents_every_variable_and_no_other() -> None:
    rows = re.findall(r"^\| `([A-Z][A-Z0-9_]+)`", README.read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(variables_that_settings_read() | READ_ELSEWHERE)


def test_every_path_that_readme_names_exists() -> None:
    folders = "config|chat|memory|escalations|templates|tests"
    pattern = rf"[`(]((?:{folders})/[\w./-]+|\w+\.(?:py|toml|yaml)|Makefile|Dockerfile)[`)]"
    named = set(re.findall(pattern, README.read_text()))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: env.env_int("RAPPORT_X", 1), "many"),
        (lambda: env.env_int("RAPPORT_X", 1, at_least=1), "0"),
        (lambda: env.env_float("RAPPORT_X", 0.5), "1.5"),
        (lambda: env.env_bool("RAPPORT_X", default=False), "perhaps"),
        (lambda: env.env_str("RAPPORT_X", "a", choices=("a", "b")), "c"),
    ],
)
def test_a_bad_value_is_refused_by_name(
    read: Callable[[], object], value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAPPORT_X", value)
    with pytest.raises(ImproperlyConfigured, match=f"RAPPORT_X is '{value}', which should be "):
        read()


def test_a_secret_may_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("RAPPORT_X_FILE", str(tmp_path / "key"))
    assert env.secret("RAPPORT_X") == "s3cret"


def test_a_missing_secret_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match="RAPPORT_X is missing: set it, or"):
        env.secret("RAPPORT_X", required=True)


def test_a_database_url_becomes_djangos_description() -> None:
    url = "postgres://ann:p%40ss@db:6432/rapport?sslmode=require"
    assert env.database_from_url("DATABASE_URL", url) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "rapport",
        "USER": "ann",
        "PASSWORD": "p@ss",
        "HOST": "db",
        "PORT": "6432",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_bad_database_url_does_not_show_its_password() -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        env.database_from_url("DATABASE_URL", "mysql://ann:hidden@db/rapport")
    assert "hidden" not in str(caught.value)
