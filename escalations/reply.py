"""What staff say. "Send" keeps the claim and stores nothing; only `resolve` ends it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from chat import conversations
from chat.models import Message
from memory import services

from . import broadcast, claim, delivery, people
from .capture import Keep, Kept, judge_all, keep_all
from .models import Draft, Escalation, Question

# Raised by post_staff_reply: the customer said more than the writer had seen.
Stale = conversations.Stale


@transaction.atomic
def send(
    escalation_id: int, *, staff: User, text: str, seen_seq: int | None, now: datetime
) -> Message:
    """Send staff's words to the customer; the claim stays, and memory stores nothing.

    Locks Escalation, then Conversation. `text` is stored letter for letter.
    Raises claim.NotYours if someone else holds the claim, Stale if more was said after `seen_seq`.
    """
    escalation = held(escalation_id, staff)
    message = conversations.post_staff_reply(
        escalation.conversation_id,
        text=text,
        staff=staff,
        role=people.role_of(staff),
        name=people.signs_as(staff),
        now=now,
        seen_seq=seen_seq,
    )
    _sent(escalation, staff, message, now)
    return message


@transaction.atomic
def send_answer(
    escalation_id: int,
    answer_id: int,
    *,
    staff: User,
    question: Question | None,
    seen_seq: int | None,
    now: datetime,
) -> Message:
    """Send a stored answer in its very words, and confirm the customer's wording for it.

    Raises as `send` does, and Answer.DoesNotExist when it is out of use meanwhile.
    """
    escalation = held(escalation_id, staff)
    message = conversations.post_answer(
        escalation.conversation_id,
        answer_id=answer_id,
        staff=staff,
        role=people.role_of(staff),
        name=people.signs_as(staff),
        now=now,
        seen_seq=seen_seq,
    )
    _sent(escalation, staff, message, now)
    if question is not None:
        services.confirm_wording(
            answer_id,
            asked=question.text,
            staff_id=staff.pk,
            customer_id=escalation.conversation.customer_id,
            now=now,
        )
        Question.objects.filter(pk=question.pk).update(answer_id=answer_id)
    return message


@transaction.atomic
def resolve(
    escalation_id: int, *, staff: User, now: datetime, keep: Sequence[Keep] | None = ()
) -> list[Kept]:
    """Keep what was ticked, end the claim, and let the bot have the conversation again.

    `keep` None: nobody chose, so each run of staff's messages is judged by itself.
    Raises claim.NotYours, claim.MoreAsked, capture.NotSaid.
    """
    escalation = held(escalation_id, staff)
    if keep is None:
        kept = judge_all(escalation, now=now)
    else:
        kept = keep_all(escalation, keep, staff=staff, now=now)
    claim.close(escalation_id, staff=staff, resolution="resolved", now=now)
    Draft.objects.filter(escalation=escalation).delete()
    return kept


def held(escalation_id: int, staff: User) -> Escalation:
    """Lock the escalation that `staff` has. Raises claim.NotYours."""
    escalation = (
        # Without NO KEY a further question, which points here, would have to wait.
        Escalation.objects.open()
        .select_for_update(no_key=True, of=("self",))
        .select_related("conversation__customer")
        .filter(pk=escalation_id, claimed_by=staff)
        .first()
    )
    if escalation is None:
        raise claim.NotYours
    return escalation


def _sent(escalation: Escalation, staff: User, message: Message, now: datetime) -> None:
    Escalation.objects.filter(pk=escalation.pk).update(
        first_reply_at=Coalesce(F("first_reply_at"), now),
        last_staff_seq=message.seq,
        active_at=now,
        alerted_at=None,
    )
    Draft.objects.filter(escalation=escalation, staff=staff).delete()
    delivery.mail_if_away(escalation, now=now)
    broadcast.changed_on_commit()
