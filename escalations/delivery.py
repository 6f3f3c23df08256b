"""E-mails: a row first, sent by the worker, tried again, shown when it did not go."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from chat.models import Conversation, Message
from memory.models import Customer

from .models import Delivery, Escalation

logger = logging.getLogger(__name__)

TRIES = 6
FIRST_PAUSE = timedelta(minutes=1)  # doubled with each try
AWAY_AFTER = timedelta(minutes=2)  # a customer who reads along needs no mail


def queue_mail(
    *,
    kind: str,
    to: str,
    subject: str,
    body: str,
    now: datetime,
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
        next_at=now,
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
    due = Delivery.objects.filter(sent_at=None, next_at__lte=now).order_by("next_at")[:limit]
    return sum(_try(mail, now) for mail in due)


def mail_if_away(escalation: Escalation, *, now: datetime) -> None:
    """A customer who left gets one mail: where to read the answer, nothing of what it says."""
    conversation = Conversation.objects.select_related("customer").get(
        pk=escalation.conversation_id
    )
    address = conversation.customer.email
    if not address or _reads_along(conversation, now):
        return
    if Delivery.objects.filter(
        escalation=escalation, kind="answered", created_at__gt=now - timedelta(hours=1)
    ).exists():
        return
    queue_mail(
        kind="answered",
        to=address,
        subject=_("There is an answer for you"),
        body=_("A person has answered your question. You can read it in our chat."),
        now=now,
        escalation=escalation,
        customer=conversation.customer,
    )


def failed() -> int:
    return Delivery.objects.filter(sent_at=None, next_at=None).count()


def _reads_along(conversation: Conversation, now: datetime) -> bool:
    said = (
        Message.objects.filter(conversation=conversation, sender=Message.Sender.CUSTOMER)
        .order_by("-seq")
        .values_list("created_at", flat=True)
        .first()
    )
    return said is not None and now - said < AWAY_AFTER


def _try(mail: Delivery, now: datetime) -> bool:
    pause = FIRST_PAUSE * 2**mail.attempts
    taken = Delivery.objects.filter(pk=mail.pk, attempts=mail.attempts, sent_at=None).update(
        attempts=F("attempts") + 1,
        next_at=now + pause if mail.attempts + 1 < TRIES else None,
    )
    if not taken:  # another worker has it
        return False
    try:
        EmailMessage(subject=mail.subject, body=mail.body, to=[mail.to]).send()
    except Exception as exc:
        # Whatever the mail server or the network raises: it is tried again, and shown.
        logger.warning("Unable to send delivery %s: %s", mail.pk, type(exc).__name__)
        Delivery.objects.filter(pk=mail.pk).update(error=str(exc)[:300])
        return False
    Delivery.objects.filter(pk=mail.pk).update(sent_at=now, error="")
    return True


def _ring() -> None:
    # By name: the tasks are a layer above.
    current_app.send_task("escalations.tasks.send_mails")
