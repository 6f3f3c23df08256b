"""One escalation, one person: every change of hands is one UPDATE that decides.

Lock order: Escalation → Conversation → Customer. A new escalation is inserted under the lock of its
conversation, where nobody can hold it yet.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from chat import conversations
from chat.models import Conversation
from memory.kept import looked_once

from . import broadcast, inbox, people, promise
from .models import Escalation, Question
from .querysets import GRAVE, HER_TURN, EscalationQuerySet

WARNING = timedelta(minutes=5)
DEFAULT_QUIET = 30  # minutes, for what no queue holds


class AlreadyClaimed(Exception):
    """A colleague was faster, or has it now."""

    def __init__(self, by: User) -> None:
        self.by = by
        super().__init__(f"{people.name_of(by)} is on it.")


class Closed(Exception):
    """It was resolved or returned meanwhile."""


class MoreAsked(Exception):
    """Something grave came in that staff have not replied to: this cannot be closed yet."""


class NotYours(Exception):
    """Only the person who has it can do this."""


@transaction.atomic
@looked_once()
def claim(escalation_id: int, *, staff: User, now: datetime) -> Escalation:
    """Take what nobody has; the bot is silent from here on. Raises AlreadyClaimed, Closed.

    A second click of the winner is no error.
    """
    won = _hand(escalation_id, expected=None, to=staff, now=now)
    escalation = Escalation.objects.select_related("claimed_by").get(pk=escalation_id)
    if not won:
        if escalation.closed_at is not None:
            raise Closed
        if escalation.claimed_by is not None and escalation.claimed_by_id != staff.pk:
            raise AlreadyClaimed(escalation.claimed_by)
        return escalation
    _silence_the_bot(escalation, staff, now)
    return escalation


@transaction.atomic
def assign(
    escalation_id: int, *, to: User, expected: int | None, now: datetime, by: User | None = None
) -> Escalation:
    """`by` gives it to `to` if `expected` (a staff id, or None) still has it.

    Raises AlreadyClaimed, Closed.
    """
    won = _hand(escalation_id, expected=expected, to=to, by=by if by != to else None, now=now)
    escalation = Escalation.objects.select_related("claimed_by").get(pk=escalation_id)
    if not won:
        if escalation.closed_at is not None or escalation.claimed_by is None:
            raise Closed
        raise AlreadyClaimed(escalation.claimed_by)
    if expected is None:
        _silence_the_bot(escalation, to, now)
    return escalation


@transaction.atomic
def release(escalation_id: int, *, staff: User, now: datetime) -> Escalation:
    """Put it back into the queue; the bot may answer what it knows again. Raises NotYours."""
    dropped = _held_by(escalation_id, staff).update(
        claimed_by=None, claimed_at=None, active_at=None, alerted_at=None
    )
    if not dropped:
        raise NotYours
    escalation = Escalation.objects.select_related("queue__calendar", "conversation__customer").get(
        pk=escalation_id
    )
    back_in_line(escalation, now)
    return escalation


def back_in_line(escalation: Escalation, now: datetime) -> None:
    """Tell the customer that the team has it again, and when."""
    told = promise.make(
        escalation.queue, now, reader_zone=escalation.conversation.customer.timezone
    )
    conversations.wait(escalation.conversation_id, now=now)
    conversations.post_state(
        escalation.conversation_id,
        state="queued",
        text=told.said(escalation.conversation, first="queued_again"),
        now=now,
    )
    broadcast.changed_on_commit()


@transaction.atomic
def return_to_bot(escalation_id: int, *, staff: User, now: datetime) -> Escalation:
    """Close it without an answer of a person. Raises NotYours, MoreAsked."""
    return close(escalation_id, staff=staff, resolution="returned", now=now)


def close(escalation_id: int, *, staff: User, resolution: str, now: datetime) -> Escalation:
    """End the claim and give the conversation back, inside a transaction.

    Raises NotYours, MoreAsked.
    """
    ended = _held_by(escalation_id, staff).update(
        closed_at=now, closed_by=staff, resolution=resolution
    )
    if not ended:
        raise NotYours
    escalation = Escalation.objects.select_related("conversation").get(pk=escalation_id)
    conversations.release(escalation.conversation_id, now=now, state=resolution)
    # A hand-over holds the conversation, not the escalation: what it added is seen from here on.
    if _grave_since(escalation):
        raise MoreAsked
    broadcast.changed_on_commit()
    return escalation


def take_over(conversation_id: int, *, staff: User, now: datetime) -> Escalation:
    """Step into any chat. Raises AlreadyClaimed."""
    escalation = open_claimed(conversation_id, staff=staff, reason=Escalation.Reason.TAKEN, now=now)
    return claim(escalation.pk, staff=staff, now=now)


@transaction.atomic
def open_claimed(conversation_id: int, *, staff: User, reason: str, now: datetime) -> Escalation:
    """Open an escalation that `staff` has from the start, or return the open one as it is."""
    conversation = Conversation.objects.select_for_update().get(pk=conversation_id)
    waiting = Escalation.objects.open().filter(conversation=conversation).first()
    if waiting is not None:
        return waiting
    escalation = Escalation.objects.create(
        conversation=conversation,
        queue=inbox.route("", {}),
        reason=reason,
        opened_at=now,
        claimed_by=staff,
        claimed_at=now,
        active_at=now,
        alerted_at=now,  # somebody has it: nobody needs to be told
    )
    asked = conversation.messages.filter(sender="customer").order_by("-seq").first()
    if asked is not None:
        Question.objects.create(
            escalation=escalation,
            text=asked.text,
            message_seq=asked.seq,
            reason=reason,
            asked_at=asked.created_at,
        )
    _silence_the_bot(escalation, staff, now)
    return escalation


def returns_at(escalation: Escalation) -> datetime | None:
    """Return when the claim goes back to the queue if nothing happens; None while it need not."""
    if escalation.claimed_by_id is None or escalation.her_turn:
        return None
    queue = escalation.queue
    return quiet_at(escalation.active_at, queue.claim_quiet_minutes if queue else None)


def quiet_at(active_at: datetime | None, minutes: int | None) -> datetime | None:
    """Return when a claim whose owner's turn it is goes back; `minutes` are those of its queue."""
    if active_at is None:
        return None
    return active_at + timedelta(minutes=DEFAULT_QUIET if minutes is None else minutes)


