"""Reflection on what came of a customer's questions: an experience, where others had been tried.

On events alone: the reading of a closed or long chat, a correction by staff, a word of thanks.
"""

from __future__ import annotations

from datetime import datetime

from memory.lifecycle import experience, reflect
from memory.models import Answer, AnswerMatch, Episode, Memory


def on_episode(episode: Episode, *, actor: str, now: datetime) -> None:
    """Inside the customer's lock."""
    for match in experience.chosen_in(episode):
        if answer := experience.worked_for(match):
            on_answer(match, answer, event="close", actor=actor, now=now)


def on_answer(
    match: AnswerMatch, worked: Answer, *, event: str, actor: str, now: datetime
) -> Memory | None:
    """An answer was right for this question of hers. Inside the customer's lock."""
    tried = experience.tried_before(match, worked)
    if match.customer_id is None or not tried:
        return None
    found = reflect.from_feedback(
        event,
        tried=experience.in_words(tried),
        worked=experience.in_words([worked.title]),
        evidence={"match": match.pk, "outcome": match.outcome, "answer": worked.pk},
    )
    if found is None:
        return None
    return experience.keep(
        match.customer_id,
        found.text,
        evidence=found.evidence,
        reason=event,
        actor=actor,
        now=now,
        like=(match.embedding, match.embedding_model),
    )
