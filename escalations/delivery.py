"""E-mails: a row first, sent by the worker, tried again, shown when it did not go."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from chat import identity
from chat.conversations import business
from chat.models import Conversation, Message
from memory.models import Customer

from .models import Delivery, Escalation

logger = logging.getLogger(__name__)

TRIES = 6
FIRST_PAUSE = timedelta(minutes=1)  # doubled with each try
AWAY_AFTER = timedelta(minutes=1)  # a customer who reads along needs no mail
ONE_MAIL_IN = timedelta(hours=1)  # however much staff write
TO_CUSTOMER = ("answered", "staff_first")


def queue_mail(
    *,
    kind: str,
    to: str,
    subject: str,
    body: str,
    now: datetime,
    due: datetime | None = None,
    escalation: Escalation | None = None,
    customer: Customer | None = None,
) -> Delivery:
    """Store the mail; the worker sends it after the commit, and a sweep sends what that missed."""
    mail = Delivery.objects.create(
        kind=kind,
        to=to,
        subject=subject,
        body=body,
        created_at=now,
        next_at=due or now,
        escalation=escalation,
        customer=customer,
    )
    transaction.on_commit(_ring, robust=True)
    return mail


def absolute(path: str) -> str:
    """Return the address of a page for a mail, where no request says which host it came to."""
    return settings.DESK_PUBLIC_URL.rstrip("/") + path


def send_due(now: datetime, *, limit: int = 50) -> int:
    """Send what is due; return how many went."""
    due = Delivery.objects.filter(sent_at=None, next_at__lte=now).order_by("next_at")
    due = due.select_related("escalation__conversation")[:limit]
    return sum(_try(mail, now) for mail in due)


def mail_if_away(escalation: Escalation, *, now: datetime) -> None:
    """A customer who left gets one mail: the way to what was written, nothing of what it says.

    It waits a little, and is dropped if she has the words before her by then. A visitor is written
    to at the address that she left in this chat.
    """
    conversation = Conversation.objects.select_related("customer").get(
        pk=escalation.conversation_id
    )
    address = conversation.customer.email or conversation.reply_email
    recent = Delivery.objects.filter(
        escalation=escalation, kind__in=TO_CUSTOMER, created_at__gt=now - ONE_MAIL_IN
    )
    if not address or recent.exists():
        return
    kind = "answered" if _asked(escalation, conversation) else "staff_first"
    subject, body = _words(kind)
    queue_mail(
        kind=kind,
        to=address,
        subject=subject,
        body=f"{body}\n\n{absolute(_way_back(conversation))}\n",
        now=now,
        due=now + AWAY_AFTER,
        escalation=escalation,
        customer=conversation.customer,
    )


def _asked(escalation: Escalation, conversation: Conversation) -> bool:
    """Whether she asked for anything: staff may have written first."""
    said = conversation.messages.filter(sender=Message.Sender.CUSTOMER)
    if escalation.reason == Escalation.Reason.STAFF_FIRST:
        said = said.filter(created_at__gte=escalation.opened_at)
    return said.exists()


def _words(kind: str) -> tuple[str, str]:
    who = business().name
    if kind == "staff_first":
        return (
            _("{business} has written to you").format(business=who),
            _("There is a message from {business} for you. Read it here:").format(business=who),
        )
    return (
        _("There is an answer for you"),
        _("A person at {business} has answered your question. Read it here:").format(business=who),
    )


def _way_back(conversation: Conversation) -> str:
    """A visitor comes back by a signed link alone; who signs in finds the chat where it was."""
    if conversation.customer.kind == Customer.Kind.VISITOR:
        return reverse("chat:back", args=[identity.link_back(conversation.pk)])
    return reverse("chat:page")


def failed() -> QuerySet[Delivery]:
    """Mails that did not go: those that nobody tries any more, then those that are tried again."""
    rows = _stuck().select_related("customer")
    return rows.order_by(F("next_at").asc(nulls_first=True), "-created_at")


def lost() -> QuerySet[Delivery]:
    """Mails that nobody tries any more."""
    return Delivery.objects.filter(sent_at=None, next_at=None)


def given_up() -> int:
    return lost().count()


def try_again(delivery_id: int, *, now: datetime) -> bool:
    """Start anew with one that did not go."""
    again = _stuck().filter(pk=delivery_id).update(attempts=0, next_at=now)
    transaction.on_commit(_ring, robust=True)
    return bool(again)


def dismiss(delivery_id: int) -> bool:
    """Somebody has seen that it did not go, and does otherwise."""
    return bool(_stuck().filter(pk=delivery_id).delete()[0])


def _stuck() -> QuerySet[Delivery]:
    """What was tried and did not go; not what waits for its time or is being sent right now."""
    return Delivery.objects.filter(Q(next_at=None) | ~Q(error=""), sent_at=None)


def _has_read(mail: Delivery) -> bool:
    """Whether the customer has staff's words before her already."""
    escalation = mail.escalation
    if mail.kind not in TO_CUSTOMER or escalation is None or mail.attempts:
        return False
    return escalation.conversation.customer_seen_seq >= escalation.last_staff_seq > 0


def _try(mail: Delivery, now: datetime) -> bool:
    if _has_read(mail):
        mail.delete()
        return False
    pause = FIRST_PAUSE * 2**mail.attempts
    taken = Delivery.objects.filter(pk=mail.pk, attempts=mail.attempts, sent_at=None).update(
        attempts=F("attempts") + 1,
        next_at=now + pause,
        error="",  # under way: nobody starts anew with it meanwhile
    )
    if not taken:  # another worker has it
        return False
    try:
        EmailMessage(subject=mail.subject, body=mail.body, to=[mail.to]).send()
    except Exception as exc:
        # Whatever the mail server or the network raises: it is tried again, and shown.
        logger.warning("Unable to send delivery %s: %s", mail.pk, type(exc).__name__)
        Delivery.objects.filter(pk=mail.pk).update(
            error=str(exc)[:300] or type(exc).__name__,
            next_at=now + pause if mail.attempts + 1 < TRIES else None,
        )
        return False
    Delivery.objects.filter(pk=mail.pk).update(sent_at=now, error="")
    return True


def _ring() -> None:
    # By name: the tasks are a layer above.
    current_app.send_task("escalations.tasks.send_mails")
