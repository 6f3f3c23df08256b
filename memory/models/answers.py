"""People's very words for everyone, and every question that was put to them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5
from pgvector.django import HalfVectorField

from memory.querysets import AnswerQuerySet
from memory.types import Category, Status

from .columns import EMBEDDING_WIDTH, choices
from .people import Customer


class Answer(models.Model):
    """A person's very words to one question, for everyone. Customers can never write one."""

    title = models.TextField()
    parts = models.JSONField(default=list)  # the words, one string per message, byte for byte
    category = models.CharField(
        max_length=20, choices=choices(Category), default=Category.ESCALATION_ANSWER
    )
    status = models.CharField(max_length=12, choices=choices(Status), default=Status.ACTIVE)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="answers"
    )
    author_name = models.CharField(max_length=120, blank=True)
    role = models.CharField(max_length=120, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="owned_answers",
    )
    said_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    review_on = models.DateField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    needs_review = models.BooleanField(default=False)
    review_reason = models.CharField(max_length=200, blank=True)
    share_reason = models.CharField(max_length=300, blank=True)
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="replaces"
    )
    source_ref = models.CharField(
        max_length=120, blank=True
    )  # "conversation:12:7,9", "import:faq.csv:3"
    title_embedding = HalfVectorField(dimensions=EMBEDDING_WIDTH, null=True, blank=True)
    text_embedding = HalfVectorField(dimensions=EMBEDDING_WIDTH, null=True, blank=True)
    embedding_model = models.CharField(max_length=64, blank=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "title", condition=Q(status="active"), name="answer_one_active_per_title"
            )
        ]

    def __str__(self) -> str:
        return f"{self.title[:80]} (#{self.pk})"

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts)


class AnswerMatch(models.Model):
    """One question that was put to the stored answers, and how it went: a vote, and a wording if confirmed."""

    class Outcome(models.TextChoices):
        OPEN = "open", "waiting for a choice"
        DELIVERED = "delivered", "delivered"
        CHOSEN = "chosen", "chosen from the offer"
        REFUSED = "refused", "said to be wrong"
        SOMETHING_ELSE = "something_else", "something else was meant"
        CONFIRMED = "confirmed", "confirmed by staff"

    answer = models.ForeignKey(
        Answer, models.CASCADE, null=True, blank=True, related_name="matches"
    )
    customer = models.ForeignKey(
        Customer, models.CASCADE, null=True, blank=True, related_name="answer_matches"
    )
    staff = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked = models.TextField()  # never displayed to another customer
    asked_normalised = models.TextField()
    offered = ArrayField(models.BigIntegerField(), default=list, blank=True)
    embedding = HalfVectorField(dimensions=EMBEDDING_WIDTH, null=True, blank=True)
    embedding_model = models.CharField(max_length=64, blank=True)
    score = models.FloatField(default=0.0)
    margin = models.FloatField(default=0.0)
    outcome = models.CharField(max_length=16, choices=Outcome)
    verified = models.BooleanField(default=False)  # the voter was identified by the business
    ref = models.CharField(max_length=120, blank=True)  # "message:55"
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "answer matches"
        constraints = [
            models.CheckConstraint(
                condition=Q(score__gte=0, score__lte=1), name="answermatch_score_between_0_and_1"
            ),
            # One voice per customer, answer and wording: a hundred presses are one.
            models.UniqueConstraint(
                "answer",
                "customer",
                MD5("asked_normalised"),
                condition=Q(outcome__in=["chosen", "refused"]),
                name="answermatch_one_vote_per_customer",
            ),
            # Two answers under one wording, and neither would be delivered. Deferred to the end
            # of a statement: what moves a wording with all its rows breaks nothing on the way.
            ExclusionConstraint(
                name="answermatch_one_answer_per_wording",
                expressions=[(MD5("asked_normalised"), "="), ("answer", "<>")],
                condition=Q(outcome="confirmed", answer__isnull=False),
                deferrable=models.Deferrable.IMMEDIATE,
            ),
        ]
        indexes = [
            models.Index(fields=["answer", "outcome"], name="answermatch_votes"),
            # By hash: a B-tree takes no value of more than 2,704 bytes, and a question may have more.
            HashIndex(fields=["asked_normalised"], name="answermatch_wording"),
            models.Index(fields=["created_at", "outcome"], name="answermatch_outcome_at"),
        ]

    def __str__(self) -> str:
        return f"match {self.pk}: {self.outcome}"
