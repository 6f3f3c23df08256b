"""How the bot does: in whose words, how often again, in which hours, and what it saves."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from django.db.models import Count, DateTimeField, F, Func, Q, QuerySet, Value
from django.utils.translation import gettext as _

from chat.models import Conversation, Turn
from escalations import hours
from escalations.models import Question, ReportSetting
from memory.models import AnswerMatch

from .desk import asked_people, default_hours
from .weekly import Chart, Period, Series, Weekly, shares, total, trend, week_of, weekly, within

# What the bot settled without a person, as chat's turns name it.
ANSWERED = ("answered", "note", "recalled", "noted", "forgot")
GENERATED = Q(outcome="answered", trace__engine="openai", trace__answer__used=[])
SLOT = timedelta(minutes=30)  # opening times are multiples of it


def ways(period: Period) -> Chart:
    turns = _turns(period)
    matches = AnswerMatch.objects.filter(within("created_at", period))
    delivered = weekly(matches.filter(outcome="delivered"), "created_at", period)
    chosen = weekly(matches.filter(outcome="chosen"), "created_at", period)
    series = (
        Series(_("Delivered word for word"), delivered),
        Series(_("Offered and chosen"), chosen),
        Series(_("Offered"), weekly(turns.filter(outcome="offered"), "created_at", period)),
        Series(_("Asked back"), weekly(turns.filter(outcome="asked"), "created_at", period)),
        Series(
            _("Written by a model"),
            weekly(turns.filter(GENERATED), "created_at", period),
        ),
        Series(_("Handed to a person"), weekly(asked_people(period), "opened_at", period)),
    )
    words, people = total(delivered) + total(chosen), total(series[-1].values)
    return Chart(
        "ways",
        _("How are messages answered?"),
        _("{words} in stored words, {people} handed to a person.").format(
            words=round(words), people=round(people)
        ),
        series,
    )


def repeats(period: Period) -> Chart:
    """A repeat that needed a person: an answer stood before the question was asked."""
    asked = Question.objects.filter(within("asked_at", period))
    needed = weekly(
        asked.filter(answer__isnull=False, answer__recorded_at__lt=F("asked_at")),
        "asked_at",
        period,
    )
    matches = AnswerMatch.objects.filter(
        within("created_at", period), outcome__in=("delivered", "chosen")
    )
    without = weekly(matches, "created_at", period)
    every = {week: needed[week] + without[week] for week in needed}
    share = shares(needed, every, period)
    return Chart(
        "repeats",
        _("Do fewer repeat questions need a person?"),
        trend(share, "%"),
        (Series(_("Repeats that needed a person"), share),),
        kind="line",
        unit="%",
    )


def resolved(period: Period, rules: ReportSetting) -> Chart:
    """Confirmed: she said so, or chose it. Assumed: she left content, as far as silence tells."""
    quiet = period.until - timedelta(hours=rules.assumed_after_hours)
    alone = Conversation.objects.filter(
        within("last_message_at", period), escalations=None, turns__outcome__in=ANSWERED
    ).distinct()
    confirmed = weekly(alone.filter(rating=1), "last_message_at", period)
    silent = alone.filter(rating=None).filter(
        Q(closed_at__isnull=False) | Q(last_message_at__lt=quiet)
    )
    assumed = weekly(silent, "last_message_at", period)
    said = _("{confirmed} said that it helped; {assumed} left without a further question.")
    return Chart(
        "resolved",
        _("Did the bot’s answers help?"),
        said.format(confirmed=round(total(confirmed)), assumed=round(total(assumed))),
        (Series(_("Confirmed"), confirmed), Series(_("Assumed"), assumed)),
        rule=_(
            "Assumed: nothing more was said for {hours} hours, or the conversation ended."
        ).format(hours=rules.assumed_after_hours),
    )


def after_hours(period: Period) -> Chart:
    calendar = default_hours()
    slots = (
        _turns(period)
        .annotate(
            slot=Func(
                Value(SLOT),
                F("created_at"),
                Value(period.since),
                function="date_bin",
                output_field=DateTimeField(),
            )
        )
        .values("slot")
        .annotate(
            all=Count("pk", filter=~Q(outcome__in=("dropped", "small_talk"))),
            settled=Count("pk", filter=Q(outcome__in=ANSWERED)),
        )
        .order_by("slot")
    )
    asked: Weekly = defaultdict(float)
    settled: Weekly = defaultdict(float)
    for row in slots:
        if calendar is not None and hours.is_open(calendar, row["slot"] + SLOT / 2):
            continue
        week = week_of(row["slot"], period)
        asked[week] += row["all"]
        settled[week] += row["settled"]
    share = shares(settled, asked, period)
    return Chart(
        "after-hours",
        _("What is answered while we are closed?"),
        trend(share, "%"),
        (Series(_("Answered without a person, out of hours"), share),),
        kind="line",
        unit="%",
    )


def _slot(period: Period) -> Func:
    bounds = (Value(SLOT), F("created_at"), Value(period.since))
    return Func(*bounds, function="date_bin", output_field=DateTimeField())


def gate(period: Period) -> Chart:
    """Turns for which the past was neither searched nor paid for."""
    turns = _turns(period)
    skipped = weekly(turns.filter(trace__gate__skipped=True), "created_at", period)
    every = weekly(turns, "created_at", period)
    share = shares(skipped, every, period)
    return Chart(
        "gate",
        _("How often is the past left alone?"),
        trend(share, "%"),
        (Series(_("Messages that needed no memory"), share),),
        kind="line",
        unit="%",
    )


def given_back(period: Period, rules: ReportSetting) -> Chart:
    answered = weekly(_turns(period).filter(outcome__in=ANSWERED), "created_at", period)
    minutes = {week: number * rules.minutes_per_answer for week, number in answered.items()}
    said = _("{hours} hours in this time.")
    return Chart(
        "given-back",
        _("How much time was given back?"),
        said.format(hours=round(total(minutes) / 60)),
        (Series(_("Minutes"), minutes),),
        unit=_(" min"),
        rule=_("{minutes} minutes for each message that was answered without a person.").format(
            minutes=f"{rules.minutes_per_answer:g}"
        ),
    )


def _turns(period: Period) -> QuerySet[Turn]:
    return Turn.objects.filter(within("created_at", period))
