"""The demo practice, as often as you like: what is there already is left alone."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from config.demo.practice import PASSWORDS, STAFF

LOGINS = [(role, name, PASSWORDS[name]) for name, (_, role, _) in STAFF.items()]


class Command(BaseCommand):
    help = "Load a dental practice to try Rapport with; clear_demo takes it out again."

    def handle(self, *args: Any, **options: Any) -> None:
        from config.demo.load import load

        if not settings.RAPPORT_DEMO:
            raise CommandError(
                "The demo has accounts with known passwords: it is loaded with RAPPORT_DEMO=1 "
                "alone."
            )
        load(now=timezone.now())
        if options["verbosity"]:
            for role, name, password in LOGINS:
                self.stdout.write(f"Sign in as {role}: {name} / {password}")
