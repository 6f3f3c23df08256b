"""All answers in force with their wordings, ready to be asked: kept while no row changes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from django.db.models import Count, DateTimeField, Max, Q, Sum, Value

from memory.lifecycle.match import Index
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed, embedder
from memory.models import Answer, AnswerMatch, Customer
from memory.prepared import Prepared, argument
from memory.shelf import Stored
from memory.types import Vector

from . import heard

VOTES = (
    AnswerMatch.Outcome.CHOSEN,
    AnswerMatch.Outcome.REFUSED,
    AnswerMatch.Outcome.CONFIRMED,
)

_lock = threading.Lock()


class Line(NamedTuple):
    """Words of a row, whose vector is the same as long as they are."""

    column: str
    row: int
    words: str
    model: str


@dataclass(frozen=True, slots=True)
class Stock:
    index: Index
    answers: dict[int, Answer]
    vectors: Mapping[Line, Vector]
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
            kept = _kept[name] = _make(now, rows, embedded, before=kept)
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


def _make(now: datetime, rows: object, embedded: object, *, before: Stock | None) -> Stock:
    """What the one before had is not read again: a vector is most of its row, and slow to parse."""
    active = Answer.objects.active(now).defer("title_embedding", "text_embedding")
    answers = {a.pk: a for a in active.order_by("pk")}
    votes = list(AnswerMatch.objects.filter(_counts()).defer("embedding").order_by("pk"))
    wordings = heard.wordings(votes, answers)
    used = [v for firm, loose in wordings.values() for v in firm + loose]
    yields = heard.yields(answers.values(), wordings)
    lines = [line for a in answers.values() for line in (_title(a), _text(a))]
    lines += [_asked(v) for v in used]
    stored_vectors = _vectors(lines, before.vectors if before else {})
    made = _missing([line for line in lines if line not in stored_vectors])
    vectors = stored_vectors | (made or {})
    stored = [
        _stored(a, *wordings.get(pk, ([], [])), yields.get(pk, frozenset()), vectors)
        for pk, a in answers.items()
    ]
    index = Index(
        stored,
        heard.outcomes(votes),
        new=heard.new_share(votes, answers),
        before=before.index if before else None,
    )
    return Stock(index, answers, stored_vectors, rows, None if made is not None else embedded)


def _title(answer: Answer) -> Line:
    return Line("title_embedding", answer.pk, answer.title, embedder().model)


def _text(answer: Answer) -> Line:
    return Line("text_embedding", answer.pk, answer.text, embedder().model)


def _asked(vote: AnswerMatch) -> Line:
    return Line("embedding", vote.pk, vote.asked, embedder().model)


def _vectors(lines: Iterable[Line], known: Mapping[Line, Vector]) -> dict[Line, Vector]:
    """Return what is stored of these. Rows of two models are never compared."""
    found = {line: known[line] for line in lines if line in known}
    left: dict[str, dict[int, Line]] = defaultdict(dict)
    for line in lines:
        if line not in found:
            left[line.column][line.row] = line
    for column, by_row in left.items():
        table = AnswerMatch if column == "embedding" else Answer
        rows = table._default_manager.filter(pk__in=by_row, embedding_model=embedder().model)
        for pk, vector in rows.exclude(**{column: None}).values_list("pk", column):
            found[by_row[pk]] = np.asarray(vector, np.float32)
    return found


def _missing(lines: Sequence[Line]) -> dict[Line, Vector] | None:
    """Make what the worker has not embedded yet, for this index alone. None: nobody can now.

    Half precision, as the column has it: every process sees the same numbers.
    """
    try:
        made = embed([line.words for line in lines]) if lines else []
    except Unavailable:
        return None
    halved = [v.astype(np.float16).astype(np.float32) for v in made]
    return dict(zip(lines, halved, strict=True))


def _stored(
    answer: Answer,
    firm: list[AnswerMatch],
    loose: list[AnswerMatch],
    yields: frozenset[str],
    vectors: Mapping[Line, Vector],
) -> Stored:
    """Where a vector is missing, letters stand in."""
    lines = [_title(answer), *map(_asked, firm)]
    return Stored(
        id=answer.pk,
        wordings=tuple(line.words for line in lines),
        vectors=tuple(map(vectors.get, lines)),
        text=answer.text,
        text_vector=vectors.get(_text(answer)),
        doubtful=tuple((v.asked, vectors.get(_asked(v))) for v in loose),
        yields=yields,
    )


def is_verified(customer_id: int | None) -> bool:
    if customer_id is None:
        return False
    return bool(_IDENTIFIED(hers=customer_id))


_IDENTIFIED = Prepared(
    lambda: Customer.objects.filter(pk=argument("hers"), kind=Customer.Kind.IDENTIFIED).values_list(
        "pk"
    )
)
