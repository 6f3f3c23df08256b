"""Counting a simulation: by week, and the totals that the bars are about."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MINUTES_PER_ANSWER = 3.0
SPAN = 4  # weeks at each end


@dataclass
class Week:
    week: int
    messages: int = 0
    questions: int = 0
    repeats: int = 0
    repeats_needed_person: int = 0
    unseen_repeats: int = 0
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

    def answered_without_a_person(self) -> None:
        self.minutes_given_back += MINUTES_PER_ANSWER


@dataclass
class Tally:
    weeks: list[Week] = field(default_factory=list)

    def week(self, number: int) -> Week:
        while len(self.weeks) <= number:
            self.weeks.append(Week(len(self.weeks)))
        return self.weeks[number]

    def totals(self) -> dict[str, Any]:
        first, last = self.weeks[:SPAN], self.weeks[-SPAN:]
        needed, repeats = "repeats_needed_person", "repeats"
        shown = _sum(self.weeks, "delivered") + _sum(self.weeks, "offers_taken")
        wrong = _sum(self.weeks, "delivered_wrong")
        return {
            "messages": _sum(self.weeks, "messages"),
            "repeat_needed_person_first_4_weeks": _share(first, needed, repeats),
            "repeat_needed_person_last_4_weeks": _share(last, needed, repeats),
            "unseen_wording_needed_person_last_4_weeks": _share(
                last, "unseen_repeats_needed_person", "unseen_repeats"
            ),
            "after_hours_answered_last_4_weeks": _share(
                last, "after_hours_answered", "after_hours_questions"
            ),
            "wrong_share": wrong / max(1, _sum(self.weeks, "delivered")),
            "wrong_of_questions": wrong / max(1, _sum(self.weeks, "questions")),
            "delivered": _sum(self.weeks, "delivered"),
            "delivered_wrong": wrong,
            "answers_shown": shown,
            "offers": _sum(self.weeks, "offers"),
            "offers_taken": _sum(self.weeks, "offers_taken"),
            "offers_taken_wrongly": _sum(self.weeks, "offers_taken_wrongly"),
            "minutes_given_back": sum(w.minutes_given_back for w in self.weeks),
        }

    def as_json(self) -> dict[str, Any]:
        return {"weeks": [asdict(w) for w in self.weeks], "totals": self.totals()}


def _sum(weeks: list[Week], name: str) -> int:
    return sum(getattr(w, name) for w in weeks)


def _share(weeks: list[Week], part: str, whole: str) -> float:
    """The mean over the weeks' own shares would let a quiet week weigh as much as a busy one."""
    return _sum(weeks, part) / max(1, _sum(weeks, whole))
