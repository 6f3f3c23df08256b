"""Forgetting: the words go from every version and every copy; that something was there stays."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from memory import values
from memory.models import Conflict, Episode, Memory, MemoryEvent
from memory.types import Status

GONE = "[forgotten at the customer’s request]"
_SHORTEST = 4  # letters; a shorter value would blank half a transcript


def blank(rows: Iterable[Memory], *, at: datetime) -> None:
    """Blank text, value, quote and embedding of `rows`, of their events and in stored transcripts.

    Topic and dates stay. `at`: the time of the request; what was said before it does not come back.
    Call it under the customer's lock.
    """
    rows = list(rows)
    ids = [m.pk for m in rows]
    words = {w for m in rows for w in _words_of(m)}
    Memory.objects.filter(pk__in=ids, status=Status.ACTIVE).update(ended_at=at)
    Memory.objects.filter(pk__in=ids).update(
        status=Status.FORGOTTEN,
        text="",
        value="",
        quote="",
        quotes=[],
        corrected_away=[],
        corrected_away_why="",
        review_reason="",
        needs_review=False,
        embedding=None,
        embedding_model="",
        ended_at=at,
    )
    MemoryEvent.objects.filter(memory_id__in=ids).update(before=None, after=None, evidence=None)
    Conflict.objects.filter(old_id__in=ids, decided_at=None).update(decided_at=at, decision="keep")
    Conflict.objects.filter(new_id__in=ids, decided_at=None).update(decided_at=at, decision="keep")
    for customer_id in {m.customer_id for m in rows}:
        blank_transcripts(customer_id, words)


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
    at = text.casefold().find(word.casefold())
    while at >= 0:
        text = text[:at] + GONE + text[at + len(word) :]
        at = text.casefold().find(word.casefold(), at + len(GONE))
    return text
