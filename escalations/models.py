"""The desk: what waits for a person, who has it, and what staff write for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from chat.models import Conversation
from memory.models import Answer, Customer, Topic

from .querysets import EscalationQuerySet

if TYPE_CHECKING:
    from django.contrib.auth.models import User

USER = settings.AUTH_USER_MODEL


class StaffProfile(models.Model):
    """How a staff member appears to customers: the role always, the name by setting."""

    user = models.OneToOneField(USER, models.CASCADE, related_name="staff_profile")
    role = models.CharField(max_length=120, default="staff")
    display_name = models.CharField(max_length=120, blank=True)
    notify_by_email = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.display_name or self.user_id}, {self.role}"


class Calendar(models.Model):
    """Opening hours: zone, weekly spans (days may be split), and days that differ."""

    name = models.CharField(max_length=80, unique=True)
    timezone = models.CharField(max_length=64, default="UTC")
    # {"0": [["08:00","12:00"],["13:00","17:00"]], …}: Monday is 0
    weekly = models.JSONField(default=dict)
    # {"2026-12-25": [], "2026-12-24": [["08:00","12:00"]]}
    exceptions = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.name


class Queue(models.Model):
    name = models.CharField(max_length=80, unique=True)
    members: models.ManyToManyField[User, Any] = models.ManyToManyField(
        USER, blank=True, related_name="queues"
    )
    calendar = models.ForeignKey(Calendar, models.PROTECT, related_name="queues")
    topics = models.ManyToManyField(Topic, blank=True, related_name="+")
    first_reply_minutes = models.PositiveIntegerField(default=120)  # in opening hours
    alert_after_minutes = models.PositiveIntegerField(default=10)
    claim_quiet_minutes = models.PositiveIntegerField(default=30)
    is_default = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=Q(is_default=True), name="queue_one_default"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Gap(models.Model):
    """The same open question from several customers."""

    title = models.TextField()
    opened_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    answer = models.ForeignKey(Answer, models.SET_NULL, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return self.title[:80]


class Escalation(models.Model):
    class Reason(models.TextChoices):
        ASKED = "asked", "asked for a person"
        NO_ANSWER = "no_answer", "no answer yet"
        UNSURE = "unsure", "not sure enough"
        REQUEST = "request", "wants something done"
        PERSONAL = "personal", "touches what the customer told us"
        IDENTITY = "identity", "identity needed"
        TOOL = "tool", "a tool failed"
        EMERGENCY = "emergency", "emergency"
        DISTRESS = "distress", "strong pain or distress"
        MODEL = "model", "the automatic reply did not come"
        CONFLICT = "conflict", "says otherwise than we corrected"
        UNREAD = "unread", "newer words on it are not read yet"
        TAKEN = "taken", "taken over by staff"
        STAFF_FIRST = "staff_first", "staff wrote first"

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="escalations")
    queue = models.ForeignKey(
        Queue, models.PROTECT, null=True, blank=True, related_name="escalations"
    )
    reason = models.CharField(max_length=12, choices=Reason)
    detail = models.CharField(max_length=300, blank=True)  # for staff: which tool, which fact
    request = models.JSONField(default=dict, blank=True)  # a note's request with what is known
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    promise = models.CharField(max_length=300, blank=True)  # what the customer was told
    claimed_by = models.ForeignKey(
        USER, models.SET_NULL, null=True, blank=True, related_name="claims"
    )
    claimed_at = models.DateTimeField(null=True, blank=True)
    claimed_seq = models.PositiveIntegerField(default=0)  # staff's messages after it may be kept
    active_at = models.DateTimeField(null=True, blank=True)  # the claim's last sign of life
    first_reply_at = models.DateTimeField(null=True, blank=True)
    last_staff_seq = models.PositiveIntegerField(default=0)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    resolution = models.CharField(max_length=12, blank=True)  # resolved, returned, released_to_bot
    alerted_at = models.DateTimeField(null=True, blank=True)
    alert_step = models.PositiveSmallIntegerField(
        default=0, db_default=0
    )  # each step tells more people
    assigned_by = models.ForeignKey(  # a colleague gave it to who has it
        USER, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reopened_at = models.DateTimeField(null=True, blank=True)

    objects = EscalationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(closed_at=None),
                name="escalation_one_open_per_conversation",
            ),
            models.CheckConstraint(
                condition=Q(claimed_by=None, claimed_at=None)
                | Q(claimed_by__isnull=False, claimed_at__isnull=False),
                name="escalation_claim_is_whole",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(closed_at=None), name="escalation_open_due"
            ),
            models.Index(fields=["closed_at"], name="escalation_closed"),
        ]

    def __str__(self) -> str:
        return f"escalation {self.pk}"

    @property
    def her_turn(self) -> bool:
        """Nothing was said after staff's last words; the same as querysets.HER_TURN, for one row."""
        return 0 < self.last_staff_seq >= self.conversation.last_seq


