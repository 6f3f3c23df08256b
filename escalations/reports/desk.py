"""How the desk does: how long people wait, what comes back, what is learnt."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from statistics import median

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from escalations import hours, promise
from escalations.models import Escalation, Queue, ReportSetting
from memory.models import MemoryEvent

from .weekly import Chart, Period, Series, total, trend, week_of, weekly, within

NOT_ASKED = (Escalation.Reason.TAKEN, Escalation.Reason.STAFF_FIRST)


def first_reply(period: Period) -> Chart:
    """The median wait of each week, in minutes of opening time."""
    waits: dict[date, list[float]] = defaultdict(list)
    calendar = default_hours()
    rows = asked_people(period).filter(first_reply_at__isnull=False)
    for opened, replied in rows.values_list("opened_at", "first_reply_at"):
        minutes = (
            hours.open_minutes(calendar, opened, replied)
            if calendar
            else (replied - opened).total_seconds() / 60
        )
        waits[week_of(opened, period)].append(minutes)
    values = {week: round(median(waits[week])) for week in sorted(waits)}
    return Chart(
        "first-reply",
        _("How long does a person take to answer?"),
        trend(values, _(" min")),
        (Series(_("Minutes of opening time, the middle one of the week"), values),),
        kind="line",
        unit=_(" min"),
    )


def reopened(period: Period, rules: ReportSetting) -> Chart:
    resolved = Escalation.objects.filter(within("closed_at", period), resolution="resolved")
    back = weekly(resolved.filter(reopened_at__isnull=False), "closed_at", period)
    stand = weekly(resolved.filter(reopened_at=None), "closed_at", period)
    said = _("{back} of {all} came back.")
    return Chart(
        "reopened",
        _("Do resolved questions stay resolved?"),
        said.format(back=round(total(back)), all=round(total(back) + total(stand))),
        (Series(_("Resolved for good"), stand), Series(_("Asked again"), back)),
        rule=_("Asked again by the same customer within {days} days.").format(
            days=rules.reopened_within_days
        ),
    )


def memory(period: Period) -> Chart:
    kinds = (
        ("memory.created", _("New")),
        ("memory.reinforced", _("Said again")),
        ("memory.superseded", _("Replaced")),
        ("memory.forgotten", _("Forgotten")),
    )
    events = MemoryEvent.objects.filter(within("at", period))
    series = tuple(
        Series(label, weekly(events.filter(kind=kind), "at", period)) for kind, label in kinds
    )
    said = _("{new} facts learnt, {replaced} replaced by newer ones.")
    return Chart(
        "memory",
        _("What has been learnt about customers?"),
        said.format(new=round(total(series[0].values)), replaced=round(total(series[2].values))),
        series,
    )


def asked_people(period: Period) -> QuerySet[Escalation]:
    return Escalation.objects.filter(within("opened_at", period)).exclude(reason__in=NOT_ASKED)


def default_hours() -> hours.Hours | None:
    queue = Queue.objects.select_related("calendar").order_by("-is_default", "pk").first()
    if queue is None:
        return None
    try:
        return promise.opening_hours(queue.calendar)
    except hours.BadHours:
        return None
