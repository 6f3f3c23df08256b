"""Forgetting: the words go from every version and every copy; that something was there stays."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q

from memory import values
from memory.models import Conflict, Customer, Episode, Memory, MemoryEvent, Topic
from memory.types import Status

GONE = "[forgotten at the customer’s request]"
_SHORTEST = 4  # letters; a shorter value would blank half a transcript


def forget(rows: Iterable[Memory], *, at: datetime, now: datetime, actor: str) -> list[Memory]:
    """Blank text, value, quote and embedding of `rows`, of their events and in stored transcripts.

    Topic and dates stay. `at`: the time of the request; what was said before it does not come back.
    Call it under the customer's lock.
    """
    gone = [m for m in rows if m.text or m.value or m.status != Status.FORGOTTEN]
    ids = [m.pk for m in gone]
    Memory.objects.filter(pk__in=ids).update(**_BLANK, status=Status.FORGOTTEN, ended_at=at)
    MemoryEvent.objects.filter(memory_id__in=ids).update(before=None, after=None, evidence=None)
    open_cards = Conflict.objects.filter(Q(old_id__in=ids) | Q(new_id__in=ids), decided_at=None)
    open_cards.update(decided_at=now, decision="forgotten")
    unlearn(q for m in gone for q in _words_of(m))
    for m in gone:
        blank_transcripts(m.customer_id, _words_of(m))
        _rewrite_summary(m)
        MemoryEvent.objects.create(
            kind="memory.forgotten",
            at=now,
            actor=actor,
            customer_id=m.customer_id,
            memory_id=m.pk,
            topic_key=m.topic.key if m.topic else "",
            reason="forgotten at her request",
        )
    return gone


def unlearn(quotes: Iterable[str]) -> None:
    """What the review queue taught a topic in the customer's words goes as well."""
    gone = set(quotes)
    if not gone:
        return
    taught = [t.pk for t in Topic.objects.all() if gone & {*t.examples, *t.not_examples}]
    for topic in Topic.objects.select_for_update().filter(pk__in=taught).order_by("pk"):
        kept = [q for q in topic.examples if q not in gone]
        not_kept = [q for q in topic.not_examples if q not in gone]
        Topic.objects.filter(pk=topic.pk).update(
            examples=kept, not_examples=not_kept, version=F("version") + 1
        )


_BLANK: dict[str, Any] = {
    "text": "",
    "value": "",
    "quote": "",
    "quotes": [],
    "corrected_away": [],
    "corrected_away_why": "",
    "review_reason": "",
    "needs_review": False,
    "embedding": None,
    "embedding_model": "",
}


def _rewrite_summary(gone: Memory) -> None:
    """The summary of its conversation says no more that the topic was talked about."""
    if gone.topic is None or gone.episode_id is None:
        return
    label = gone.topic.label
    for m in Memory.objects.filter(kind="summary", episode_id=gone.episode_id):
        if label in m.text:
            text = m.text.replace(label, "something since forgotten")
            Memory.objects.filter(pk=m.pk).update(text=text, embedding=None, embedding_model="")


def forget_everything(customer: Customer, *, at: datetime, now: datetime) -> list[Memory]:
    """The words go at once; staff get an erase request with a due date for the rest."""
    rows = Memory.objects.for_customer(customer.pk).filter(stated_at__lte=at)
    gone = forget(rows.select_related("topic"), at=at, now=now, actor="customer")
    Episode.objects.filter(customer=customer, processed_at=None, ended_at__lt=at).update(
        dismissed=True, processed_at=now
    )
    request_erase(customer, now=now)
    return gone


def request_erase(customer: Customer, *, now: datetime, due: datetime | None = None) -> None:
    """Recall stops at once. A second request leaves the first due date."""
    if customer.erase_requested_at is not None:
        return
    customer.erase_requested_at = now
    customer.erase_due_at = due or now + timedelta(days=settings.MEMORY_ERASE_DAYS)
    customer.save(update_fields=["erase_requested_at", "erase_due_at"])
    MemoryEvent.objects.create(
        kind="customer.erase_requested", at=now, actor="customer", customer=customer
    )


def _words_of(m: Memory) -> set[str]:
    quotes = {str(q.get("quote", "")) for q in m.quotes if isinstance(q, dict)}
    told = {line for q in quotes | {m.quote} for line in q.split("\n")}
    return {w.strip() for w in {*told, *values.clauses(m.value)} if len(w.strip()) >= _SHORTEST}


def blank_transcripts(customer_id: int, words: Collection[str]) -> int:
    """Put GONE in place of `words` in every stored transcript of one customer."""
    changed = 0
    for episode in Episode.objects.filter(customer_id=customer_id):
        stored = _blanked(episode.transcript, words)
        if stored != episode.transcript:
            Episode.objects.filter(pk=episode.pk).update(transcript=stored)
            changed += 1
    return changed


def _blanked(transcript: dict[str, Any], words: Collection[str]) -> dict[str, Any]:
    longest_first = sorted(words, key=len, reverse=True)
    messages = []
    for m in transcript.get("messages", ()):
        text = m["text"]
        for word in longest_first:
            text = _without(text, word)
        messages.append({**m, "text": text})
    return {**transcript, "messages": messages}


def _without(text: str, word: str) -> str:
    """Whole words: a short value is not cut out of a longer word."""
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", GONE, text, flags=re.IGNORECASE)
