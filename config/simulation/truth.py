"""What the simulation alone knows: which question a message was, which question an answer is to."""

from __future__ import annotations

from dataclasses import dataclass, field

from .practice import Coming, Personal, Practice, Question


@dataclass
class Truth:
    """The ground truth, by the rows that the product made of it."""

    practice: Practice
    # (conversation, seq): what was meant by that row of the customer's
    meant: dict[tuple[int, int], Coming] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)  # answer: question
    answered: dict[str, int] = field(default_factory=dict)  # question: its answer
    asked: set[tuple[str, str]] = field(default_factory=set)  # (question, wording)

    def __post_init__(self) -> None:
        self.questions: dict[str, Question] = {q.id: q for q in self.practice.questions}
        self.personal: dict[str, Personal] = {p.id: p for p in self.practice.personal}

    def is_answer(self, answer_id: int, message: Coming) -> bool:
        return message.kind == "question" and self.answers.get(answer_id) == message.key

    def learnt(self, question: str, answer_id: int) -> None:
        self.answers[answer_id] = question
        self.answered[question] = answer_id
