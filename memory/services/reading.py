"""What is known of a customer, for one message, for a page, or as it was on a day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db.models import DateTimeField, FloatField, Q, Value
from django.db.models.functions import Cast, Extract
from pgvector.django import CosineDistance, HalfVectorField

from memory.lifecycle import gate as gates
from memory.lifecycle import known, retrieve
from memory.lifecycle.retrieve import Row, Weights
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_one, embed_one_here, embedder, stored_here
from memory.models import Memory
from memory.prepared import Prepared, argument
from memory.querysets import MemoryQuerySet
from memory.types import Category, Fact, GateResult, Recalled, Status, Vector, Withheld

from . import topics_meant, withholding

TOLD = ("fact", "staff_answer", "experience")  # a summary holds no value of its own
MEANT = 0.4  # of the asks that the cheap gate lets go, a third; of other questions, a tenth
LISTED = ("fact", "staff_answer")  # what was tried, and what worked, is in staff's words for staff


def recall(
    customer_id: int,
    message: str,
    *,
    now: datetime,
    before: Sequence[str] = (),
    working: Sequence[Mapping[str, Any]] = (),
    verified: bool = True,
    explain: bool = False,
    gate: bool | GateResult = True,
    hers: Hers | None = None,
) -> Recalled:
    """Return what this customer told that `message` needs: at most MEMORY_RECALLED facts.

    `working`: what was said in this conversation, which is read before what is stored. `gate`:
    what it said already; False measures the ranking alone. `hers`: read with this very message.
    """
    passed = gate if isinstance(gate, GateResult) else _gate(message, before, asked=gate)
    hers = hers or Hers(customer_id, now=now, message=message)
    if not passed.passed and gates.asks_of_something(message) and hers.told_of_what_is_meant:
        passed = GateResult(True, "asks about something they told of")
    if not passed.passed:
        return Recalled(gate=passed, skipped=True)
    at = hers.at
    if at.erasing:
        reason = "the customer asked for everything to be deleted"
        return Recalled(gate=GateResult(False, reason), at=at)
    rows = hers.rows
    if working:
        rows = _of_now(working, rows, customer_id, hers.meant, now=now)
    usable = [r for r in _usable(rows, at) if verified or not r.sensitive]
    most, weights = settings.MEMORY_RECALLED, _weights()
    used, left = retrieve.retrieve(
        usable, message, now=now, weights=weights, limit=most, explain=explain
    )
    ends = {r.id: r.valid_until for r in usable if r.id is not None and r.valid_until}
    return Recalled(
        facts=tuple(used),
        rejected=tuple(left),
        withheld=tuple(sorted(at.topics)),
        context=retrieve.context(used, ends=ends),
        gate=passed,
        at=at,
    )


def known_about(
    customer_id: int, *, now: datetime, words: str = "", hers: Hers | None = None
) -> list[Fact]:
    """Return all that stands for her, one fact for a topic of one value; what is in doubt not.

    `words`: how near each fact is to them; `hers` was read with them already.
    """
    hers = hers or Hers(customer_id, now=now, words=words)
    if hers.at.erasing:
        return []
    rows = [r for r in hers.rows if r.kind in LISTED]
    facts, _ = retrieve.newest(_usable(rows, hers.at))
    return sorted(map(_fact, facts), key=lambda f: (f.label.casefold(), f.stated_at))


class Hers:
    """What stands for one customer: each thing is read once, when it is needed, for a whole turn.

    `message`, `words`: what her facts are compared with; the latter by MiniLM, where a fact's
    stored vector is of MiniLM too.
    """

    def __init__(
        self, customer_id: int, *, now: datetime, message: str = "", words: str = ""
    ) -> None:
        self.customer_id, self.now = customer_id, now
        self._message, self._words = message, words

    @cached_property
    def at(self) -> Withheld:
        return withholding.withheld(self.customer_id)

    @cached_property
    def meant(self) -> dict[str, float]:
        """How near the message is to what each topic is about."""
        return topics_meant.likeness(self._vector) if self._vector is not None else {}

    @cached_property
    def rows(self) -> list[Row]:
        """Her active memories in force, by exact distance: a filtered index finds too few."""
        near = embed_one_here(self._words) if self._words and stored_here() else None
        found = _IN_FORCE(hers=self.customer_id, now=self.now, message=self._vector, words=near)
        return _rows(found, self.meant)

    @property
    def told_of_what_is_meant(self) -> bool:
        """Does a fact stand of a topic that the message comes near?"""
        near = {topic for topic, likeness in self.meant.items() if likeness >= MEANT}
        return bool(near) and any(r.topic in near for r in self.rows)

    @cached_property
    def _vector(self) -> Vector | None:
        # MiniLM knows English alone.
        return _vector(gates.understood(self._message)) if self._message else None


def _usable(rows: Sequence[Row], at: Withheld) -> list[Row]:
    return [r for r in rows if not at.holds_back(r.topic, stored=r.id is not None)]


def as_of(customer_id: int, *, when: datetime) -> list[Fact]:
    """Return what stood on a day, as memory knew it then."""
    rows = (
        Memory.objects.for_customer(customer_id)
        .filter(kind__in=LISTED, recorded_at__lte=when)
        .exclude(status__in=(Status.PENDING, Status.REJECTED, Status.FORGOTTEN))
        .filter(Q(ended_at=None) | Q(ended_at__gt=when))
        .filter(Q(valid_from=None) | Q(valid_from__lte=when))
        .filter(Q(valid_until=None) | Q(valid_until__gt=when))
    )
    standing, _ = retrieve.newest(_rows(_columns(rows), {}))
    return [_fact(r) for r in standing]


def _gate(message: str, before: Sequence[str], *, asked: bool) -> GateResult:
    return needs_past(message, before) if asked else GateResult(True, "not asked")


def needs_past(message: str, before: Sequence[str]) -> GateResult:
    """What the cheap gate says: rules, then a classifier. May be unsure: `gating.second_look`."""
    classifier = gates.gates()["retrieve"]
    vector = embed_one_here(message)
    return gates.needs_past(message, before=before, vector=vector, classifier=classifier)


_COLUMNS = (
    *("pk", "customer_id", "topic__key", "topic__label", "category", "kind", "text", "value"),
    *("said_at", "valid_until", "importance", "single_valued", "sensitive", "embedding_model"),
)
# A number: for Django the driver reads each date in Python, which took a tenth of a recall.
_SAID_AT = Cast(Extract("stated_at", "epoch"), FloatField())


def _columns(rows: MemoryQuerySet, message: Any = None, words: Any = None) -> Any:
    """Plain tuples: a model's instance costs ten times as much as its numbers."""
    near = {name: _distance(v) for name, v in (("to_message", message), ("to_words", words))}
    found = rows.exclude(text="").order_by("pk").annotate(**near, said_at=_SAID_AT)
    return found.values_list(*_COLUMNS, *near)


