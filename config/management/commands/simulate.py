"""A practice over half a year, in minutes: `manage.py simulate --questions FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from config import warmup
from config.simulation import form, report
from config.simulation.apart import apart
from config.simulation.bar import Bar
from config.simulation.run import Settings, simulate
from escalations import reports


class Command(BaseCommand):
    help = "Simulate a practice in a database of its own, and say how often a person was needed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--questions", type=Path, required=True, metavar="FILE")
        parser.add_argument("--weeks", type=int, default=Settings.weeks)
        parser.add_argument("--customers", type=int, default=Settings.customers)
        parser.add_argument("--seed", type=int, default=Settings.seed)
        parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures")
        parser.add_argument("--html", type=Path, metavar="OUT", help="write a page with plots")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["weeks"] < 1 or options["customers"] < 1:
            raise CommandError("It takes one week and one customer at least.", returncode=2)
        try:
            practice = form.read(options["questions"])
        except form.BadPractice as exc:
            raise CommandError(f"{options['questions']}: {exc}", returncode=2) from None
        chosen = Settings(options["weeks"], options["customers"], options["seed"])
        with apart(), Bar(sys.stderr, "messages") as bar:
            warmup.spare_the_collector()
            told = simulate(practice, chosen, progress=bar.at)
            desk = reports.report(report.period(told)) if options["html"] else []
        for line in report.lines(told):
            self.stdout.write(line)
        if options["json"]:
            text = json.dumps(told, ensure_ascii=False, indent=1)
            options["json"].write_text(text + "\n", encoding="utf-8")
        if options["html"]:
            options["html"].write_text(report.page(told, desk), encoding="utf-8")
