"""Conversations and what was said in them. Everything shown in the log is a stored row with seq and kind."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import Case, Q, Value, When

from memory.models import Customer

from .querysets import ConversationQuerySet, VisitorTokenQuerySet


class Business(models.Model):
    """The one business that this installation answers for. Hours are the desk's (escalations)."""

    name = models.CharField(max_length=120, default="Rapport")
    timezone = models.CharField(max_length=64, default="UTC")
    hours_in_words = models.CharField(max_length=200, blank=True)
    welcome = models.TextField(blank=True)
    privacy_text = models.TextField(blank=True)
    emergency_words = models.JSONField(default=list, blank=True)
    emergency_text = models.TextField(blank=True)
    show_staff_names = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "business"
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="business_is_one")]

    def __str__(self) -> str:
        return self.name


class Wording(models.Model):
    """A reply in the business's own words; the key is one of `chat.wordings.DEFAULTS`."""

    key = models.SlugField(max_length=64, unique=True)
    variants = models.JSONField(
        default=list
    )  # one is picked by conversation and seq: varied, repeatable

    def __str__(self) -> str:
        return self.key


class VisitorToken(models.Model):
    """A browser's opaque token; only its hash is kept. A visitor is remembered for that browser alone."""

    digest = models.CharField(max_length=64, unique=True)
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="tokens")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    address = models.CharField(
        max_length=64, blank=True
    )  # hashed: to see one browser behind many tokens

    objects = VisitorTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"token of customer {self.customer_id}"


class Conversation(models.Model):
    class Handler(models.TextChoices):
        BOT = "bot", "the bot"
        WAITING = "waiting", "waiting for a person"  # the bot still answers what it knows
        STAFF = "staff", "a person"

    customer = models.ForeignKey(Customer, models.CASCADE, related_name="conversations")
    handler = models.CharField(max_length=8, choices=Handler, default=Handler.BOT)
    started_at = models.DateTimeField()
    last_message_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    close_reason = models.CharField(max_length=40, blank=True)  # ended, idle, replaced, identified
    last_seq = models.PositiveIntegerField(default=0)
    flushed_seq = models.PositiveIntegerField(default=0)  # what memory has been told of
    bot_since_seq = models.PositiveIntegerField(default=0)  # budgets and context start afresh here
    answer_due_at = models.DateTimeField(
        null=True, blank=True
    )  # a turn is running; past due: a person
    asked_topic = models.CharField(max_length=64, blank=True)  # the open gap question
    working_memory = models.JSONField(default=list, blank=True)  # candidates of this conversation
    verified = models.BooleanField(
        default=False
    )  # the business named this customer by a signed token
    reply_email = models.EmailField(
        blank=True
    )  # for one signed link back; proves and merges nothing
    customer_seen_seq = models.PositiveIntegerField(default=0)
    rating = models.SmallIntegerField(null=True, blank=True)  # 1 good, -1 bad
    rating_words = models.TextField(blank=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["answer_due_at"], condition=~Q(answer_due_at=None), name="conversation_due"
            ),
            models.Index(
                fields=["last_message_at"], condition=Q(closed_at=None), name="conversation_open"
            ),
            models.Index(
                fields=["last_message_at"], condition=Q(rating=-1), name="conversation_not_helped"
            ),
        ]

    def __str__(self) -> str:
        return f"conversation {self.pk}"


class Message(models.Model):
    """One row of the log; once stored, it changes by words being removed on request alone (meta {removed}).

    An offer is open while nothing newer stands.
    """

    class Kind(models.TextChoices):
        MESSAGE = "message"
        ANSWER = "answer"  # a person's very words, as a card: meta {answer_id, role, author, said_on, parts, title}
        OFFER = "offer"  # meta {question_seq, choices: [{choice, title}], match_id}
        CHOICE = "choice"  # the customer's pick: meta {offer_seq, choice}
        STATE = "state"  # a quiet line: queued, claimed, returned …: meta {state}

    class Sender(models.TextChoices):
        CUSTOMER = "customer"
        BOT = "bot"
        STAFF = "staff"
        SYSTEM = "system"

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="messages")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.MESSAGE)
    sender = models.CharField(max_length=8, choices=Sender)
    client_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - unique needs NULL
    text = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    author_name = models.CharField(max_length=120, blank=True)
    role = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField()
    meta = models.JSONField(
        default=dict, blank=True
    )  # customers see it: nothing internal belongs here

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="message_seq_unique"),
            models.UniqueConstraint(
                fields=["conversation", "client_id"], name="message_client_id_unique"
            ),
        ]
        # The desk's search: by words, and by letters when a word is misspelt.
        indexes = [
            GinIndex(SearchVector("text", config="english"), name="message_words"),
            GinIndex(fields=["text"], opclasses=["gin_trgm_ops"], name="message_letters"),
        ]

    def __str__(self) -> str:
        return f"message {self.conversation_id}/{self.seq}"


def _said_by(condition: Q) -> Case:
    """A condition as a column, which is false where the trace says nothing of it."""
    return Case(When(condition, then=Value(True)), default=Value(False))


class Turn(models.Model):
    """The receipt of one automatic turn: what was known, used and rejected, and why. Staff alone see it."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="turns")
    question_seq = models.PositiveIntegerField()
    reply_seq = models.PositiveIntegerField(null=True, blank=True)
    outcome = models.CharField(
        max_length=24
    )  # answered, offered, asked, noted, forgot, recalled, note, handed_over, emergency, small_talk, dropped
    reason = models.CharField(max_length=200, blank=True)
    trace = models.JSONField(
        default=dict
    )  # facts, answers, scores, gates, tokens, cost, ms per step, prompt version
    created_at = models.DateTimeField()
    # Read off the trace once, when it is written: a year's report does not open every one of them.
    generated = models.GeneratedField(
        expression=_said_by(Q(outcome="answered", trace__moves__contains=["Remark"])),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    past_skipped = models.GeneratedField(
        expression=_said_by(Q(trace__gate__skipped=True)),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["created_at", "outcome"],
                include=["generated", "past_skipped"],
                name="turn_outcome_at",
            ),
            models.Index(fields=["conversation", "outcome"], name="turn_conversation_outcome"),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk}: {self.outcome}"


class Tool(models.Model):
    """A read-only HTTP tool that admins register."""

    name = models.SlugField(max_length=64, unique=True)
    description = models.TextField()
    arguments = models.JSONField(default=dict)  # JSON schema
    result = models.JSONField(default=dict, blank=True)  # JSON schema
    url = models.CharField(max_length=400)  # template: https://host/orders/{order_id}
    auth_header = models.CharField(max_length=64, blank=True)
    auth_secret = models.CharField(
        max_length=400, blank=True
    )  # the name of an environment variable
    needs_identity = models.BooleanField(default=True)
    timeout_ms = models.PositiveIntegerField(default=3000)
    active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name
