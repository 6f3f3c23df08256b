"""A person's very words, kept for everyone: added, revised, retired. Customers write none of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from pgvector.django import CosineDistance

from memory import tasks
from memory.lifecycle import embed_answers as embedding
from memory.lifecycle.locks import in_turn
from memory.lifecycle.write import record_event
from memory.likeness import normalise, same_question
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_one, embedder
from memory.models import Answer, AnswerMatch
from memory.speech import acts, bound
from memory.types import Category, Status

from .bell import ring_on_commit
from .votes import confirm_wording

# Cosine of two titles: of 350,000 pairs of different questions in one trade 8 are as near.
ASKED_AGAIN = 0.75
# The same, where the newer words say that something has changed and the older ones denied it.
CHANGED_SINCE = 0.6
OF_ONE_THING = 0.5  # cosine of those words
NOBODY = 0  # as `owner_id`: no one person is told when the answer is due for a look


def add_answer(
    *,
    title: str,
    parts: Sequence[str],
    by: str,
    now: datetime,
    staff_id: int | None = None,
    author_name: str = "",
    role: str = "",
    owner_id: int | None = None,
    source_ref: str = "",
    share_reason: str = "",
    valid_until: datetime | None = None,
    review_on: date | None = None,
    category: Category = Category.ESCALATION_ANSWER,
    pending: bool = False,
    wordings: Sequence[str] = (),
    dry_run: bool = False,
    again: bool = False,
) -> Answer:
    """Store the words byte for byte. A later answer to the same title supersedes the older one.

    `again`: nobody wrote the title, so the same question in nearly the same words is meant too.

    Findable by its words from the commit on; its vectors follow. `wordings`: confirmed by staff.
    Raises ValueError without a title or words.
    """
    answer = Answer(
        title=_title(title, parts),
        parts=list(parts),
        category=category,
        status=Status.PENDING if pending else Status.ACTIVE,
        author_id=staff_id,
        author_name=author_name,
        role=role,
        owner_id=(staff_id if owner_id is None else owner_id) or None,
        said_at=now,
        recorded_at=now,
        review_on=review_on or next_review(now),
        valid_until=valid_until,
        needs_review=pending,
        review_reason=share_reason[:200] if pending else "",
        share_reason=share_reason[:300],
        source_ref=source_ref[:120],
    )
    if not dry_run:
        _store(answer, wordings=wordings, by=by, now=now, again=again)
    return answer


def _title(title: str, parts: Sequence[str]) -> str:
    if not title.strip() or not any(p.strip() for p in parts):
        raise ValueError("an answer needs a title and words")
    return title.strip()


@transaction.atomic
def _store(answer: Answer, *, wordings: Sequence[str], by: str, now: datetime, again: bool) -> None:
    in_turn("answers")
    waits = answer.status == Status.PENDING
    old = None if waits else _make_room(answer, by=by, now=now, again=again)
    answer.save()
    record_event(
        "answer.created", at=now, actor=by, answer_id=answer.pk, reason=answer.share_reason
    )
    if old is not None:
        _inherit(old, answer)
    for wording in wordings:
        if normalise(wording) != normalise(answer.title):
            confirm_wording(answer.pk, asked=wording, now=now, staff_id=answer.author_id)
    ring_on_commit(tasks.embed_answers.delay)


def revise_answer(
    answer_id: int,
    *,
    title: str,
    parts: Sequence[str],
    by: str,
    now: datetime,
    staff_id: int | None = None,
    author_name: str = "",
    role: str = "",
    owner_id: int | None = None,
    source_ref: str = "",
    share_reason: str = "revised by staff",
    review_on: date | None = None,
    valid_until: datetime | None = None,
) -> Answer:
    """Put new words in an answer's place: the old row stays as history, its wordings move on.

    Whose words they are goes with them: what is not told is as it was, but not the end.
    `owner_id`: NOBODY takes the owner away.
    """
    with transaction.atomic():
        in_turn("answers")
        old = Answer.objects.select_for_update().get(pk=answer_id)
        if old.status == Status.ACTIVE:
            _close(old, Status.SUPERSEDED, by=by, reason="revised", now=now)
        theirs = staff_id is not None  # then no name of before may stand under their words
        new = add_answer(
            title=title,
            parts=parts,
            by=by,
            now=now,
            staff_id=staff_id if staff_id is not None else old.author_id,
            author_name=author_name if theirs else author_name or old.author_name,
            role=role if theirs else role or old.role,
            owner_id=(old.owner_id or NOBODY) if owner_id is None else owner_id,
            source_ref=source_ref or old.source_ref,
            share_reason=share_reason,
            review_on=review_on,
            valid_until=valid_until,
            category=Category(old.category),
        )
        _inherit(old, new)
    return new


def retire_answer(answer_id: int, *, by: str, reason: str, now: datetime) -> None:
    with transaction.atomic():
        in_turn("answers")
        answer = Answer.objects.select_for_update().get(pk=answer_id)
        if answer.status in (Status.ACTIVE, Status.PENDING):
            _close(answer, Status.RETRACTED, by=by, reason=reason, now=now)


def approve_answer(answer_id: int, *, by: str, now: datetime) -> Answer:
    """A pending answer goes to everyone, as the staff member's choice."""
    with transaction.atomic():
        in_turn("answers")
        answer = Answer.objects.select_for_update().get(pk=answer_id, status=Status.PENDING)
        old = _make_room(answer, by=by, now=now)
        answer.status, answer.needs_review, answer.review_reason = Status.ACTIVE, False, ""
        answer.recorded_at = now
        answer.save(update_fields=["status", "needs_review", "review_reason", "recorded_at"])
        if old is not None:
            _inherit(old, answer)
        record_event("answer.approved", at=now, actor=by, answer_id=answer.pk)
        ring_on_commit(tasks.embed_answers.delay)
    return answer


