"""What agents learnt, keep and may reach."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from pgvector.django import HalfVectorField, HnswIndex

from memory.types import Status

from .columns import EMBEDDING_WIDTH, choices


class Lesson(models.Model):
    """What an agent learnt from an event, validated against its evidence. Never a customer's data."""

    namespace = ArrayField(models.CharField(max_length=120))  # ("agents", "bot"), ("shared",)
    about = models.CharField(max_length=120)  # "tool:order_status"
    text = models.TextField()
    conditions = models.JSONField(default=dict, blank=True)  # what makes it apply: {"status": 401}
    evidence = models.JSONField(default=dict)
    status = models.CharField(max_length=12, choices=choices(Status), default=Status.ACTIVE)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField()
    times_seen = models.PositiveIntegerField(default=1)

    class Meta:
        indexes = [models.Index(fields=["about", "status"], name="lesson_about")]

    def __str__(self) -> str:
        return f"{self.about}: {self.text[:60]}"


class ApiKey(models.Model):
    """A staff or agent key; only its hash is kept. `namespaces`: what an agent's key may read and write."""

    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the whole key
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys")
    namespaces = models.JSONField(
        default=list, blank=True
    )  # [["agents", "billing"]]; empty: the desk's API only
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class StoreItem(models.Model):
    """An agent's own state (LangGraph store): namespace, key, JSON."""

    # By bytes: all that is within a namespace is then one range of the index.
    namespace = ArrayField(models.CharField(max_length=200, db_collation="C"))
    key = models.CharField(max_length=400)
    value = models.JSONField()
    embedding = HalfVectorField(dimensions=EMBEDDING_WIDTH, null=True, blank=True)
    embedding_model = models.CharField(max_length=64, blank=True)
    # What the vector was made of, so that another model can make it anew.
    embedded_text = models.TextField(blank=True)
    ttl_minutes = models.FloatField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["namespace", "key"], name="storeitem_key_unique")
        ]
        indexes = [
            models.Index(fields=["expires_at"], name="storeitem_expiry"),
            models.Index(fields=["namespace", "id"], name="storeitem_arrival"),
            GinIndex(fields=["value"], opclasses=["jsonb_path_ops"], name="storeitem_value"),
            # Unlike one customer's memories, one namespace may hold 100,000 items.
            HnswIndex(
                fields=["embedding"], opclasses=["halfvec_cosine_ops"], name="storeitem_embedding"
            ),
        ]

    def __str__(self) -> str:
        return f"{'/'.join(self.namespace)}:{self.key}"
