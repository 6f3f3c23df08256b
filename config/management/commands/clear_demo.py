"""The demo practice, out again."""

from typing import Any

from django.core.management import BaseCommand
from django.utils import timezone


class Command(BaseCommand):
    help = "Take out what load_demo put there."

    def handle(self, *args: Any, **options: Any) -> None:
        from config.demo.clear import clear

        for sentence in clear(now=timezone.now()):
            self.stdout.write(sentence)
        self.stdout.write("The demo is out.")
