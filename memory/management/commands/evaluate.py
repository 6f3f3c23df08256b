"""Measure the product on one file: `manage.py evaluate SUITE FILE [--json OUT]`."""

from __future__ import annotations

import json
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from memory.management.evaluation import scratch
from memory.management.evaluation.form import FormError

SUITES = ("memory", "gate", "answers", "retrieval", "turns")
APPS = ("memory", "chat")


class Command(BaseCommand):
    help = "Run one evaluation file in a scratch database and print its figures."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("suite", choices=SUITES)
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", type=Path, metavar="OUT", help="write figures and outcomes")

    def handle(self, *args: Any, **options: Any) -> None:
        suite = _suite(options["suite"])
        try:
            data = suite.read(options["file"])
        except FormError as exc:
            raise CommandError(f"{options['file']}: {exc}", returncode=2) from None
        with scratch.database():
            out = suite.run(data, self.stdout.write)
        out = {"suite": options["suite"], **out}
        for line in _lines({k: v for k, v in out.items() if k != "outcomes"}):
            self.stdout.write(line)
        if options["json"]:
            told = json.dumps(out, ensure_ascii=False, indent=1)
            options["json"].write_text(told + "\n", encoding="utf-8")


def _suite(name: str) -> ModuleType:
    for app in APPS:
        folders = (f"{app}.management", f"{app}.management.evaluation")
        module = f"{app}.management.evaluation.{name}"
        if all(util.find_spec(m) for m in folders) and util.find_spec(module):
            return import_module(module)
    raise CommandError(f"there is no suite {name!r}")


def _lines(figures: dict[str, Any], indent: str = "") -> list[str]:
    lines = []
    for key, value in figures.items():
        if isinstance(value, dict):
            lines += [f"{indent}{key}", *_lines(value, indent + "  ")]
        else:
            shown = f"{value:.3f}" if isinstance(value, float) else str(value)
            lines.append(f"{indent}{key:<24} {shown}")
    return lines
