"""One answer for all who wait for it, after staff confirmed the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from . import claim, compare, reply
from .models import Question


@dataclass
class FanOut:
    told: list[Question] = field(default_factory=list)
    skipped: list[tuple[Question, User]] = field(default_factory=list)  # a colleague has it
    touched: list[tuple[Question, str]] = field(default_factory=list)  # a person compares first
    gone: list[Question] = field(default_factory=list)  # settled, or more was asked, meanwhile


def answer_all(
    questions: Sequence[Question], answer_id: int, *, staff: User, now: datetime
) -> FanOut:
    """Give each waiting customer the answer in its very words, in order of primary key.

    Not whom it touches: hers is looked at by itself.
    """
    result = FanOut()
    answer = compare.candidate(answer_id)
    for question in sorted(questions, key=lambda q: (q.escalation_id, q.pk)):
        facts = compare.touched_by(answer, question.escalation.conversation, question, now=now)
        if facts:
            result.touched.append((question, compare.labels(facts)))
            continue
        try:
            _answer_one(question, answer_id, staff=staff, now=now)
        except claim.AlreadyClaimed as exc:
            result.skipped.append((question, exc.by))
        except (claim.Closed, claim.NotYours, claim.MoreAsked):
            result.gone.append(question)
        else:
            result.told.append(question)
    return result


@transaction.atomic
def _answer_one(question: Question, answer_id: int, *, staff: User, now: datetime) -> None:
    escalation = claim.claim(question.escalation_id, staff=staff, now=now)
    reply.send_answer(
        escalation.pk, answer_id, staff=staff, question=question, seen_seq=None, now=now
    )
    if escalation.questions.filter(answer=None).exclude(pk=question.pk).exists():
        claim.release(escalation.pk, staff=staff, now=now)  # her other question still waits
    else:
        reply.resolve(escalation.pk, staff=staff, now=now)
