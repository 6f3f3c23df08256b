"""Make all vectors anew with the embedding model in force; break it off and go on at will."""

from typing import Any

from django.core.management import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Re-embed what another model embedded; --status only tells how far it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--status", action="store_true")

    def handle(self, *args: Any, status: bool, **options: Any) -> None:
        from memory import reembed

        if not status:
            for step in reembed.reembed():
                self.stdout.write(f"{step.table}: {step.done} done, {step.left} left")
        for table in reembed.progress():
            self.stdout.write(f"{table.table}: {table.done} of this model, {table.left} of another")
