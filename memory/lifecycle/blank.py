"""Forgetting: the words go from every version and every copy; that something was there stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet

from memory import values
from memory.models import AnswerMatch, Conflict, Customer, Episode, Memory, MemoryEvent, Topic
from memory.types import GONE, Status

_SHORTEST = 4  # letters; a shorter value would blank half a transcript

Forgetter = Callable[[int, Collection[str]], None]
_elsewhere: dict[str, Forgetter] = {}


def also(app: str, forgetter: Forgetter) -> None:
    """Have `forgetter` blank the words of a customer in what `app` keeps."""
    _elsewhere[app] = forgetter


def forget(rows: Iterable[Memory], *, at: datetime, now: datetime, actor: str) -> list[Memory]:
    """Blank text, value, quote and embedding of `rows`, of their events and in stored transcripts.

    Topic and dates stay. `at`: the time of the request; what was said before it does not come back.
    Call it under the lock of the customer whose rows they are.
    """
    gone = [m for m in rows if m.text or m.value or m.status != Status.FORGOTTEN]
    ids = [m.pk for m in gone]
    unlearn(q for m in gone for q in quotes_of(m))  # locks topics, which come before memories
    Memory.objects.filter(pk__in=ids).update(**_BLANK, status=Status.FORGOTTEN, ended_at=at)
    MemoryEvent.objects.filter(memory_id__in=ids).update(before=None, after=None, evidence=None)
    open_cards = Conflict.objects.filter(Q(old_id__in=ids) | Q(new_id__in=ids), decided_at=None)
    open_cards.update(decided_at=now, decision="forgotten")
    if gone:
        blank_copies(gone[0].customer_id, set().union(*map(_words_of, gone)))
    for m in gone:
        _rewrite_summary(m)
        MemoryEvent.objects.create(
            kind="memory.forgotten",
            at=now,
            actor=actor,
            customer_id=m.customer_id,
            memory_id=m.pk,
            topic_key=m.topic.key if m.topic else "",
            reason="forgotten at the customer's request",
        )
    return gone


def taught_by(quotes: Collection[str]) -> QuerySet[Topic]:
    """The topics that have one of these quotes among their examples or counter-examples."""
    gone = _as_examples(quotes)
    taught = [t.pk for t in Topic.objects.all() if gone & {*t.examples, *t.not_examples}]
    return Topic.objects.filter(pk__in=taught)


def unlearn(quotes: Iterable[str]) -> None:
    """What the review queue taught a topic in the customer's words goes, from its history too."""
    gone = _as_examples(quotes)
    if not gone:
        return
    for topic in taught_by(gone).select_for_update(no_key=True).order_by("pk"):
        kept = [q for q in topic.examples if q not in gone]
        not_kept = [q for q in topic.not_examples if q not in gone]
        Topic.objects.filter(pk=topic.pk).update(
            examples=kept, not_examples=not_kept, version=F("version") + 1
        )
    for event in MemoryEvent.objects.filter(kind="topic.changed"):
        sides = [_without_lines(side, gone) for side in (event.before, event.after)]
        if sides != [event.before, event.after]:
            MemoryEvent.objects.filter(pk=event.pk).update(before=sides[0], after=sides[1])


def _as_examples(quotes: Iterable[str]) -> set[str]:
    """As they were taught, and as a form with one example a line has cut them since."""
    told = set(quotes)
    return (told | {line.strip() for quote in told for line in quote.splitlines()}) - {""}


def _without_lines(side: dict[str, Any] | None, gone: Collection[str]) -> dict[str, Any] | None:
    """A topic as an event tells of it, without these examples and counter-examples."""
    if side is None:
        return None
    lists = {name: side[name] for name in ("examples", "not_examples") if name in side}
    return side | {name: [q for q in told if q not in gone] for name, told in lists.items()}


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
    """The summary of its conversation no longer names the topic; none of hers holds its words."""
    for m in Memory.objects.filter(kind="summary", customer_id=gone.customer_id):
        text = m.text
        if gone.topic is not None and m.episode_id == gone.episode_id:
            text = text.replace(gone.topic.label, "something since forgotten")
        text = without(text, _words_of(gone))
        if text != m.text:
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


def quotes_of(m: Memory) -> set[str]:
    return {m.quote, *(str(q.get("quote", "")) for q in m.quotes if isinstance(q, dict))}


def _words_of(m: Memory) -> set[str]:
    return words_of([*quotes_of(m), m.text], m.value)


def words_of(told: Iterable[str], value: str) -> set[str]:
    """What to blank of a fact: sentences as they were told and said back, and its value.

    A value of filler words alone ("always") says nothing, and would blank what it does not mean.
    """
    lines = {line.strip().rstrip(".!") for text in told for line in text.split("\n")}
    parts = {clause for clause in values.clauses(value) if values.words(clause)}
    return {w for w in {*lines, *(p.strip() for p in parts)} if len(w) >= _SHORTEST}


def blank_copies(customer_id: int, words: Collection[str]) -> None:
    """Put GONE in place of `words` in everything that is kept of one customer's talk."""
    if not words:
        return
    for episode in Episode.objects.filter(customer_id=customer_id):
        stored = _blanked(episode.transcript, words)
        if stored != episode.transcript:
            Episode.objects.filter(pk=episode.pk).update(transcript=stored)
    for match in AnswerMatch.objects.filter(customer_id=customer_id):
        asked = without(match.asked, words)
        if asked != match.asked:
            # No vote of hers is found by these words again, nor taken for another one.
            AnswerMatch.objects.filter(pk=match.pk).update(
                asked=asked,
                asked_normalised=f"{GONE} {match.pk}",
                embedding=None,
                embedding_model="",
            )
    for m in Memory.objects.filter(customer_id=customer_id, kind="staff_answer"):
        held = {"text": m.text, "value": m.value, "quotes": m.quotes}
        left = without_in(held, words)
        if left != held:
            Memory.objects.filter(pk=m.pk).update(**left, embedding=None, embedding_model="")
            MemoryEvent.objects.filter(memory_id=m.pk).update(before=None, after=None)
    for forgetter in _elsewhere.values():
        forgetter(customer_id, words)


def without(text: str, words: Collection[str]) -> str:
    """Return `text` with GONE in place of each of `words`: whole words, the longest first."""
    for word in sorted(words, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", GONE, text, flags=re.IGNORECASE)
    return text


def without_in(data: Any, words: Collection[str]) -> Any:
    """`without`, in every text of a JSON value."""
    if isinstance(data, str):
        return without(data, words)
    if isinstance(data, list):
        return [without_in(item, words) for item in data]
    if isinstance(data, dict):
        return {key: without_in(value, words) for key, value in data.items()}
    return data


def _blanked(transcript: dict[str, Any], words: Collection[str]) -> dict[str, Any]:
    said = [{**m, "text": without(m["text"], words)} for m in transcript.get("messages", ())]
    return {**transcript, "messages": said}