def warn_quiet(now: datetime) -> int:
    """Mark claims that will return soon, so that every desk shows it. Return how many."""
    soon = [
        e.pk
        for e in _quiet_candidates().filter(alerted_at=None)
        if (at := returns_at(e)) and at - WARNING <= now < at
    ]
    warned = Escalation.objects.open().filter(pk__in=soon, alerted_at=None).update(alerted_at=now)
    if warned:
        broadcast.changed_on_commit()
    return warned


def return_quiet(now: datetime) -> int:
    """Put claims that went quiet back into the queue. Return how many."""
    return sum(_return(e, now) for e in _quiet_candidates() if (at := returns_at(e)) and at <= now)


@transaction.atomic
def _return(escalation: Escalation, now: datetime) -> bool:
    dropped = (
        Escalation.objects.open()
        .filter(
            pk=escalation.pk, claimed_by=escalation.claimed_by_id, active_at=escalation.active_at
        )
        .update(claimed_by=None, claimed_at=None, active_at=None, alerted_at=None)
    )
    if dropped:
        back_in_line(escalation, now)
    return bool(dropped)


def end_silent(now: datetime) -> int:
    """End claims that were answered and heard no more: the chat closes. Return how many."""
    since = now - timedelta(hours=settings.DESK_SILENT_HOURS)
    silent = Escalation.objects.filter(HER_TURN, conversation__last_message_at__lt=since)
    return sum(_end(e, now) for e in silent.select_related("conversation"))


@transaction.atomic
def _end(escalation: Escalation, now: datetime) -> bool:
    """By the time of her next word the bot has it again; she may open it by writing."""
    ended = (
        Escalation.objects.open()
        .filter(
            pk=escalation.pk,
            claimed_by=escalation.claimed_by_id,
            last_staff_seq=escalation.last_staff_seq,
        )
        .update(closed_at=now, closed_by=escalation.claimed_by_id, resolution="silent")
    )
    if not ended:
        return False
    conversation = Conversation.objects.select_for_update().get(pk=escalation.conversation_id)
    if conversation.last_seq != escalation.conversation.last_seq:
        transaction.set_rollback(True)  # she wrote this very moment
        return False
    conversations.release(conversation.pk, now=now, state="returned")
    conversations.close(conversation.pk, reason="idle", now=now)
    broadcast.changed_on_commit()
    return True


def _quiet_candidates() -> EscalationQuerySet:
    return (
        Escalation.objects.open()
        .filter(claimed_by__isnull=False)
        .select_related("queue__calendar", "conversation__customer")
    )


def _hand(
    escalation_id: int, *, expected: int | None, to: User, now: datetime, by: User | None = None
) -> bool:
    """The one UPDATE that decides who has it."""
    return bool(
        Escalation.objects.open()
        .filter(pk=escalation_id, claimed_by=expected)
        .update(
            claimed_by=to,
            claimed_at=now,
            active_at=now,
            alerted_at=None,
            alert_step=0,
            assigned_by=by,
        )
    )


def _grave_since(escalation: Escalation) -> bool:
    return escalation.questions.filter(
        reason__in=GRAVE, message_seq__gt=max(escalation.last_staff_seq, 1)
    ).exists()


def _held_by(escalation_id: int, staff: User) -> EscalationQuerySet:
    return Escalation.objects.open().filter(pk=escalation_id, claimed_by=staff)


def _silence_the_bot(escalation: Escalation, staff: User, now: datetime) -> None:
    conversations.take_over(
        escalation.conversation_id, staff=staff, now=now, who=people.introduced(staff)
    )
    seq = Conversation.objects.values_list("last_seq", flat=True).get(pk=escalation.conversation_id)
    # What staff wrote before an earlier release may still be kept: the first claim counts.
    Escalation.objects.filter(pk=escalation.pk, claimed_seq=0).update(claimed_seq=seq)
    escalation.refresh_from_db(fields=["claimed_seq", "claimed_by", "claimed_at"])
    broadcast.changed_on_commit()
