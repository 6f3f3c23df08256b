"""Expiry and decay by hand; the worker does it every night."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand
from django.utils import timezone

from memory.lifecycle import decay


class Command(BaseCommand):
    help = "Relabel what ended, let go what faded. Safe to run twice."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        expired = decay.expire(now=now)
        faded = decay.fade(now=now, progress=self._progress)
        self.stdout.write(f"{expired} expired, {faded} faded")

    def _progress(self, seen: int, changed: int) -> None:
        self.stdout.write(f"{seen} looked at, {changed} faded")
