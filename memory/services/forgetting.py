"""Forgetting on request: at once, and without a way back for what was said before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memory import pipeline, values
from memory.lifecycle import blank, known, locks, mentions, takeback
from memory.lifecycle import episode as stored
from memory.llm.embeddings import embed
from memory.models import Episode, Memory, Topic
from memory.speech import acts
from memory.types import Action, Candidate, Intent, Said, Status, Transcript

SURELY = 0.45  # an unread message so near to a topic is about it; blanking takes all of it


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, in words that may be said back: topics and labels, never values."""

    topics: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    count: int = 0


def forget(
    customer_id: int,
    *,
    request: str = "",
    topic: str | None = None,
    memory_id: int | None = None,
    by: str,
    now: datetime,
) -> Forgotten:
    """Forget at once what `memory_id`, `topic` or the customer's own words name.

    What was said before and is not read yet does not bring it back. Asked to forget everything,
    it opens the erase request too.
    """
    asked = [] if memory_id or topic or not request else _asked_for(request, now)
    with locks.customer_locked(customer_id) as customer:
        if any(not c.topic and not c.value for c in asked):
            return _told(blank.forget_everything(customer, at=now, now=now))
        rows = _meant(customer_id, asked, request, topic, memory_id)
        gone = blank.forget(rows, at=now, now=now, actor=by)
        named = {topic, *(c.topic for c in asked if not c.value)} - {None}
        for meant in Topic.objects.filter(key__in=named | {m.topic.key for m in gone if m.topic}):
            _keep_out_what_waits(customer_id, meant, whole=meant.key in named, now=now)
    return _told(gone, also=named)


def forget_words(customer_id: int, told: Iterable[str], *, value: str = "") -> None:
    """Blank what was noted for the moment, in every copy, where no memory was made of it yet."""
    with locks.customer_locked(customer_id):
        blank.blank_copies(customer_id, blank.words_of(told, value))


def _asked_for(request: str, now: datetime) -> list[Candidate]:
    said = Transcript((Said(1, "customer", request, now),))
    found = pipeline.consider(said).candidates
    return [c for c in found if c.intent is Intent.FORGET]


def _meant(
    customer_id: int,
    asked: list[Candidate],
    request: str,
    topic: str | None,
    memory_id: int | None,
) -> list[Memory]:
    rows = Memory.objects.for_customer(customer_id).select_related("topic")
    rows = rows.exclude(kind="summary")
    if memory_id is not None:
        return _versions(rows.get(pk=memory_id), list(rows))
    if topic is not None:
        return list(rows.filter(topic__key=topic))
    specs = {t.key: known.spec(t) for t in Topic.objects.all()}
    facts = known.known_of(customer_id)
    decisions = (
        d for c in asked for d in takeback.take_back(c, facts, topic=specs.get(c.topic or ""))
    )
    ids = {d.replaces_id for d in decisions if d.action is Action.DELETE}
    return [m for m in rows if (m.pk in ids if ids else _named_in(request, m))]


def _versions(chosen: Memory, rows: list[Memory]) -> list[Memory]:
    """A one-valued topic has one story; of several values only this one's versions are meant."""
    if chosen.topic_id and chosen.single_valued:
        return [m for m in rows if m.topic_id == chosen.topic_id]
    story, before = {chosen.pk}, 0
    while len(story) > before:
        before = len(story)
        story |= {m.pk for m in rows if m.superseded_by_id in story}
        story |= {m.superseded_by_id for m in rows if m.pk in story and m.superseded_by_id}
    return [m for m in rows if m.pk in story]


def _named_in(request: str, m: Memory) -> bool:
    """By its value, or by every word of its topic's label."""
    asked, value = values.words(acts.without_reason(request)), values.words(m.value)
    label = values.words(m.topic.label) if m.topic else frozenset()
    return bool(value and value <= asked) or bool(label and label <= asked)


def _keep_out_what_waits(customer_id: int, topic: Topic, *, whole: bool, now: datetime) -> None:
    """Messages not read yet lose what they say of `topic`; a bare row turns away the rest."""
    waiting = Episode.objects.filter(customer_id=customer_id, processed_at=None)
    if whole:
        for episode in waiting:
            said = _saying(stored.load(episode.transcript), topic)
            blank.blank_copies(customer_id, said)
    one = topic.cardinality == Topic.Cardinality.ONE
    bare = Memory.objects.filter(customer_id=customer_id, topic=topic, ended_at=now)
    if one and (whole or waiting.exists()) and not bare.filter(status=Status.FORGOTTEN).exists():
        Memory.objects.create(
            customer_id=customer_id,
            topic=topic,
            category=topic.category,
            single_valued=True,
            sensitive=topic.sensitive,
            status=Status.FORGOTTEN,
            stated_at=now,
            recorded_at=now,
            confirmed_at=now,
            ended_at=now,
        )


def _saying(transcript: Transcript, topic: Topic) -> set[str]:
    spec = known.spec(topic)
    return {
        m.text
        for m in transcript.by("customer")
        if mentions.topics_mentioned(Transcript((m,)), [spec], embed=embed, near=SURELY)
    }


def _told(gone: list[Memory], also: Iterable[str | None] = ()) -> Forgotten:
    topics = {m.topic.key: m.topic.label for m in gone if m.topic}
    topics |= dict(Topic.objects.filter(key__in=[k for k in also if k]).values_list("key", "label"))
    return Forgotten(tuple(topics), tuple(topics.values()), len(gone))
