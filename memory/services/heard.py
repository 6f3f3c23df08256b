"""What people said of the answers, read from the votes: wordings, verdicts, how much is new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from memory.likeness import normalise
from memory.models import Answer, AnswerMatch, Customer

TURNED = (AnswerMatch.Outcome.CHOSEN, AnswerMatch.Outcome.SOMETHING_ELSE)
TWO = 2  # different identified customers
LATELY = 100  # customers whose last question says how much is new
EVEN = 6  # so many beside them asked what is new and what is not in equal parts

# For each answer the votes whose wordings deliver it, and those whose wordings only rank it.
Wordings = dict[int, tuple[list[AnswerMatch], list[AnswerMatch]]]


def wordings(votes: Iterable[AnswerMatch], answers: Mapping[int, Answer]) -> Wordings:
    """Return for each answer the wordings that deliver it, and those that only rank it.

    Staff's word stands. Otherwise two different identified customers must have chosen it, two more
    for each who was offered it and meant something else, and none refused: one customer, or one
    browser with many tokens, changes no delivery.
    """
    cast: dict[tuple[int, str], list[AnswerMatch]] = defaultdict(list)
    passed: dict[tuple[int, str], set[int | None]] = defaultdict(set)
    for vote in votes:
        if vote.answer_id in answers:
            cast[int(vote.answer_id or 0), vote.asked_normalised].append(vote)
        for other in _passed_over(vote):
            passed[other, vote.asked_normalised].add(vote.customer_id)
    found: Wordings = defaultdict(lambda: ([], []))
    for (answer, text), rows in cast.items():
        if text == normalise(answers[answer].title):
            continue  # said twice it would look as if two had asked
        by_staff = [v for v in rows if v.outcome == AnswerMatch.Outcome.CONFIRMED]
        chosen = [v for v in rows if v.outcome == AnswerMatch.Outcome.CHOSEN and v.verified]
        refused = any(v.outcome == AnswerMatch.Outcome.REFUSED and v.verified for v in rows)
        for_it, against = len({v.customer_id for v in chosen}), len(passed[answer, text])
        if by_staff or (for_it >= TWO * (1 + against) and not refused):
            found[answer][0].append((by_staff or chosen)[0])
        elif for_it > against and not refused:
            found[answer][1].append(chosen[0])
    return found


def _passed_over(vote: AnswerMatch) -> list[int]:
    """Answers that an identified customer was offered for her words, and did not mean."""
    if not vote.verified or vote.outcome not in TURNED:
        return []
    if vote.outcome == AnswerMatch.Outcome.CHOSEN and vote.answer_id is None:
        return []  # said once more: the vote itself stands in an earlier row
    return [shown for shown in vote.offered if shown != vote.answer_id]


def new_share(votes: Sequence[AnswerMatch], answers: Mapping[int, Answer]) -> float:
    """Return the share of what was asked lately that nothing stored answered: one voice a customer.

    What staff answered with words of before was known, what they wrote then was not. Of visitors
    only what reached staff would count, and that is mostly new: they have no voice here.
    """
    asked = {v.customer_id for v in votes if v.customer_id is not None}
    identified = Customer.objects.filter(pk__in=asked, kind=Customer.Kind.IDENTIFIED)
    known = set(identified.values_list("pk", flat=True)) if asked else set()
    voices: dict[int, tuple[datetime, bool]] = {}
    for v in votes:
        new = _was_new(v, answers)
        if v.customer_id in known and new is not None:
            voices[v.customer_id] = (v.decided_at or v.created_at, new)
    lately = sorted(voices.values(), reverse=True)[:LATELY]
    return (sum(new for _, new in lately) + EVEN / 2) / (len(lately) + EVEN)


def _was_new(vote: AnswerMatch, answers: Mapping[int, Answer]) -> bool | None:
    answer = answers.get(vote.answer_id or 0)
    if vote.outcome == AnswerMatch.Outcome.CONFIRMED:
        return answer.said_at >= vote.created_at if answer else None
    if not vote.verified or not vote.offered:
        return None
    return {
        AnswerMatch.Outcome.CHOSEN.value: False,
        AnswerMatch.Outcome.SOMETHING_ELSE.value: True,
    }.get(vote.outcome)


def yields(
    answers: Collection[Answer],
    wordings: Wordings,
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


def outcomes(votes: Sequence[AnswerMatch]) -> list[tuple[float, bool]]:
    """Score and "the first was right" of what was offered or delivered: one voice a customer."""
    voices: dict[object, tuple[float, bool]] = {}
    for v in votes:
        by_staff = v.outcome == AnswerMatch.Outcome.CONFIRMED
        if not v.offered or not (by_staff or v.verified):
            continue
        right = v.answer_id == v.offered[0] and v.outcome != AnswerMatch.Outcome.REFUSED
        voices[v.pk if by_staff else ("customer", v.customer_id)] = (v.score, right)
    return list(voices.values())
