"""Counting a simulation: by week, and the totals that the bars are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .practice import Coming

MINUTES_PER_ANSWER = 3.0
SPAN = 4  # weeks at each end


@dataclass
class Outcome:
    """What became of one message."""

    chat: int
    delivered: int = 0
    delivered_wrong: int = 0
    offered: bool = False
    taken: bool = False
    taken_wrongly: bool = False
    ignored: bool = False
    asked_back: bool = False  # the reply was no answer, no offer and no person
    answered: bool = False  # by the right answer, without a person
    waits: int | None = None  # the row that staff will find, where a person must come


@dataclass
class Week:
    week: int
    messages: int = 0
    questions: int = 0
    repeats: int = 0  # somebody asked it and staff answered it before; personal ones are none
    repeats_needed_person: int = 0
    repeats_answered: int = 0  # by the right answer, without a person; the others were left
    unseen_repeats: int = 0  # in a wording that nobody used before
    unseen_repeats_needed_person: int = 0
    after_hours_questions: int = 0
    after_hours_answered: int = 0
    delivered: int = 0
    delivered_wrong: int = 0
    offers: int = 0
    offers_taken: int = 0
    offers_taken_wrongly: int = 0
    offers_ignored: int = 0
    asked_back: int = 0
    escalated: int = 0
    memory_operations: int = 0
    minutes_given_back: float = 0.0

    def count(self, message: Coming, outcome: Outcome, *, repeat: bool, unseen: bool) -> None:
        self.messages += 1
        self.delivered += outcome.delivered
        self.delivered_wrong += outcome.delivered_wrong
        self.offers += outcome.offered
        self.offers_taken += outcome.taken
        self.offers_taken_wrongly += outcome.taken_wrongly
        self.offers_ignored += outcome.ignored
        self.asked_back += outcome.asked_back
        self.escalated += outcome.waits is not None
        if message.kind == "question":
            self._count_question(message, outcome, repeat=repeat, unseen=unseen)

    def _count_question(
        self, message: Coming, outcome: Outcome, *, repeat: bool, unseen: bool
    ) -> None:
        person = outcome.waits is not None
        self.questions += 1
        self.after_hours_questions += message.out_of_hours
        self.after_hours_answered += message.out_of_hours and outcome.answered
        self.minutes_given_back += MINUTES_PER_ANSWER * outcome.answered
        if repeat:
            self.repeats += 1
            self.repeats_needed_person += person
            self.repeats_answered += outcome.answered
        if repeat and unseen:
            self.unseen_repeats += 1
            self.unseen_repeats_needed_person += person


@dataclass
class Tally:
    weeks: list[Week] = field(default_factory=list)

    def week(self, number: int) -> Week:
        while len(self.weeks) <= number:
            self.weeks.append(Week(len(self.weeks) + 1))
        return self.weeks[number]

    def totals(self) -> dict[str, Any]:
        first, last = self.weeks[:SPAN], self.weeks[-SPAN:]
        person, repeats = "repeats_needed_person", "repeats"
        unseen = ("unseen_repeats_needed_person", "unseen_repeats")
        everything = (f for f in asdict(Week(0)) if f != "week")
        return {
            "repeat_needed_person_first_4_weeks": _share(first, person, repeats),
            "repeat_needed_person_last_4_weeks": _share(last, person, repeats),
            "repeat_answered_last_4_weeks": _share(last, "repeats_answered", repeats),
            "unseen_wording_needed_person_first_4_weeks": _share(first, *unseen),
            "unseen_wording_needed_person_last_4_weeks": _share(last, *unseen),
            "after_hours_answered_last_4_weeks": _share(
                last, "after_hours_answered", "after_hours_questions"
            ),
            "wrong_share": _share(self.weeks, "delivered_wrong", "delivered"),
            "wrong_share_of_messages": _share(self.weeks, "delivered_wrong", "messages"),
            **{name: _sum(self.weeks, name) for name in everything},
        }

    def as_json(self) -> dict[str, Any]:
        return {"weeks": [asdict(w) for w in self.weeks], "totals": self.totals()}


def _sum(weeks: Sequence[Week], name: str) -> Any:
    return sum(getattr(w, name) for w in weeks)


def _share(weeks: Sequence[Week], part: str, whole: str) -> float:
    """The mean of the weeks' own shares would let a quiet week weigh as much as a busy one."""
    return float(_sum(weeks, part) / max(1, _sum(weeks, whole)))
