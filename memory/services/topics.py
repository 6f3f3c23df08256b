"""What the business wants remembered, and what it tells the knowledge agent: versioned."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from memory.kept import Kept
from memory.lifecycle import write
from memory.models import Instruction, Memory, Topic
from memory.types import Status

FIELDS = (
    "category", "cardinality", "label", "description", "examples", "not_examples", "permanent",
    "sensitive", "half_life_days",
)  # fmt: skip


class StillSeveral(Exception):
    """Some customers have several values: a topic cannot become one-valued over their heads."""

    def __init__(self, customers: int) -> None:
        super().__init__(f"{customers} customers have more than one active value")
        self.customers = customers


@transaction.atomic
def save_topic(key: str, *, by: str, now: datetime, **fields: Any) -> Topic:
    """Make or change a topic; every change is a version, which memories name that it made.

    Raises StillSeveral when it is to hold one value and some customer has several.
    """
    unknown = set(fields) - set(FIELDS)
    if unknown:
        raise TypeError(f"no such field of a topic: {', '.join(sorted(unknown))}")
    topic = Topic.objects.select_for_update(no_key=True).filter(key=key).first()
    if topic is None:
        topic = Topic.objects.create(key=key, **fields)
        _record("topic.created", topic, by, now, before=None)
        return topic
    before = {f: getattr(topic, f) for f in FIELDS}
    changed = {f: v for f, v in fields.items() if before[f] != v}
    if not changed:
        return topic
    for name, value in changed.items():
        setattr(topic, name, value)
    topic.version += 1
    topic.save()
    _carry_over(topic, changed)
    _record("topic.changed", topic, by, now, before={f: before[f] for f in changed})
    return topic


def _carry_over(topic: Topic, changed: dict[str, Any]) -> None:
    """Rows hold copies of what constraints and decay need."""
    rows = Memory.objects.filter(topic=topic, kind="fact")
    if "cardinality" in changed:
        one = topic.cardinality == Topic.Cardinality.ONE
        if one and (several := _with_several(rows)):
            raise StillSeveral(several)
        rows.update(single_valued=one)
    copies = {f: changed[f] for f in ("permanent", "sensitive") if f in changed}
    if copies:
        rows.update(**copies)


def _with_several(rows: Any) -> int:
    standing = rows.filter(status=Status.ACTIVE, valid_until=None)
    by_customer = standing.values("customer").annotate(n=Count("pk")).filter(n__gt=1)
    return int(by_customer.count())


@transaction.atomic
def save_instruction(kind: str, text: str, *, now: datetime, staff_id: int | None) -> Instruction:
    """The newest is in force. The same text again is not a new version."""
    rows = Instruction.objects.filter(kind=kind)
    newest = rows.order_by("-version").first()
    if newest is not None and newest.text == text:
        return newest
    last = rows.aggregate(last=Max("version"))["last"] or 0
    made = Instruction.objects.create(
        kind=kind, version=last + 1, text=text, created_at=now, created_by_id=staff_id
    )
    write.record_event(
        "instruction.changed",
        at=now,
        actor=f"staff:{staff_id}" if staff_id else "import",
        reason=f"{kind} v{made.version}",
    )
    return made


def instructions(kind: str) -> tuple[int, str]:
    """Return version and text of what admins said last; (0, "") where nothing was said."""
    return _newest().get(kind, (0, ""))


_newest: Kept[dict[str, tuple[int, str]]] = Kept(
    lambda: {
        kind: (version, text)
        for kind, version, text in Instruction.objects.order_by("version").values_list(
            "kind", "version", "text"
        )
    },
    "memory_instruction",
)


def _record(
    kind: str, topic: Topic, by: str, now: datetime, *, before: dict[str, Any] | None
) -> None:
    after = {f: getattr(topic, f) for f in (before or FIELDS)} | {"version": topic.version}
    write.record_event(kind, at=now, actor=by, topic_key=topic.key, before=before, after=after)
