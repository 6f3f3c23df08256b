"""Putting a question to the stored answers: deliver, offer, or a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory import secrets
from memory.lifecycle.match import Scored, Verdict
from memory.likeness import normalise
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_one, embedder
from memory.models import Answer, AnswerMatch
from memory.types import AnswerCandidate, AnswerFor, Vector

from .safety import Chat, Grave
from .stock import Stock, is_verified, stock

OFFERED = 3
SHORT = 9  # words; a follow-up that leans on the message before it ("and for children?")


def answer_for(
    question: str,
    *,
    customer_id: int | None,
    now: datetime,
    before: Sequence[str] = (),
    ref: str = "",
    record: bool = True,
    chat: Chat | None = None,
) -> AnswerFor:
    """Return the way out, and write down that it was asked.

    What is grave about her and shares a word with question or answer blocks it: stored, waiting
    for a person, not read yet, or said in this `chat`.
    """
    kept = stock(now)
    verdict = _with_context(kept, question, before)
    candidates = tuple(_candidate(kept, s) for s in verdict.candidates)
    grave = Grave(customer_id, now=now, chat=chat)
    touch = {c.answer_id: grave.touched(question, [c]) for c in candidates}
    best = candidates[:1] if verdict.way != "gap" else ()
    blocked = touch[best[0].answer_id] if best else ()
    if not blocked:
        # Beside the best one nothing that touches her is shown, nor can a model choose it.
        candidates = tuple(c for c in candidates if not touch[c.answer_id])
        untouched = tuple(s for s in verdict.candidates if not touch[s.id])
        verdict = replace(verdict, candidates=untouched)
    else:
        labels = ", ".join(sorted({f.label for f in blocked}))
        verdict = Verdict("gap", verdict.candidates, verdict.margin, f"touches: {labels}")
    match = None
    if record:  # not where staff merely try what would be said
        match = _record(question, verdict, customer_id=customer_id, ref=ref, now=now)
    return AnswerFor(
        way=verdict.way,
        candidates=candidates,
        margin=verdict.margin,
        reason=verdict.reason,
        match_id=match.pk if match else None,
        blocked=blocked,
    )


def similar_answers(question: str, *, now: datetime, limit: int = 5) -> list[AnswerCandidate]:
    """Return the nearest answers for the desk, whatever a customer would be shown."""
    kept = stock(now)
    verdict = kept.index.ask(question, vector_of(question), top=limit)
    return [_candidate(kept, s) for s in verdict.candidates]


def vector_of(text: str) -> Vector | None:
    try:
        return embed_one(text)
    except Unavailable:
        return None


def _with_context(kept: Stock, question: str, before: Sequence[str]) -> Verdict:
    """A short follow-up is read with the message before it, and then never delivered unasked."""
    verdict = kept.index.ask(question, vector_of(question))
    if verdict.way != "gap" or not before or len(re.findall(r"\w+", question)) > SHORT:
        return verdict
    whole = f"{before[-1].strip()} {question}"
    wider = kept.index.ask(whole, vector_of(whole))
    if wider.way == "gap":
        return verdict
    return Verdict("offer", wider.candidates, wider.margin, "near, with the message before it")


def as_candidate(answer: Answer, *, score: float = 1.0) -> AnswerCandidate:
    """A stored answer as it is shown: the very words, whose they are and since when."""
    return AnswerCandidate(
        answer_id=answer.pk,
        title=answer.title,
        parts=tuple(answer.parts),
        role=answer.role,
        author=answer.author_name,
        said_on=answer.said_at,
        score=score,
    )


def _candidate(kept: Stock, scored: Scored) -> AnswerCandidate:
    return replace(
        as_candidate(kept.answers[scored.id], score=scored.score),
        wording=scored.wording,
        why=", ".join(f"{name} {part:.2f}" for name, part in scored.parts.items()),
    )


def _record(
    question: str, verdict: Verdict, *, customer_id: int | None, ref: str, now: datetime
) -> AnswerMatch:
    delivered = verdict.way == "deliver"
    shown = {"deliver": 1, "offer": OFFERED, "gap": 0}[verdict.way]
    best = verdict.candidates[0] if verdict.candidates else None
    vector = vector_of(question)
    question = secrets.blank(question)
    return AnswerMatch.objects.create(
        answer_id=best.id if delivered and best else None,
        customer_id=customer_id,
        asked=question,
        asked_normalised=normalise(question),
        offered=[c.id for c in verdict.candidates[:shown]],
        embedding=vector,
        embedding_model=embedder().model if vector is not None else "",
        score=min(max(best.score if best else 0.0, 0.0), 1.0),
        margin=verdict.margin,
        outcome=AnswerMatch.Outcome.DELIVERED if delivered else AnswerMatch.Outcome.OPEN,
        verified=is_verified(customer_id),
        ref=ref,
        created_at=now,
    )
