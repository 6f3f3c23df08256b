"""What waits for a person's decision, the most needed first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from memory.models import Answer, AnswerMatch, Conflict, Memory
from memory.types import Category, Status

WEEK = timedelta(days=7)
READ = 500  # of each kind, at most

Subject = Memory | Conflict | Answer


@dataclass(frozen=True, slots=True)
class Waiting:
    # "memory", "conflict", "answer"; what waits: "wording" (an answer), "procedure" (a how-to)
    kind: str
    subject: Subject
    before: str
    after: str
    quote: str
    why: str
    needed: int  # questions of the last week that it would have had a part in
    since: datetime
    due_at: datetime | None = None
    sensitive: bool = False
    memories: tuple[Memory, ...] = ()  # whose words are shown

    @property
    def pk(self) -> int:
        return self.subject.pk

    @property
    def made_from(self) -> Memory | None:
        """The memory whose conversation explains it."""
        return self.memories[-1] if self.memories else None


def to_review(when: datetime) -> list[Waiting]:
    needed = _needed(when)
    found = [*_memories(needed), *_conflicts(needed), *_answers(needed, when)]
    return sorted(found, key=lambda w: (-w.needed, w.since))


def number_to_review(when: datetime, *, staff_id: int | None = None) -> int:
    """`staff_id`: without answers that are merely due for a look of somebody else."""
    answers = _doubted(when)
    if staff_id is not None:
        anothers = Q(owner__is_active=True) & ~Q(owner=staff_id)
        answers = answers.exclude(anothers, status=Status.ACTIVE, needs_review=False)
    return sum(rows.count() for rows in (_doubtful(), _open_conflicts(), answers))


def _needed(when: datetime) -> Counter[tuple[str, int]]:
    """Count last week's questions by customer and by answer."""
    recent = AnswerMatch.objects.filter(created_at__gt=when - WEEK)
    count: Counter[tuple[str, int]] = Counter()
    for customer, answer, offered in recent.values_list("customer_id", "answer_id", "offered"):
        if customer is not None:
            count["customer", customer] += 1
        for pk in {answer, *(offered or [])} - {None}:
            count["answer", pk] += 1
    return count


def _doubtful() -> QuerySet[Memory]:
    """What waits, and what stands in doubt; what a conflict card shows is not shown twice."""
    in_conflict = Conflict.objects.filter(decided_at=None).values("new_id")
    doubt = Q(status=Status.PENDING) | Q(status=Status.ACTIVE, needs_review=True)
    return Memory.objects.filter(doubt).exclude(pk__in=in_conflict)


def _memories(needed: Counter[tuple[str, int]]) -> list[Waiting]:
    rows = _doubtful().select_related("topic", "customer", "episode").order_by("recorded_at")
    found = list(rows[:READ])
    before = _before(found)
    return [
        Waiting(
            kind="memory",
            subject=m,
            before=before.get(m.pk, ""),
            after=m.text or m.value,
            quote=m.quote,
            why=m.review_reason,
            needed=needed["customer", m.customer_id],
            since=m.recorded_at,
            sensitive=m.sensitive,
            memories=(m,),
        )
        for m in found
    ]


def _before(memories: list[Memory]) -> dict[int, str]:
    """What stands on a topic of one value now, or what a doubtful value has replaced."""
    single = [m for m in memories if m.single_valued and m.topic_id is not None]
    standing = {
        (m.customer_id, m.topic_id): m.text or m.value
        for m in Memory.objects.filter(
            status=Status.ACTIVE,
            customer__in={m.customer_id for m in single},
            topic__in={m.topic_id for m in single},
        )
    }
    replaced = {
        m.superseded_by_id: m.text or m.value
        for m in Memory.objects.filter(superseded_by__in=[m.pk for m in memories])
    }
    told = {}
    for m in memories:
        waits = m.status == Status.PENDING and m.single_valued
        told[m.pk] = (
            standing.get((m.customer_id, m.topic_id), "") if waits else replaced.get(m.pk, "")
        )
    return told


def _open_conflicts() -> QuerySet[Conflict]:
    return Conflict.objects.filter(decided_at=None)


def _conflicts(needed: Counter[tuple[str, int]]) -> list[Waiting]:
    rows = _open_conflicts().select_related("customer", "topic", "old__topic", "new__topic")
    rows = rows.select_related("new__episode").order_by("due_at")
    return [
        Waiting(
            kind="conflict",
            subject=c,
            before=c.old.text or c.old.value,
            after=c.new.text or c.new.value,
            quote=c.new.quote,
            why="",
            needed=needed["customer", c.customer_id] + 1,  # withheld till then: never the last
            since=c.opened_at,
            due_at=c.due_at,
            sensitive=c.old.sensitive or c.new.sensitive,
            memories=(c.old, c.new),
        )
        for c in rows[:READ]
    ]


def _doubted(when: datetime) -> QuerySet[Answer]:
    """Stale ones, doubted ones, and those that wait before anybody else sees them."""
    doubted = Q(review_on__lte=when.date()) | Q(needs_review=True)
    return Answer.objects.filter(Q(status=Status.ACTIVE) & doubted | Q(status=Status.PENDING))


def kind_of(answer: Answer) -> str:
    if answer.status != Status.PENDING:
        return "answer"
    return "procedure" if answer.category == Category.LEARNED_PROCEDURE else "wording"


def _answers(needed: Counter[tuple[str, int]], when: datetime) -> list[Waiting]:
    return [
        Waiting(
            kind=kind_of(a),
            subject=a,
            before="",
            after=a.text,
            quote="",
            why=a.review_reason or (a.share_reason if a.status == Status.PENDING else ""),
            needed=needed["answer", a.pk],
            since=a.said_at,
        )
        for a in _doubted(when).select_related("owner").order_by("review_on")[:READ]
    ]