def _distance(vector: Any) -> Any:
    return Value(None, FloatField()) if vector is None else CosineDistance("embedding", vector)


_IN_FORCE = Prepared(
    lambda: _columns(
        Memory.objects.for_customer(argument("hers"))
        .active(argument("now", DateTimeField()))
        .filter(kind__in=TOLD),
        argument("message", HalfVectorField()),
        argument("words", HalfVectorField()),
    )
)


def _rows(found: Iterable[tuple[Any, ...]], meant: Mapping[str, float]) -> list[Row]:
    model = embedder().model
    return [_row(of, meant, model) for of in found]


def _row(of: tuple[Any, ...], meant: Mapping[str, float], model: str) -> Row:
    pk, customer_id, topic, label, category, kind, *told, made_by, to_message, to_words = of
    text, value, said_at, valid_until, importance, single_valued, sensitive = told
    same = made_by == model  # rows of two models are never compared
    return Row(
        id=pk,
        customer_id=customer_id,
        topic=topic,
        label=label or _LABELS.get(kind, "also said"),
        kind=kind,
        category=Category(category),
        text=text,
        value=value,
        stated_at=datetime.fromtimestamp(said_at, UTC),
        valid_until=valid_until,
        importance=importance,
        single_valued=single_valued,
        sensitive=sensitive,
        likeness=1.0 - to_message if same and to_message is not None else None,
        near=1.0 - to_words if same and to_words is not None else None,
        topic_likeness=meant.get(topic or ""),
    )


_LABELS = {"staff_answer": "told by staff", "experience": "tried before"}


def _of_now(
    working: Sequence[Mapping[str, Any]],
    stored: list[Row],
    customer_id: int,
    meant: Mapping[str, float],
    *,
    now: datetime,
) -> list[Row]:
    """Put what was said in this conversation in the place of what is stored on the same topic."""
    known_topics = {t.key: t for t in known.topics()}
    rows = list(stored)
    for said in working:
        topic = known_topics.get(said.get("topic") or "")
        at = _time(said.get("stated_at")) or now
        if topic and _corrected_since(rows, topic.key, at):
            continue
        if said.get("intent", "state") != "state":
            if (since := _time(said.get("valid_from"))) and since > now:
                continue  # it holds till then
            rows = [r for r in rows if not _taken_back(r, said)]
            continue
        since, until = _time(said.get("valid_from")), _time(said.get("valid_until"))
        if (until is not None and until <= now) or (since is not None and since > now):
            continue
        single = topic is not None and topic.cardinality == "one"
        if single and not said.get("adds") and until is None:
            rows = [r for r in rows if r.topic != said.get("topic")]
        rows.append(
            Row(
                id=None,
                customer_id=customer_id,
                topic=said.get("topic"),
                label=topic.label if topic else "just said",
                category=Category(said.get("category", Category.PREFERENCE)),
                text=str(said.get("text", "")),
                value=str(said.get("value", "")),
                stated_at=at,
                valid_until=until,
                importance=float(said.get("importance", 0.5)),
                single_valued=single and not said.get("adds"),
                sensitive=bool(topic and topic.sensitive),
                topic_likeness=meant.get(said.get("topic") or ""),
            )
        )
    return rows


def _corrected_since(rows: Sequence[Row], topic: str, at: datetime) -> bool:
    """What she said a minute ago gives way to what a person has put right after it."""
    return any(r.topic == topic and r.single_valued and r.stated_at > at for r in rows)


def _taken_back(row: Row, said: Mapping[str, Any]) -> bool:
    if row.topic is None or row.topic != said.get("topic"):
        return False
    value = str(said.get("value", "")).casefold()
    return row.single_valued or not value or value in f"{row.value} {row.text}".casefold()


def _time(value: object) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) and value else None


def _weights() -> Weights:
    return Weights(settings.MEMORY_RELEVANCE, settings.MEMORY_RECENCY, settings.MEMORY_IMPORTANCE)


def _fact(row: Row) -> Fact:
    return Fact(
        id=row.id,
        customer_id=row.customer_id,
        topic=row.topic,
        label=row.label,
        category=row.category,
        text=row.text,
        value=row.value,
        stated_at=row.stated_at,
        sensitive=row.sensitive,
        near=row.near,
    )


def _vector(message: str) -> Vector | None:
    try:
        return embed_one(message)
    except Unavailable:
        return None
