"""Putting a question to the stored answers: deliver, offer, or a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q

from memory import secrets, values
from memory.lifecycle.match import Scored, Verdict
from memory.likeness import normalise
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_one, embedder
from memory.models import Answer, AnswerMatch, Memory
from memory.types import AnswerCandidate, AnswerFor, Category, Fact, Recalled, Vector

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
    recalled: Recalled | None = None,
) -> AnswerFor:
    """Return the way out, and write down that it was asked. What the words touch blocks it."""
    kept = stock(now)
    verdict = _with_context(kept, question, before)
    candidates = tuple(_candidate(kept, s) for s in verdict.candidates)
    blocked: tuple[Fact, ...] = ()
    if verdict.way != "gap":
        shown = candidates[:1] if verdict.way == "deliver" else candidates
        blocked = touched_facts(question, shown, customer_id=customer_id, now=now)
    if blocked:
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


def touched_facts(
    question: str,
    answers: Iterable[AnswerCandidate],
    *,
    customer_id: int | None,
    now: datetime,
) -> tuple[Fact, ...]:
    """Return her permanent and sensitive facts that share a word with question or answers."""
    if customer_id is None:
        return ()
    spoken = _stems(question)
    for a in answers:
        spoken |= _stems(" ".join((a.title, *a.parts)))
    rows = (
        Memory.objects.for_customer(customer_id)
        .active(now)
        .filter(Q(permanent=True) | Q(sensitive=True))
        .exclude(category=Category.ESCALATION_ANSWER)
        .select_related("topic")
    )
    return tuple(_fact(m) for m in rows if _says(m) & spoken)


def _says(m: Memory) -> set[str]:
    """The words of a fact that carry it: not those of its topic's name."""
    named = _stems(f"{m.topic.label} {m.topic.key}") if m.topic else set()
    return _stems(f"{m.value or m.text}") - named or _stems(m.text) - named


def _stems(text: str) -> set[str]:
    """First letters stand for the word: "allergic" and "allergy", "pregnant" and "pregnancy"."""
    plain = (w.rstrip("s") for w in values.words(text) if len(w) > 3 and not w.isdigit())
    return {w[: max(4, round(len(w) * 0.6))] for w in plain} - _COMMON


# Too frequent in answers to say anything about one customer.
_COMMON = {w[:4] for w in ("take", "need", "call", "time", "week", "month", "year", "hour", "days")}


def _fact(m: Memory) -> Fact:
    return Fact(
        id=m.pk,
        customer_id=m.customer_id,
        topic=m.topic.key if m.topic else None,
        label=m.topic.label if m.topic else m.category.replace("_", " "),
        category=Category(m.category),
        text=m.text,
        value=m.value,
        stated_at=m.stated_at,
        sensitive=m.sensitive,
    )


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


def _candidate(kept: Stock, scored: Scored) -> AnswerCandidate:
    answer: Answer = kept.answers[scored.id]
    return AnswerCandidate(
        answer_id=answer.pk,
        title=answer.title,
        parts=tuple(answer.parts),
        role=answer.role,
        author=answer.author_name,
        said_on=answer.said_at,
        score=scored.score,
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
