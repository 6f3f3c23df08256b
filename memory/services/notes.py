"""What the business has written for a situation, found by the messages that mean it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction

from memory.kept import Kept
from memory.lifecycle.write import record_event
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_one_here as embed_one
from memory.models import Memory, Note, Topic
from memory.types import NoteFound, Vector

NEAR = 0.6  # cosine to an example; a note speaks for the business, so it must be meant
NEAR_IN_CONTEXT = 0.65  # the same, read with the message before it
AHEAD = 0.02  # of the nearest counter-example
SHORT = 9  # words; a longer message says itself what it is about, or comes near to it:
HALF_SAID = 0.35  # cosine from which it is read with the message before it
FIELDS = ("title", "examples", "not_examples", "topic", "text", "hands_over", "tool", "active")


def save_note(
    note_id: int | None = None,
    *,
    by: str,
    now: datetime,
    topic: Topic | None = None,
    **fields: Any,
) -> Note:
    """Write a note, or a new version of it. Raises TypeError for a field that notes do not have."""
    if unknown := set(fields) - set(FIELDS):
        raise TypeError(f"a note has no {', '.join(sorted(unknown))}")
    with transaction.atomic():
        note = Note.objects.select_for_update().get(pk=note_id) if note_id else Note(version=0)
        before = {f: getattr(note, f) for f in ("title", "text", "active")} if note_id else None
        for name, value in fields.items():
            setattr(note, name, value)
        note.topic, note.version, note.updated_at = topic, note.version + 1, now
        note.save()
        record_event(
            "note.changed" if note_id else "note.created",
            at=now,
            actor=by,
            before=before,
            after={"note": note.pk, "title": note.title, "text": note.text, "active": note.active},
        )
    return note


_active: Kept[tuple[Note, ...]] = Kept(
    lambda: tuple(Note.objects.filter(active=True).select_related("topic").order_by("pk")),
    "memory_note",
    "memory_topic",
)


def note_for(
    message: str,
    *,
    customer_id: int | None,
    now: datetime,
    before: Sequence[str] = (),
    known: Collection[str] = (),
) -> NoteFound | None:
    """Return the note that this message means.

    The nearest whose topic is known of her, else the nearest, as not usable. `known`: the topics
    that this conversation has told already.
    """
    notes = _active()
    if not notes:
        return None
    try:
        found = _near(notes, embed_one(message), NEAR)
        if not found and before and _may_lean(notes, message):
            found = _near(notes, embed_one(f"{before[-1]} {message}"), NEAR_IN_CONTEXT)
    except Unavailable:
        return None
    if not found:
        return None
    told = _topics_known(customer_id, now) | set(known)
    usable = [f for f in found if f[0].topic is None or f[0].topic.key in told]
    note, score = max(usable or found, key=lambda f: f[1])
    return NoteFound(
        note_id=note.pk,
        title=note.title,
        text=note.text,
        topic=note.topic.key if note.topic else None,
        score=score,
        tool=note.tool,
        hands_over=note.hands_over,
        usable=bool(usable),
    )


def _may_lean(notes: Sequence[Note], message: str) -> bool:
    if len(message.split()) <= SHORT:
        return True
    vector = embed_one(message)
    return any(_closest(note.examples, vector) >= HALF_SAID for note in notes)


def _near(notes: Sequence[Note], vector: Vector, near: float) -> list[tuple[Note, float]]:
    scored = []
    for note in notes:
        score = _closest(note.examples, vector)
        if score >= near and score >= _closest(note.not_examples, vector) + AHEAD:
            scored.append((note, score))
    return scored


def _closest(texts: Sequence[str], vector: Vector) -> float:
    return max((float(np.dot(embed_one(str(t)), vector)) for t in texts), default=-1.0)


def _topics_known(customer_id: int | None, now: datetime) -> set[str]:
    if customer_id is None:
        return set()
    rows = Memory.objects.for_customer(customer_id).active(now).exclude(text="")
    return set(rows.filter(topic__isnull=False).values_list("topic__key", flat=True))
