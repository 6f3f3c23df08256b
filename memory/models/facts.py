"""What a customer told: transcripts that wait to be read, facts, and where two contradict."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from memory.querysets import MemoryQuerySet
from memory.types import Category, MemoryType, Status

from .columns import EMBEDDING_WIDTH, choices
from .people import Customer
from .topics import Topic


class Episode(models.Model):
    """A transcript waiting for the knowledge agent, or done. The row is the queue."""

    customer = models.ForeignKey(Customer, models.CASCADE, related_name="episodes")
    ref = models.CharField(max_length=80)  # "conversation:12:1-18": the same part is stored once
    transcript = models.JSONField()
    ended_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    processed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    dismissed = models.BooleanField(
        default=False
    )  # forgotten before it was read: nothing is made of it

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["customer", "ref"], name="episode_ref_unique")
        ]
        indexes = [
            models.Index(
                fields=["recorded_at"], condition=Q(processed_at=None), name="episode_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"{self.ref} of customer {self.customer_id}"


class Memory(models.Model):
    """One fact about one customer, with where it came from and how long it holds."""

    customer = models.ForeignKey(Customer, models.CASCADE, related_name="memories")
    topic = models.ForeignKey(Topic, models.PROTECT, null=True, blank=True, related_name="memories")
    category = models.CharField(max_length=20, choices=choices(Category))
    memory_type = models.CharField(
        max_length=12, choices=choices(MemoryType), default=MemoryType.SEMANTIC
    )
    kind = models.CharField(
        max_length=20, default="fact"
    )  # fact, summary, experience, staff_answer
    status = models.CharField(max_length=12, choices=choices(Status), default=Status.ACTIVE)
    single_valued = models.BooleanField(default=False)  # copied from the topic, for the constraint
    permanent = models.BooleanField(default=False)
    sensitive = models.BooleanField(default=False)

    text = models.TextField(blank=True)
    value = models.TextField(blank=True)
    quote = models.TextField(blank=True)
    quotes = models.JSONField(
        default=list, blank=True
    )  # every quote it rests on, with seq and episode
    negated = models.BooleanField(default=False)
    corrected_by_staff = models.BooleanField(default=False)
    corrected_away = models.JSONField(default=list, blank=True)
    corrected_away_why = models.TextField(blank=True)

    stated_at = models.DateTimeField()
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    recorded_at = models.DateTimeField()
    confirmed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)  # when it stopped being active

    confidence = models.FloatField(default=0.5)
    importance = models.FloatField(default=0.5)
    usefulness = models.FloatField(default=0.0)  # outcomes of replies that used it, in [0, 1]
    times_stated = models.PositiveIntegerField(default=1)
    needs_review = models.BooleanField(default=False)
    review_reason = models.CharField(max_length=200, blank=True)

    episode = models.ForeignKey(
        Episode, models.SET_NULL, null=True, blank=True, related_name="memories"
    )
    source_seq = models.PositiveIntegerField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="replaces"
    )
    made_by = models.CharField(
        max_length=80, blank=True
    )  # engine and versions: "offline, topics v3, instructions v1"
    embedding = HalfVectorField(dimensions=EMBEDDING_WIDTH, null=True, blank=True)
    embedding_model = models.CharField(max_length=64, blank=True)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        constraints = [
            models.UniqueConstraint(
                fields=["customer", "topic"],
                condition=Q(status="active", valid_until=None, single_valued=True),
                name="memory_one_active_per_topic",
            ),
            *[
                models.CheckConstraint(
                    condition=Q(**{f"{f}__gte": 0, f"{f}__lte": 1}),
                    name=f"memory_{f}_between_0_and_1",
                )
                for f in ("confidence", "importance", "usefulness")
            ],
        ]
        # No HNSW here: with a customer filter it silently returns too few rows. Exact distance per customer.
        indexes = [
            models.Index(fields=["customer", "status", "topic"], name="memory_of_customer"),
            models.Index(
                fields=["needs_review"], condition=Q(needs_review=True), name="memory_to_review"
            ),
            models.Index(  # few wait, of all there are: every list of the desk counts them
                fields=["recorded_at"], condition=Q(status="pending"), name="memory_pending"
            ),
            GinIndex(fields=["text"], opclasses=["gin_trgm_ops"], name="memory_text_trgm"),
        ]

    def __str__(self) -> str:
        # What is sensitive is in no list and no log, where no look at it would be recorded.
        words = "sensitive" if self.sensitive else self.text[:60]
        return f"{(self.topic_id and self.topic) or self.category}: {words} (#{self.pk})"


class Conflict(models.Model):
    """The customer says otherwise than staff corrected: a person decides; till then the topic is withheld."""

    customer = models.ForeignKey(Customer, models.CASCADE, related_name="conflicts")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    old = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    new = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    decision = models.CharField(max_length=12, blank=True)  # keep, replace, both
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["customer", "topic"],
                condition=Q(decided_at=None),
                name="conflict_one_open_per_topic",
            )
        ]

    def __str__(self) -> str:
        return f"conflict {self.pk} on {self.topic_id}"
