"""Stored facts as the deciding stages see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memory.kept import Kept
from memory.models import Memory, Topic
from memory.types import Category, Known, Status, TopicSpec

Values = Mapping[str, Sequence[str]]  # by topic
NOTHING: Values = MappingProxyType({})


def known_of(customer_id: int) -> list[Known]:
    """All facts of one customer, the history too, oldest first."""
    rows = Memory.objects.for_customer(customer_id).filter(kind="fact").select_related("topic")
    return [_known(m) for m in rows.defer("embedding").order_by("stated_at", "pk")]


def values_of(customer_id: int) -> dict[str, list[str]]:
    """By topic, the values of a customer that hold."""
    rows = Memory.objects.for_customer(customer_id).filter(kind="fact", status=Status.ACTIVE)
    found: dict[str, list[str]] = {}
    for topic, value in rows.exclude(topic=None).values_list("topic__key", "value"):
        found.setdefault(topic, []).append(value)
    return found


def _known(m: Memory) -> Known:
    return Known(
        id=m.pk,
        category=Category(m.category),
        topic=m.topic.key if m.topic else None,
        value=m.value,
        text=m.text,
        quote=m.quote,
        status=Status(m.status),
        stated_at=m.stated_at,
        valid_from=m.valid_from,
        valid_until=m.valid_until,
        ended_at=m.ended_at,
        negated=m.negated,
        corrected=m.corrected_by_staff,
        corrected_away=tuple(m.corrected_away),
    )


topics: Kept[tuple[Topic, ...]] = Kept(lambda: tuple(Topic.objects.order_by("pk")), "memory_topic")
specs: Kept[tuple[TopicSpec, ...]] = Kept(lambda: tuple(map(spec, topics())), "memory_topic")


def spec(topic: Topic) -> TopicSpec:
    return TopicSpec(
        key=topic.key,
        category=Category(topic.category),
        single_valued=topic.cardinality == Topic.Cardinality.ONE,
        label=topic.label,
        description=topic.description,
        examples=tuple(topic.examples),
        not_examples=tuple(topic.not_examples),
        permanent=topic.permanent,
        sensitive=topic.sensitive,
        lean=topic.lean,
    )
