"""Sweeps: each takes what was left lying by a conditional UPDATE, so that twice is no harm."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from celery import shared_task
from django.utils import timezone

from chat import conversations, handoff, situations, wordings
from chat.conversations import NewRow
from chat.models import Conversation, Message, VisitorToken

logger = logging.getLogger(__name__)

KEPT_AFTER_END = timedelta(days=1)  # tokens that are over


@shared_task(name="chat.overdue")
def overdue() -> int:
    """Give a person what the bot did not answer in time: its process may be gone."""
    return hand_over_overdue(now=timezone.now())


@shared_task(name="chat.close_idle")
def close_idle() -> int:
    return conversations.close_idle(now=timezone.now())


@shared_task(name="chat.drop_tokens")
def drop_tokens() -> int:
    now = timezone.now()
    return VisitorToken.objects.filter(expires_at__lt=now - KEPT_AFTER_END).delete()[0]


def hand_over_overdue(*, now: datetime) -> int:
    late = Conversation.objects.overdue(now).order_by("answer_due_at")
    return sum(_hand_over(conversation, now) for conversation in late)


def _hand_over(conversation: Conversation, now: datetime) -> bool:
    """Only one of a late turn and two sweeps wins: whoever settles the reply that is due."""
    last = conversation.messages.filter(sender=Message.Sender.CUSTOMER).order_by("-seq").first()
    if last is None:
        return False
    waiting = situations.unanswered(conversation, up_to=last.seq)
    try:
        return handoff.hand_over(
            conversation.pk,
            question="\n".join(m.text for m in waiting),
            question_seq=waiting[0].seq,
            answering_seq=last.seq,
            reason="model",
            detail="the automatic reply did not come",
            rows=[NewRow(wordings.say("model", conversation.pk, last.seq))],
            now=now,
        )
    except Exception:
        # One that cannot be handed over must not keep the others waiting; the next sweep tries
        # again.
        logger.exception("Unable to hand over conversation %s", conversation.pk)
        return False
