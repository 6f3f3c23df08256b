"""What was tried with one customer before something worked, read off what came of her questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pgvector.django import CosineDistance

from memory.models import Answer, AnswerMatch, Episode, Memory, MemoryEvent
from memory.types import Category, Evidence, MemoryType, Vector

KIND = "experience"  # Memory.kind
RECENT = timedelta(days=7)
# Cosine of two questions: what she turned down was for the like; what she was simply given may
# have been right, unless she asked the very same again in other words.
LIKE, SAME = 0.6, 0.8
_Outcome = AnswerMatch.Outcome
_TURNED_DOWN = (_Outcome.OPEN, _Outcome.REFUSED, _Outcome.SOMETHING_ELSE)


def chosen_in(episode: Episode) -> list[AnswerMatch]:
    """Return the questions of this part of a talk for which she chose one of the answers shown."""
    said = [m["at"] for m in episode.transcript.get("messages", []) if m.get("at")]
    if not said:
        return []
    rows = AnswerMatch.objects.filter(
        customer_id=episode.customer_id,
        outcome=_Outcome.CHOSEN,
        created_at__gte=datetime.fromisoformat(min(said)),
        decided_at__lte=episode.recorded_at,
    )
    return list(rows.order_by("pk"))


def worked_for(match: AnswerMatch) -> Answer | None:
    """Return the answer that this question ended with."""
    taken = match.answer_id or (match.offered[0] if len(match.offered) == 1 else None)
    return Answer.objects.filter(pk=taken or 0).first()


def tried_before(match: AnswerMatch, worked: Answer) -> list[str]:
    """Return the titles of what she was shown for the like shortly before, and did not mean."""
    if match.embedding is None or match.customer_id is None:
        return []
    rows = AnswerMatch.objects.filter(
        customer_id=match.customer_id,
        created_at__lte=match.created_at,
        created_at__gte=match.created_at - RECENT,
        embedding_model=match.embedding_model,
        embedding__isnull=False,
    )
    shown: list[int] = []
    for row in rows.annotate(far=CosineDistance("embedding", match.embedding)).order_by("pk"):
        likeness = 1.0 - row.far
        if row.outcome in _TURNED_DOWN and likeness >= LIKE:
            shown += [row.answer_id] if row.answer_id else row.offered
        elif row.outcome == _Outcome.DELIVERED and likeness >= SAME and row.answer_id:
            shown.append(row.answer_id)
    titles = dict(Answer.objects.filter(pk__in=shown).values_list("pk", "title"))
    others = dict.fromkeys(pk for pk in shown if pk != worked.pk and pk in titles)
    return [titles[pk] for pk in others]


def keep(
    customer_id: int,
    text: str,
    *,
    evidence: Evidence,
    reason: str,
    actor: str,
    now: datetime,
    like: tuple[Vector, str] | None = None,
) -> Memory:
    """Store it once; the same again is fresh again. Inside the customer's lock.

    `like`: the vector of the question, and its model: the like is what it is found by.
    """
    same = Memory.objects.for_customer(customer_id).filter(kind=KIND, text=text)
    made: Memory | None = same.first()
    if made is None:
        made = _new(customer_id, text, now, *(like or (None, "")))
    else:
        same.update(confirmed_at=now)
    MemoryEvent.objects.create(
        kind="memory.experience",
        at=now,
        actor=actor,
        customer_id=customer_id,
        memory_id=made.pk,
        reason=reason,
        evidence=evidence,
    )
    return made


def _new(customer_id: int, text: str, now: datetime, vector: Vector | None, model: str) -> Memory:
    made: Memory = Memory.objects.create(
        customer_id=customer_id,
        category=Category.CONFIRMED_FACT,
        memory_type=MemoryType.EPISODIC,
        kind=KIND,
        text=text,
        stated_at=now,
        recorded_at=now,
        confirmed_at=now,
        made_by="feedback",
        embedding=vector,
        embedding_model=model,
    )
    return made


def in_words(titles: Sequence[str]) -> str:
    return "; ".join(f"the answer to “{title}”" for title in titles)
