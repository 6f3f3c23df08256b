"""What the desk does by the clock. Each task is a sweep: twice, or late, does no harm."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from . import alerts, claim, delivery, inbox, outcomes
from .models import Escalation, Presence
from .querysets import GRAVE


@shared_task
def alert_staff(escalation_id: int) -> int:
    return alerts.alert(escalation_id, now=timezone.now())


@shared_task
def send_mails() -> int:
    return delivery.send_due(timezone.now())


@shared_task
def tell_owners() -> int:
    return alerts.tell_owners(now=timezone.now())


@shared_task
def judge_outcomes() -> int:
    return outcomes.judge(now=timezone.now())


@shared_task
def watch() -> dict[str, int]:
    """Alert what the bell missed, alert again; warn of quiet claims and return them."""
    now = timezone.now()
    missed = Escalation.objects.unclaimed().filter(
        alerted_at=None, opened_at__lt=now - timedelta(seconds=20)
    )
    for reason in GRAVE:
        missed_raise = inbox.lower_than(reason).filter(questions__reason=reason)
        for pk in missed_raise.values_list("pk", flat=True):
            inbox.raise_to(reason, pk, now)
    Presence.objects.filter(seen_at__lt=now - timedelta(hours=1)).delete()
    return {
        "alerted": sum(alerts.alert(pk, now=now) for pk in missed.values_list("pk", flat=True)),
        "alerted_again": alerts.realert(now),
        "warned": claim.warn_quiet(now),
        "returned": claim.return_quiet(now),
        "ended": claim.end_silent(now),
    }
