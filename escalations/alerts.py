"""Tell staff that somebody waits: the queue at once, everybody when nobody comes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory import services

from . import broadcast, delivery, hours, people, promise
from .models import Escalation

# So many times the queue's minutes from one step to the next, which tells more people; the last one
# tells all once more.
PAUSES = (1, 1, 2)


def ring_on_commit(escalation_id: int) -> None:
    """The mail goes out by the worker; a broker that is away leaves it to the sweep."""
    transaction.on_commit(lambda: _ring(escalation_id), robust=True)


@transaction.atomic
def alert(escalation_id: int, *, now: datetime) -> int:
    """Write to the queue's members, once per escalation. Return how many mails."""
    first = (
        Escalation.objects.unclaimed()
        .filter(pk=escalation_id, alerted_at=None)
        .update(alerted_at=now, alert_step=1)
    )
    if not first:
        return 0
    escalation = Escalation.objects.select_related("queue").get(pk=escalation_id)
    return _mail(escalation, _members(escalation), kind="alert", now=now)


def realert(now: datetime) -> int:
    """Tell more people of what nobody took in time, step by step. Return how many mails."""
    waiting = (
        Escalation.objects.unclaimed()
        .filter(queue__isnull=False, alerted_at__isnull=False, alert_step__lte=len(PAUSES))
        .select_related("queue__calendar")
    )
    return sum(_realert(e, now) for e in waiting if _too_long(e, now))


@transaction.atomic
def tell_owners(*, now: datetime) -> int:
    """One mail to each owner of answers that became due for a look. Return how many mails."""
    sent = 0
    due = services.tell_owners(now=now)
    for owner in people.staff().filter(pk__in=due):
        if not owner.email or not _wants_mail(owner):
            continue  # the desk shows it
        number = len(due[owner.pk])
        subject = ngettext(
            "{number} answer of yours is due for a look",
            "{number} answers of yours are due for a look",
            number,
        ).format(number=number)
        link = delivery.absolute(reverse("escalations:review"))
        body = _("Are they still right? They are on the page “To check”: {link}").format(link=link)
        delivery.queue_mail(kind="review", to=owner.email, subject=subject, body=body, now=now)
        sent += 1
    return sent


@transaction.atomic
def _realert(escalation: Escalation, now: datetime) -> int:
    # Two sweeps at once: the second finds the step taken.
    step = max(escalation.alert_step, 1) + 1
    still = (
        Escalation.objects.unclaimed()
        .filter(pk=escalation.pk, alert_step=escalation.alert_step)
        .update(alerted_at=now, alert_step=step)
    )
    if not still:
        return 0
    broadcast.changed_on_commit()  # open desks ring again
    return _mail(escalation, _told_at(step, escalation), kind="realert", now=now)


def _told_at(step: int, escalation: Escalation) -> list[User]:
    """First whoever is in a queue at all, then everybody; nobody more to tell: everybody."""
    members = list(people.staff().filter(queues__isnull=False).distinct())
    told = {u.pk for u in _members(escalation)}
    if step == 2 and any(u.pk not in told for u in members):
        return members
    return list(people.staff())


def _too_long(escalation: Escalation, now: datetime) -> bool:
    """Nobody came within the queue's minutes since the last step, counted while it is open.

    What came back into the queue is alerted anew: how long it has been open says nothing here.
    """
    queue = escalation.queue
    if queue is None:
        return False
    after = queue.alert_after_minutes * PAUSES[max(escalation.alert_step, 1) - 1]
    since = escalation.alerted_at or escalation.opened_at
    try:
        calendar = promise.opening_hours(queue.calendar)
    except hours.BadHours:
        return now - since > timedelta(minutes=after)
    if not hours.is_open(calendar, now):
        return False
    return hours.open_minutes(calendar, since, now) >= after


def _members(escalation: Escalation) -> list[User]:
    if escalation.queue is None:
        return list(people.staff())
    return list(people.staff().filter(queues=escalation.queue)) or list(people.staff())


def _mail(escalation: Escalation, told: Iterable[User], *, kind: str, now: datetime) -> int:
    """Nothing of what the customer wrote goes into a mail: the reason, and where to look."""
    subject = {
        "alert": _("Somebody is waiting: {reason}"),
        "realert": _("Still waiting, and nobody has it: {reason}"),
    }[kind].format(reason=escalation.get_reason_display())
    path = reverse("escalations:detail", args=[escalation.pk])
    sent = 0
    for person in told:
        if person.email and _wants_mail(person):
            body = _("It is in the inbox: {link}").format(link=delivery.absolute(path))
            delivery.queue_mail(
                kind=kind, to=person.email, subject=subject, body=body, now=now,
                escalation=escalation,
            )  # fmt: skip
            sent += 1
    return sent


def _wants_mail(person: User) -> bool:
    profile = getattr(person, "staff_profile", None)
    return profile is None or profile.notify_by_email


def _ring(escalation_id: int) -> None:
    # By name: the tasks are a layer above.
    current_app.send_task("escalations.tasks.alert_staff", args=[escalation_id])
