"""Who is remembered, and the proof that somebody no longer is."""

from __future__ import annotations

from django.db import models


class Customer(models.Model):
    """Being remembered is what makes somebody a customer here."""

    class Kind(models.TextChoices):
        VISITOR = "visitor", "visitor (this browser only)"
        IDENTIFIED = "identified", "identified by the business"

    kind = models.CharField(max_length=12, choices=Kind, default=Kind.VISITOR)
    external_id = models.CharField(max_length=200, null=True, blank=True, unique=True)
    name = models.CharField(max_length=200, blank=True)
    email = models.EmailField(blank=True)  # from a signed identity alone, never typed
    timezone = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(null=True, blank=True)
    erase_requested_at = models.DateTimeField(null=True, blank=True)  # recall stops at once
    erase_due_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name or f"{self.get_kind_display().split(' ')[0]} {self.pk}"


class ErasureReceipt(models.Model):
    """Proof that somebody was erased, which names nobody."""

    customer_pk = models.BigIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=80)
    counts = models.JSONField()  # {"memory.Memory": 12, "chat.Message": 40}

    def __str__(self) -> str:
        return f"receipt {self.pk}"