class Question(models.Model):
    """One question of an escalation: the customer's own words, and what became of it."""

    escalation = models.ForeignKey(Escalation, models.CASCADE, related_name="questions")
    text = models.TextField()
    message_seq = models.PositiveIntegerField(null=True, blank=True)
    reason = models.CharField(max_length=12, choices=Escalation.Reason)
    match_id = models.BigIntegerField(
        null=True, blank=True
    )  # memory's AnswerMatch of this question
    gap = models.ForeignKey(Gap, models.SET_NULL, null=True, blank=True, related_name="questions")
    answer = models.ForeignKey(Answer, models.SET_NULL, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text[:80]


class StaffNote(models.Model):
    """Customers never see this: a model of its own, so that no message payload can carry it."""

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, null=True, blank=True, related_name="staff_notes"
    )
    customer = models.ForeignKey(  # of a note that belongs to no one conversation
        Customer, models.CASCADE, null=True, blank=True, related_name="+"
    )
    author = models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(conversation=None) ^ Q(customer=None), name="staffnote_has_one_place"
            )
        ]

    def __str__(self) -> str:
        return f"note {self.pk}"


class Draft(models.Model):
    escalation = models.ForeignKey(Escalation, models.CASCADE, related_name="drafts")
    staff = models.ForeignKey(USER, models.CASCADE, related_name="+")
    text = models.TextField(blank=True)
    seen_seq = models.PositiveIntegerField(default=0)  # what the writer had seen when it was begun
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["escalation", "staff"], name="draft_one_per_staff")
        ]

    def __str__(self) -> str:
        return f"draft {self.pk}"


class CannedReply(models.Model):
    shortcut = models.SlugField(max_length=40, unique=True)
    text = models.TextField()  # {customer}, {staff}, {business} are filled in

    class Meta:
        verbose_name = "ready-made reply"
        verbose_name_plural = "ready-made replies"

    def __str__(self) -> str:
        return f"/{self.shortcut}"


class Presence(models.Model):
    """Who looks at an escalation, and who is typing. A row, so that every web process sees it."""

    escalation = models.ForeignKey(Escalation, models.CASCADE, related_name="presences")
    staff = models.ForeignKey(USER, models.CASCADE, related_name="+")
    seen_at = models.DateTimeField()
    typing_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["escalation", "staff"], name="presence_one_per_staff")
        ]

    def __str__(self) -> str:
        return f"presence {self.pk}"


class Delivery(models.Model):
    """One e-mail to staff or a customer: tried again until it went, and shown when it did not."""

    kind = models.CharField(max_length=24)  # alert, realert, link_back, staff_first
    to = models.EmailField()
    customer = models.ForeignKey(
        Customer, models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    escalation = models.ForeignKey(
        Escalation, models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    subject = models.CharField(max_length=200)
    body = models.TextField()
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(  # few wait, of all that ever went: every page of the desk asks for them
                fields=["next_at"], condition=Q(sent_at=None), name="delivery_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class MemoryView(models.Model):
    """Somebody looked at a sensitive fact."""

    staff = models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+")
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="+")
    topics = models.JSONField(default=list)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"look {self.pk}"


class RatingLook(models.Model):
    """Somebody looked at a conversation that a customer said did not help."""

    conversation = models.OneToOneField(Conversation, models.CASCADE, related_name="rating_look")
    staff = models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"look at conversation {self.conversation_id}"


class ReportSetting(models.Model):
    """The rules that reports count by; shown beside the figures."""

    minutes_per_answer = models.FloatField(default=3.0)
    reopened_within_days = models.PositiveIntegerField(default=7)
    assumed_after_hours = models.PositiveIntegerField(default=24)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="reportsetting_is_one")]

    def __str__(self) -> str:
        return "report settings"
