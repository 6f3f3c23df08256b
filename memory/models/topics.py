"""What the business cares about, what it tells the machine, what it wrote for a situation."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from memory.types import Category

from .columns import choices


class Topic(models.Model):
    """A key that the business cares about."""

    class Cardinality(models.TextChoices):
        ONE = "one", "one value at a time"
        MANY = "many", "several values side by side"

    key = models.SlugField(max_length=64, unique=True)
    category = models.CharField(max_length=20, choices=choices(Category))
    cardinality = models.CharField(max_length=4, choices=Cardinality, default=Cardinality.ONE)
    label = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    examples = models.JSONField(default=list, blank=True)
    not_examples = models.JSONField(default=list, blank=True)
    permanent = models.BooleanField(default=False)
    sensitive = models.BooleanField(default=False)
    half_life_days = models.PositiveIntegerField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)
    # What was fitted to its examples and counter-examples, and at which version of them.
    fit = models.JSONField(default=dict, blank=True, editable=False)

    def __str__(self) -> str:
        return self.label

    @property
    def lean(self) -> tuple[float, ...]:
        """Offset and steepness of the site's own layer; empty where examples changed since."""
        current = bool(self.fit) and self.fit.get("version") == self.version
        return (self.fit["offset"], self.fit["steep"]) if current else ()


class Instruction(models.Model):
    """What admins tell the knowledge agent (or the bot), one row a version; the newest is in force."""

    class Kind(models.TextChoices):
        KNOWLEDGE = "knowledge", "for the knowledge agent"
        GUIDANCE = "guidance", "for the bot"

    kind = models.CharField(max_length=12, choices=Kind)
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "version"], name="instruction_one_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.kind} v{self.version}"


class Note(models.Model):
    """What the business has written for a situation; {topic_key} slots take the customer's own value."""

    title = models.CharField(max_length=200)
    examples = models.JSONField(default=list)  # messages that mean this situation
    not_examples = models.JSONField(default=list, blank=True)
    topic = models.ForeignKey(
        Topic,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="notes",
        verbose_name="needs to know",
    )
    text = models.TextField()
    hands_over = models.BooleanField(default=True)  # the desk gets the request with what is known
    tool = models.CharField(
        max_length=64, blank=True
    )  # a read-only tool whose result fills {tool.…} slots
    active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.title
