"""What the simulation alone knows: which question a message was, which question an answer is to."""

from __future__ import annotations

from dataclasses import dataclass, field

from escalations.capture import Kept

from .practice import Coming, Personal, Practice, Question


@dataclass
class Truth:
    """The ground truth, by the rows that the product made of it."""

    practice: Practice
    # (conversation, seq): what was meant by that row of the customer's
    meant: dict[tuple[int, int], Coming] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)  # answer: question
    answered: dict[str, int] = field(default_factory=dict)  # question: its answer
    # memory: (customer, personal question) of what staff told her alone
    told: dict[int, tuple[int, str]] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)  # (question, wording)

    def __post_init__(self) -> None:
        self.questions: dict[str, Question] = {q.id: q for q in self.practice.questions}
        self.personal: dict[str, Personal] = {p.id: p for p in self.practice.personal}

    def is_right_card(self, answer_id: int | None, words: str, message: Coming) -> bool:
        """A card without an answer's number was told to one customer alone.

        It is right for her alone, where she asks that very thing again, and in the very words.
        """
        if answer_id is not None:
            return self._answers(answer_id, message)
        asked = (message.customer, message.key)
        return (
            message.kind == "personal"
            and asked in self.told.values()
            and words == self.personal[message.key].answer
        )

    def is_right_choice(self, choice: str, message: Coming) -> bool:
        """Say whether this button of an offer is what she meant: everyone's answer, or hers."""
        if not choice.startswith("m"):
            return self._answers(int(choice), message)
        asked = (message.customer, message.key)
        return message.kind == "personal" and self.told.get(int(choice[1:])) == asked

    def _answers(self, answer_id: int, message: Coming) -> bool:
        return message.kind == "question" and self.answers.get(answer_id) == message.key

    def learnt(self, message: Coming, kept: Kept) -> None:
        if kept.answer is not None:
            self.answers[kept.answer.pk] = message.key
            self.answered[message.key] = kept.answer.pk
        if kept.memory is not None:
            self.told[kept.memory.pk] = (message.customer, message.key)
