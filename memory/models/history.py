"""One line for everything that happened to what is remembered."""

from __future__ import annotations

from django.db import models

from .answers import Answer
from .facts import Episode, Memory
from .people import Customer


class MemoryEvent(models.Model):
    """One line of history. The texts belong to the customer and go with her; id, kind, time and actor stay."""

    kind = models.CharField(
        max_length=40
    )  # memory.created, answer.superseded, gate.save, topic.changed …
    at = models.DateTimeField()
    actor = models.CharField(max_length=80)  # "customer", "knowledge agent", "staff:3"
    customer = models.ForeignKey(
        Customer, models.SET_NULL, null=True, blank=True, related_name="events"
    )
    memory = models.ForeignKey(
        Memory, models.SET_NULL, null=True, blank=True, related_name="events"
    )
    answer = models.ForeignKey(
        Answer, models.SET_NULL, null=True, blank=True, related_name="events"
    )
    episode = models.ForeignKey(
        Episode, models.SET_NULL, null=True, blank=True, related_name="events"
    )
    topic_key = models.CharField(max_length=64, blank=True)
    reason = models.CharField(max_length=400, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    evidence = models.JSONField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["kind", "at"], name="event_kind_at"),
            models.Index(fields=["customer", "at"], name="event_customer_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"
