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
from memory.types import AnswerCandidate, AnswerFor, Fact, Vector

from . import her_own
from .safety import Chat, Grave
from .stock import Stock, is_verified, stock

OFFERED = 3
SAID_ALREADY = 0.8  # share of an answer's words in the message before
SHORT = 9  # words; a follow-up that leans on the message before it ("and for children?")


def answer_for(
    question: str,
    *,
    customer_id: int | None,
    now: datetime,
    glossed: str = "",
    before: Sequence[str] = (),
    ref: str = "",
    record: bool = True,
    chat: Chat | None = None,
) -> AnswerFor:
    """Return the way out, and write down that it was asked.

    `glossed`: a question in another language word for word in English, which may be near to what
    is stored where her own words are not. Those are what is written down, and confirmed.
    What is grave about her and shares a word with question or answer blocks it: stored, waiting
    for a person, not read yet, or said in this `chat`.
    """
    kept = stock(now)
    verdict = _with_context(kept, question, before)
    if glossed and _sure(verdict) < 1:
        verdict = max(verdict, _with_context(kept, glossed, before), key=_sure)
    candidates = tuple(_candidate(kept, s) for s in verdict.candidates)
    hers = her_own.answers_for(customer_id, question, vector_of(question), now=now)
    if hers.candidates:
        verdict, candidates = _with_hers(hers, verdict, candidates)
    grave = Grave(customer_id, now=now, chat=chat)
    said = f"{question}\n{glossed}".strip()
    touch = {c.key: _since(c, grave.touched(said, [c])) for c in candidates}
    best = candidates[:1] if verdict.way != "gap" else ()
    blocked = touch[best[0].key] if best else ()
    if not blocked:
        # Beside the best one nothing that touches her is shown, nor can a model choose it.
        candidates = tuple(c for c in candidates if not touch[c.key])
        untouched = tuple(s for s in verdict.candidates if not touch.get(str(s.id)))
        verdict = replace(verdict, candidates=untouched)
    else:
        labels = ", ".join(sorted({f.label for f in blocked}))
        verdict = Verdict("gap", verdict.candidates, verdict.margin, f"touches: {labels}")
    told_her = verdict.way == "deliver" and candidates[0].memory_id is not None
    match = None
    if record:  # not where staff merely try what would be said
        shared = Verdict("gap", (), 0.0, verdict.reason) if told_her else verdict
        match = _record(question, shared, customer_id=customer_id, ref=ref, now=now)
    return AnswerFor(
        way=verdict.way,
        candidates=candidates,
        margin=verdict.margin,
        reason=verdict.reason,
        match_id=match.pk if match else None,
        blocked=blocked,
    )


def _sure(verdict: Verdict) -> float:
    return verdict.candidates[0].score if verdict.candidates else 0.0


def _with_hers(
    hers: her_own.Hers, verdict: Verdict, candidates: tuple[AnswerCandidate, ...]
) -> tuple[Verdict, tuple[AnswerCandidate, ...]]:
    """What staff told her alone comes first; where it is not sure she is asked, beside the rest."""
    if hers.sure:
        said = Verdict("deliver", (), 1.0, "told this customer alone, to the same question")
        return said, hers.candidates[:1]
    beside = candidates if verdict.way != "gap" else ()
    shown = (*hers.candidates, *beside)[:OFFERED]
    shared = {c.answer_id for c in shown if c.memory_id is None}
    scored = tuple(s for s in verdict.candidates if s.id in shared)
    return Verdict("offer", scored, 0.0, "near to what this customer was told"), shown


def _since(candidate: AnswerCandidate, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Who answered her alone knew what she had told by then; what came later was not weighed."""
    if candidate.memory_id is None:
        return facts
    return tuple(f for f in facts if f.stated_at > candidate.said_on)


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
    # Who asks on after an answer does not want it once more.
    fresh = tuple(s for s in wider.candidates if not _just_said(kept.answers[s.id], before[-1]))
    if wider.way == "gap" or not fresh or fresh[0].score < kept.index.cuts.offer:
        return verdict
    return Verdict("offer", fresh, wider.margin, "near, with the message before it")


def _just_said(answer: Answer, message: str) -> bool:
    """Say whether `message` holds nearly all words of the answer."""
    words = set(normalise(" ".join(answer.parts)).split())
    return len(words & set(normalise(message).split())) >= SAID_ALREADY * len(words)


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
        wordings=scored.firm,
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
