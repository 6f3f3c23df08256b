"""What is known of a customer, as the bot may say it back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from chat.llm.base import Topic
from chat.models import Conversation
from memory import services
from memory.kept import Kept
from memory.models import Customer
from memory.models import Topic as TopicRow
from memory.prepared import related
from memory.types import Category, Fact

OWN = {Category.PREFERENCE, Category.CONFIRMED_FACT}


def standing(
    conversation: Conversation,
    told: Sequence[dict[str, Any]],
    *,
    now: datetime,
    hers: services.Hers,
) -> tuple[Fact, ...]:
    """Return all that may be said back: of this conversation first, then what is stored.

    A visitor may be anybody at that browser: what is sensitive is not said.
    """
    at = hers.at
    stored = services.known_about(conversation.customer_id, now=now, hers=hers)
    if related(conversation, "customer").kind == Customer.Kind.VISITOR:
        stored = [f for f in stored if not f.sensitive]
    said = [
        c
        for c in reversed([*conversation.working_memory, *told])
        if c.get("topic")
        and c.get("intent") == "state"
        and not c.get("stored")
        and not _to_come(c, now)
    ]
    keys = {c["topic"] for c in said}
    rows = {t.key: t for t in services.all_topics() if t.key in keys}
    usable = [c for c in said if c["topic"] in rows and c["topic"] not in at.disputed]
    one = {key for key, topic in rows.items() if topic.cardinality == "one"}
    since = {f.topic or "": f.stated_at for f in stored if f.topic in one}  # corrected by a person
    fresh = [_fact(c, rows, conversation.customer_id, now) for c in usable]
    fresh = [f for f in fresh if since.get(f.topic or "", f.stated_at) <= f.stated_at]
    single = {f.topic for f in fresh if f.topic in one}
    newest = {f.topic: f for f in reversed(fresh) if f.topic in single}
    kept = [f for f in fresh if f.topic not in single or newest[f.topic] is f]
    texts = {f.text for f in kept}
    return (*kept, *(f for f in stored if f.topic not in single and f.text not in texts))


def _to_come(c: dict[str, Any], now: datetime) -> bool:
    since = c.get("valid_from")
    return isinstance(since, str) and datetime.fromisoformat(since) > now


def _fact(c: dict[str, Any], rows: dict[str, TopicRow], customer_id: int, now: datetime) -> Fact:
    topic = rows[c["topic"]]
    said = c.get("stated_at")
    return Fact(
        id=None,
        customer_id=customer_id,
        topic=topic.key,
        label=topic.label,
        category=Category(topic.category),
        text=c["text"],
        value=c["value"],
        stated_at=datetime.fromisoformat(said) if said else now,
        sensitive=topic.sensitive,
    )


def _topics() -> tuple[Topic, ...]:
    return tuple(
        Topic(
            key=t.key,
            label=t.label,
            description=t.description,
            examples=tuple(t.examples),
            may_ask=t.category in OWN,
            preference=t.category == Category.PREFERENCE,
            sensitive=t.sensitive,
        )
        for t in services.all_topics()
    )


topics: Kept[tuple[Topic, ...]] = Kept(_topics, "memory_topic")
