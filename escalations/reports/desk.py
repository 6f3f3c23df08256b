"""How the desk does: how long people wait, what comes back, what is learnt."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from statistics import median

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils.translation import gettext as _

from escalations import hours, promise
from escalations.models import Escalation, Queue, ReportSetting

from .tally import MEMORY_EVENTS, Tally
from .weekly import Chart, Period, Series, Stamp, total, trend, week_of, weekly_by, within

NOT_ASKED = (Escalation.Reason.TAKEN, Escalation.Reason.STAFF_FIRST)


def asked_people(period: Period) -> QuerySet[Escalation]:
    return Escalation.objects.filter(within("opened_at", period)).exclude(reason__in=NOT_ASKED)


def open_clock(period: Period) -> hours.OpenClock | None:
    """Return the opening time of the default queue; None when there is none to go by."""
    queue = Queue.objects.select_related("calendar").order_by("-is_default", "pk").first()
    if queue is None:
        return None
    try:
        calendar = promise.opening_hours(queue.calendar)
    except hours.BadHours:
        return None
    return hours.OpenClock(calendar, period.since, period.until)


def first_reply(period: Period, clock: hours.OpenClock | None) -> Chart:
    """The median wait of each week, in minutes of opening time."""
    waits: dict[date, list[float]] = defaultdict(list)
    rows = asked_people(period).filter(first_reply_at__isnull=False)
    stamps = rows.values_list(Stamp("opened_at"), Stamp("first_reply_at"))
    week_at = week_of(period)
    for opened, replied in stamps:
        seconds = clock.seconds(opened, replied) if clock is not None else replied - opened
        waits[week_at(opened)].append(seconds / 60)
    values = {week: float(round(median(waits[week]))) for week in sorted(waits)}
    return Chart(
        "first-reply",
        _("How long does a person take to answer?"),
        trend(values, _(" min"), period),
        (Series(_("Minutes of opening time, the middle one of the week"), values),),
        kind="line",
        unit=_(" min"),
    )


def reopened(period: Period, rules: ReportSetting) -> Chart:
    rows = Escalation.objects.filter(within("closed_at", period), resolution="resolved").annotate(
        back=Case(
            When(reopened_at=None, then=Value(0)), default=Value(1), output_field=IntegerField()
        )
    )
    found = weekly_by(rows, "closed_at", period, "back")
    back, stand = found.get((1,), period.empty()), found.get((0,), period.empty())
    said = _("{back} of {all} came back.")
    rule = _("Asked again by the same customer within {days} days.")
    return Chart(
        "reopened",
        _("Do resolved questions stay resolved?"),
        said.format(back=round(total(back)), all=round(total(back) + total(stand))),
        (Series(_("Resolved for good"), stand), Series(_("Asked again"), back)),
        rule=rule.format(days=rules.reopened_within_days),
    )


def memory(tally: Tally) -> Chart:
    labels = (_("New"), _("Said again"), _("Replaced"), _("Forgotten"))
    series = tuple(
        Series(label, tally.event(kind)) for kind, label in zip(MEMORY_EVENTS, labels, strict=True)
    )
    said = _("{new} facts learnt, {replaced} replaced by newer ones.")
    return Chart(
        "memory",
        _("What has been learnt about customers?"),
        said.format(new=round(total(series[0].values)), replaced=round(total(series[2].values))),
        series,
    )
