"""All answers in force with their wordings, ready to be asked: kept while no row changes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Count, DateTimeField, Max, Q, Sum, Value

from memory.lifecycle.match import Index
from memory.likeness import normalise
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed, embed_one, embedder
from memory.models import Answer, AnswerMatch, Customer
from memory.prepared import Prepared, argument
from memory.shelf import Stored
from memory.types import Vector

VOTES = (
    AnswerMatch.Outcome.CHOSEN,
    AnswerMatch.Outcome.REFUSED,
    AnswerMatch.Outcome.CONFIRMED,
)
TWO = 2  # different identified customers

_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Stock:
    index: Index
    answers: dict[int, Answer]
    rows: object  # changes with any row of them
    embedded: object | None  # how many were embedded, while some are not


_kept: dict[str, Stock] = {}  # one a database


def stock(now: datetime) -> Stock:
    """Return what can be asked at `now`. Made anew only when a row of it has changed."""
    name = str(connection.settings_dict["NAME"])
    rows, embedded = _stamp(now)
    with _lock:
        kept = _kept.get(name)
        if kept is None or kept.rows != rows or kept.embedded not in (None, embedded):
            kept = _kept[name] = _make(now, rows, embedded)
    return kept


def _stamp(now: datetime) -> tuple[object, object]:
    answers, votes = _ANSWERS(now=now), _VOTES()
    embedded = [tuple(n for *_, n in rows) for rows in (answers, votes)]
    return (embedder().model, *(tuple(of) for *of, _ in answers + votes)), embedded


_ANSWERS = Prepared(
    lambda: _counted(
        Answer.objects.active(argument("now", DateTimeField())), "recorded_at", "title_embedding"
    )
)
_VOTES = Prepared(
    lambda: _counted(AnswerMatch.objects.filter(_counts()), "decided_at", "embedding")
)


def _counted(rows: Any, changed: str, vector: str) -> Any:
    whole = rows.order_by().annotate(of=Value(1)).values("of")  # one group: all of them
    numbers = {"n": Count("pk"), "keys": Sum("pk"), "last": Max(changed), "with": Count(vector)}
    return whole.annotate(**numbers).values_list("of", *numbers)


def _counts() -> Q:
    return Q(outcome__in=VOTES) | Q(outcome=AnswerMatch.Outcome.SOMETHING_ELSE, verified=True)


def _make(now: datetime, rows: object, embedded: object) -> Stock:
    answers = {a.pk: a for a in Answer.objects.active(now).order_by("pk")}
    votes = list(AnswerMatch.objects.filter(_counts()).order_by("pk"))
    wordings = _wordings(v for v in votes if v.answer_id in answers)
    used = [v for firm, loose in wordings.values() for v in firm + loose]
    yields = _yields(answers.values(), wordings)
    complete = _embed_missing(answers.values(), used)
    stored = [
        _stored(a, *wordings.get(pk, ([], [])), yields.get(pk, frozenset()))
        for pk, a in answers.items()
    ]
    index = Index(stored, _outcomes(votes))
    return Stock(index, answers, rows, None if complete else embedded)


def _wordings(
    votes: Iterable[AnswerMatch],
) -> dict[int, tuple[list[AnswerMatch], list[AnswerMatch]]]:
    """Return for each answer the wordings that deliver it, and those that only rank it.

    Staff's word stands. Otherwise two different identified customers must have chosen it, and none
    refused: one customer, or one browser with many tokens, changes no delivery.
    """
    cast: dict[tuple[int, str], list[AnswerMatch]] = defaultdict(list)
    for vote in votes:
        cast[int(vote.answer_id or 0), vote.asked_normalised].append(vote)
    found: dict[int, tuple[list[AnswerMatch], list[AnswerMatch]]] = defaultdict(lambda: ([], []))
    for (answer, _), rows in cast.items():
        by_staff = [v for v in rows if v.outcome == AnswerMatch.Outcome.CONFIRMED]
        chosen = [v for v in rows if v.outcome == AnswerMatch.Outcome.CHOSEN and v.verified]
        refused = any(v.outcome == AnswerMatch.Outcome.REFUSED and v.verified for v in rows)
        if by_staff or (len({v.customer_id for v in chosen}) >= TWO and not refused):
            found[answer][0].append((by_staff or chosen)[0])
        elif chosen and not refused:
            found[answer][1].append(chosen[0])
    return found


def _yields(
    answers: Collection[Answer],
    wordings: Mapping[int, tuple[list[AnswerMatch], list[AnswerMatch]]],
) -> dict[int, frozenset[str]]:
    """Return for each answer the wordings that staff later gave to another one.

    A title is staff's word too. Customers alone take no wording from each other: then it is asked.
    """
    said: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for a in answers:
        said[normalise(a.title)].append((a.recorded_at, a.pk))
    for pk, (firm, _) in wordings.items():
        for v in firm:
            if v.outcome == AnswerMatch.Outcome.CONFIRMED:
                said[v.asked_normalised].append((v.decided_at or v.created_at, pk))
    meant = {text: max(by_staff)[1] for text, by_staff in said.items()}
    lost: dict[int, set[str]] = defaultdict(set)
    for a in answers:
        if meant[normalise(a.title)] != a.pk:
            lost[a.pk].add(normalise(a.title))
    for pk, (firm, _) in wordings.items():
        for v in firm:
            if meant.get(v.asked_normalised, pk) != pk:
                lost[pk].add(v.asked_normalised)
    return {pk: frozenset(texts) for pk, texts in lost.items() if texts}


def _stored(
    answer: Answer, firm: list[AnswerMatch], loose: list[AnswerMatch], yields: frozenset[str]
) -> Stored:
    lines: list[tuple[str, Any]] = [(answer.title, _of_model(answer, answer.title_embedding))]
    lines += [(v.asked, _of_model(v, v.embedding)) for v in firm]
    return Stored(
        id=answer.pk,
        wordings=tuple(w for w, _ in lines),
        vectors=tuple(v for _, v in lines),
        text=answer.text,
        text_vector=_of_model(answer, answer.text_embedding),
        doubtful=tuple((v.asked, _of_model(v, v.embedding)) for v in loose),
        yields=yields,
    )


def _outcomes(votes: Sequence[AnswerMatch]) -> list[tuple[float, bool]]:
    """Score and "the first was right" of what was offered or delivered: one voice a customer."""
    voices: dict[object, tuple[float, bool]] = {}
    for v in votes:
        by_staff = v.outcome == AnswerMatch.Outcome.CONFIRMED
        if not v.offered or not (by_staff or v.verified):
            continue
        right = v.answer_id == v.offered[0] and v.outcome != AnswerMatch.Outcome.REFUSED
        voices[v.pk if by_staff else ("customer", v.customer_id)] = (v.score, right)
    return list(voices.values())


def _of_model(row: Answer | AnswerMatch, vector: Any) -> Vector | None:
    """Rows of two models are never compared: without a vector of this one, letters stand in."""
    if vector is None or row.embedding_model != embedder().model:
        return None
    plain = vector.to_list() if hasattr(vector, "to_list") else vector
    return np.asarray(plain, np.float32)


def _embed_missing(answers: Iterable[Answer], votes: Iterable[AnswerMatch]) -> bool:
    """Fill in what the worker has not embedded yet, for this index alone."""
    try:
        for a in answers:
            if _of_model(a, a.title_embedding) is None or _of_model(a, a.text_embedding) is None:
                a.title_embedding, a.text_embedding = map(_as_stored, embed([a.title, a.text]))
                a.embedding_model = embedder().model
        for v in votes:
            if _of_model(v, v.embedding) is None:
                v.embedding, v.embedding_model = _as_stored(embed_one(v.asked)), embedder().model
    except Unavailable:
        return False
    return True


def _as_stored(vector: Vector) -> Vector:
    """Half precision, as the column has it: every process sees the same numbers."""
    return vector.astype(np.float16).astype(np.float32)


def is_verified(customer_id: int | None) -> bool:
    if customer_id is None:
        return False
    return bool(_IDENTIFIED(hers=customer_id))


_IDENTIFIED = Prepared(
    lambda: Customer.objects.filter(pk=argument("hers"), kind=Customer.Kind.IDENTIFIED).values_list(
        "pk"
    )
)