def contradicts(*, title: str, parts: Sequence[str]) -> Answer | None:
    """Return the active answer to this very title that says it in other words, to show beside."""
    other = _of_title(title)
    return other if other is not None and list(other.parts) != list(parts) else None


def _of_title(title: str) -> Answer | None:
    """The active answer to the same title, case and punctuation aside."""
    return _first(lambda known: normalise(known) == normalise(title))


def _asked_again(new: Answer) -> Answer | None:
    """The active answer to a question that says "now" on top, or the same in words very near."""
    same = _first(lambda known: same_question(known, new.title))
    return same or _asked_in_other_words(new)


def _first(is_same: Callable[[str], bool]) -> Answer | None:
    active = Answer.objects.filter(status=Status.ACTIVE).order_by("pk")
    found = next((pk for pk, known in active.values_list("pk", "title") if is_same(known)), None)
    return Answer.objects.get(pk=found) if found is not None else None


def _asked_in_other_words(new: Answer) -> Answer | None:
    """The active answer whose title is so near that two questions of one trade hardly ever are."""
    try:
        vector = embed_one(new.title)
        active = Answer.objects.filter(status=Status.ACTIVE)
        known = active.filter(embedding_model=embedder().model, title_embedding__isnull=False)
        far = CosineDistance("title_embedding", vector)
        near = known.annotate(far=far).order_by("far").values_list("far", "pk").first()
        found = [(1 - near[0], near[1])] if near is not None else []
        # those that the worker has yet to embed
        waiting = active.exclude(pk__in=known.values("pk"))
        found += [(float(embed_one(a.title) @ vector), a.pk) for a in waiting]
    except Unavailable:
        return None
    likeness, pk = max(found, default=(0.0, 0))
    if likeness < CHANGED_SINCE:
        return None
    old = Answer.objects.get(pk=pk)
    return old if likeness >= ASKED_AGAIN or _changed(old, new) else None


def _changed(old: Answer, new: Answer) -> bool:
    """ "We don't carve names", and later "Since March we carve them"."""
    before, after = (" ".join(a.parts) for a in (old, new))
    if not (acts.NEGATION.search(acts.plain(before)) and bound.CHANGED.search(after)):
        return False
    return float(embed_one(before) @ embed_one(after)) >= OF_ONE_THING


def _make_room(new: Answer, *, by: str, now: datetime, again: bool = False) -> Answer | None:
    """Close what stands under its title, before it takes that place: one active a title."""
    old = _of_title(new.title) or (_asked_again(new) if again else None)
    if old is not None:
        _close(old, Status.SUPERSEDED, by=by, reason="a newer answer to the same title", now=now)
    return old


def _close(answer: Answer, status: Status, *, by: str, reason: str, now: datetime) -> None:
    answer.status, answer.ended_at, answer.needs_review = status, now, False
    answer.save(update_fields=["status", "ended_at", "needs_review"])
    kind = "answer.superseded" if status is Status.SUPERSEDED else "answer.retired"
    record_event(kind, at=now, actor=by, answer_id=answer.pk, reason=reason)


def _inherit(old: Answer, new: Answer) -> None:
    """What customers call it does not change with the words of the answer."""
    Answer.objects.filter(pk=old.pk).update(superseded_by=new)
    votes = (AnswerMatch.Outcome.CHOSEN, AnswerMatch.Outcome.CONFIRMED)
    AnswerMatch.objects.filter(answer=old, outcome__in=votes).update(answer=new)


def next_review(now: datetime) -> date:
    return (now + timedelta(days=settings.MEMORY_REVIEW_DAYS)).date()


def embed_answers() -> int:
    """What the worker does after the commit, at once: for imports and measuring."""
    return embedding.embed_answers()
