"""What staff answered for one customer alone: found when she asks the same again, for her alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import DateTimeField

from memory.lifecycle.locks import customer_locked
from memory.likeness import gist, normalise
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_one
from memory.models import Memory
from memory.prepared import Prepared, argument
from memory.types import AnswerCandidate, Vector

STAFF_ANSWER = "staff_answer"  # Memory.kind: a person's words that only this customer may see
# Cosine of her question to one that these words answered. As near as `SURE` it is the same one in
# other words; from `NEAR` on she is asked whether she means it: nobody else can be misled by that.
SURE, NEAR = 0.92, 0.6
MOST_WORDINGS = 20


@dataclass(frozen=True, slots=True)
class Hers:
    candidates: tuple[AnswerCandidate, ...] = ()  # the nearest first
    sure: bool = False


def told(
    *, ref: str, parts: Sequence[str], role: str, author: str, asked: str
) -> list[dict[str, Any]]:
    """Return what is kept beside the words: each message apart, whose they are, what was asked."""
    wordings = [asked] if asked.strip() else []
    kept = {"source": ref, "parts": list(parts), "role": role, "author": author}
    return [kept | {"wordings": wordings}]


def answers_for(
    customer_id: int | None, question: str, vector: Vector | None, *, now: datetime
) -> Hers:
    """Return what staff told her alone that answers `question`, and whether that is sure."""
    if customer_id is None:
        return Hers()
    found = []
    for m in _NEWEST_FIRST.instances(hers=customer_id, now=now):
        score, wording = max((_likeness(question, vector, w), w) for w in _wordings(m))
        if score >= NEAR:
            found.append(_candidate(m, score, wording))
    found.sort(key=lambda c: -c.score)
    return Hers(tuple(found), bool(found) and found[0].score >= SURE)


def own_answer(memory_id: int, *, customer_id: int, now: datetime) -> AnswerCandidate | None:
    """Return the one that she was offered, unless it is gone meanwhile."""
    m = _rows(customer_id, now).filter(pk=memory_id).first()
    return _candidate(m, 1.0, m.value) if m else None


def meant_hers(memory_id: int, *, customer_id: int, asked: str, now: datetime) -> None:
    """She chose it for this question: the same words are sure from now on, for her."""
    with customer_locked(customer_id):
        m = _rows(customer_id, now).filter(pk=memory_id).first()
        if m is None or not asked.strip():
            return
        kept = dict(_kept(m))
        wordings = [w for w in kept.get("wordings", []) if w != asked]
        kept["wordings"] = [*wordings, asked][-MOST_WORDINGS:]
        Memory.objects.filter(pk=m.pk).update(quotes=[kept])


def _rows(customer_id: Any, now: Any) -> Any:
    """Hers alone: there is no other way in here than by her own key."""
    hers = Memory.objects.for_customer(customer_id).active(now).filter(kind=STAFF_ANSWER)
    return hers.exclude(text="").exclude(value="")


_NEWEST_FIRST = Prepared(
    lambda: _rows(argument("hers"), argument("now", DateTimeField())).order_by("-stated_at", "-pk")
)


def _kept(m: Memory) -> dict[str, Any]:
    return m.quotes[0] if m.quotes else {}


def _wordings(m: Memory) -> list[str]:
    return [m.value, *map(str, _kept(m).get("wordings", []))]


def _likeness(question: str, vector: Vector | None, wording: str) -> float:
    if normalise(question) == normalise(wording) or (gist(question) == gist(wording) != ""):
        return 1.0
    if vector is None:
        return 0.0
    try:
        about = embed_one(wording)
    except Unavailable:
        return 0.0
    return min(0.99, max(0.0, float(about @ vector)))


def _candidate(m: Memory, score: float, wording: str) -> AnswerCandidate:
    kept = _kept(m)
    return AnswerCandidate(
        answer_id=0,
        memory_id=m.pk,
        title=m.value,
        parts=tuple(kept.get("parts") or [m.text]),
        role=str(kept.get("role", "")),
        author=str(kept.get("author", "")),
        said_on=m.stated_at,
        score=score,
        wording=wording,
        why="told this customer alone",
    )
