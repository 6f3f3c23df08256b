"""Vectors of answers and of their wordings follow after the commit: a model is never waited for."""

from __future__ import annotations

from memory.llm.embeddings import embed, embedder
from memory.models import Answer, AnswerMatch
from memory.types import Status

BATCH = 200  # rows a run; the next run takes the rest


def embed_answers() -> int:
    """Embed what has no vector of the present model, and return how many rows that were."""
    model = embedder().model
    answers = list(
        Answer.objects.filter(status__in=(Status.ACTIVE, Status.PENDING)).exclude(
            embedding_model=model
        )[:BATCH]
    )
    vectors = embed([text for a in answers for text in (a.title, a.text)])
    for i, a in enumerate(answers):
        # Only while the words are still the same.
        Answer.objects.filter(pk=a.pk, title=a.title).update(
            title_embedding=vectors[2 * i], text_embedding=vectors[2 * i + 1], embedding_model=model
        )
    kept = (AnswerMatch.Outcome.CHOSEN, AnswerMatch.Outcome.CONFIRMED)
    votes = list(
        AnswerMatch.objects.filter(outcome__in=kept).exclude(embedding_model=model)[:BATCH]
    )
    for v, vector in zip(votes, embed([v.asked for v in votes]), strict=True):
        AnswerMatch.objects.filter(pk=v.pk).update(embedding=vector, embedding_model=model)
    return len(answers) + len(votes)
