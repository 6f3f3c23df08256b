"""What the knowledge agent would make of one conversation, and why."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from memory import pipeline
from memory.lifecycle import episode as stored
from memory.lifecycle import locks, write
from memory.models import Episode


class Command(BaseCommand):
    help = "Read the episodes of a conversation (its number), or one episode (e12)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", metavar="CONVERSATION_OR_EPISODE", help="12, or e12")
        parser.add_argument("--dry-run", action="store_true", help="say it and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        for episode in _episodes(options["what"]):
            self.stdout.write(f"episode {episode.pk} ({episode.ref})")
            if options["dry_run"]:
                self._tell(episode)
            else:
                done = pipeline.run(episode.pk, now=timezone.now())
                self.stdout.write(f"  {len(done)} decisions" if done else "  read already")

    def _tell(self, episode: Episode) -> None:
        proposal = pipeline.consider(stored.load(episode.transcript), by_model=True)
        source = write.Source(pipeline.AGENT, timezone.now(), pipeline.made_by(proposal.engine))
        with locks.customer_locked(episode.customer_id) as customer:
            decisions = pipeline.settle(customer, proposal.candidates, source=source)
            transaction.set_rollback(True)
        for seq, gate in proposal.gate.items():
            verdict = "passed" if gate.passed else "skipped"
            self.stdout.write(f"  message {seq}: {verdict} by {gate.by}: {gate.reason}")
        for candidate, reason in proposal.refused:
            self.stdout.write(f"  refused: {candidate.topic or 'no topic'}: {reason}")
        for d in decisions:
            what = d.candidate.topic or "no topic"
            told = d.text or d.candidate.text
            self.stdout.write(f"  {d.action} {what}: {told!r} ({d.reason})")


def _episodes(what: str) -> list[Episode]:
    if what.startswith("e") and what[1:].isdigit():
        rows = Episode.objects.filter(pk=int(what[1:]))
    else:
        rows = Episode.objects.filter(ref__startswith=f"conversation:{what}:")
    found = list(rows.order_by("pk"))
    if not found:
        raise CommandError(f"no episode for {what}")
    return found
