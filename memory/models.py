"""What is remembered, by whom it was said, and everything that happened to it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField, HnswIndex

from .querysets import AnswerQuerySet, MemoryQuerySet
from .types import Category, MemoryType, Status

# One width serves every model: MiniLM's 384 are padded with zeros (cosine unchanged), others are asked for 512.
EMBEDDING_WIDTH = 512


def _choices(enum: Any) -> list[tuple[str, str]]:
    return [(e.value, e.value.replace("_", " ")) for e in enum]


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


class Topic(models.Model):
    """A key that the business cares about."""

    class Cardinality(models.TextChoices):
        ONE = "one", "one value at a time"
        MANY = "many", "several values side by side"

    key = models.SlugField(max_length=64, unique=True)
    category = models.CharField(max_length=20, choices=_choices(Category))
    cardinality = models.CharField(max_length=4, choices=Cardinality, default=Cardinality.ONE)
    label = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    examples = models.JSONField(default=list, blank=True)
    not_examples = models.JSONField(default=list, blank=True)
    permanent = models.BooleanField(default=False)
    sensitive = models.BooleanField(default=False)
    half_life_days = models.PositiveIntegerField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return self.label


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
    category = models.CharField(max_length=20, choices=_choices(Category))
    memory_type = models.CharField(
        max_length=12, choices=_choices(MemoryType), default=MemoryType.SEMANTIC
    )
    kind = models.CharField(
        max_length=20, default="fact"
    )  # fact, summary, experience, staff_answer
    status = models.CharField(max_length=12, choices=_choices(Status), default=Status.ACTIVE)
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
            GinIndex(fields=["text"], opclasses=["gin_trgm_ops"], name="memory_text_trgm"),
        ]

    def __str__(self) -> str:
        return f"{(self.topic_id and self.topic) or self.category}: {self.text[:60]} (#{self.pk})"


class Answer(models.Model):
    """A person's very words to one question, for everyone. Customers can never write one."""

    title = models.TextField()
    parts = models.JSONField(default=list)  # the words, one string per message, byte for byte
    category = models.CharField(
        max_length=20, choices=_choices(Category), default=Category.ESCALATION_ANSWER
    )
    status = models.CharField(max_length=12, choices=_choices(Status), default=Status.ACTIVE)
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
    asked_normalised = models.TextField(db_index=True)
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
                fields=["answer", "customer", "asked_normalised"],
                condition=Q(outcome__in=["chosen", "refused"]),
                name="answermatch_one_vote_per_customer",
            ),
        ]
        indexes = [models.Index(fields=["answer", "outcome"], name="answermatch_votes")]

    def __str__(self) -> str:
        return f"match {self.pk}: {self.outcome}"


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


class Lesson(models.Model):
    """What an agent learnt from an event, validated against its evidence. Never a customer's data."""

    namespace = ArrayField(models.CharField(max_length=120))  # ("agents", "bot"), ("shared",)
    about = models.CharField(max_length=120)  # "tool:order_status"
    text = models.TextField()
    conditions = models.JSONField(default=dict, blank=True)  # what makes it apply: {"status": 401}
    evidence = models.JSONField(default=dict)
    status = models.CharField(max_length=12, choices=_choices(Status), default=Status.ACTIVE)
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


class ErasureReceipt(models.Model):
    """Proof that somebody was erased, which names nobody."""

    customer_pk = models.BigIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=80)
    counts = models.JSONField()  # {"memory.Memory": 12, "chat.Message": 40}

    def __str__(self) -> str:
        return f"receipt {self.pk}"


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
