"""How the bot does: in whose words, how often again, in which hours, and what it saves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import Lead
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.models import Conversation, Message, Turn
from escalations.models import Escalation, Question, ReportSetting
from memory.models import AnswerMatch

from .tally import ANSWERED, HANDED_OVER, SPARED, Tally
from .weekly import (
    Chart,
    Period,
    Series,
    shares,
    summed,
    total,
    trend,
    weekly,
    weekly_by,
    within,
)

SLOT = 30 * 60  # seconds; opening times are multiples of it


def ways(tally: Tally) -> Chart:
    handed_over = tally.with_outcome(HANDED_OVER)
    delivered, chosen = tally.matched("delivered"), tally.matched("chosen")
    series = (
        Series(_("Delivered word for word"), delivered),
        Series(_("Offered and chosen"), chosen),
        Series(_("Offered"), tally.with_outcome(["offered"])),
        Series(_("Asked back"), tally.with_outcome(["asked"])),
        Series(_("Written by a model"), tally.generated()),
        Series(_("Handed to a person"), handed_over),
    )
    words, people = total(delivered) + total(chosen), total(handed_over)
    return Chart(
        "ways",
        _("How are messages answered?"),
        _("{words} in stored words, {people} handed to a person.").format(
            words=round(words), people=round(people)
        ),
        series,
        rule=_("Each message counts: several of one chat may wait for the same person."),
    )


def repeats(tally: Tally) -> Chart:
    """A repeat that needed a person: an answer stood before the question was asked."""
    period = tally.period
    asked = Question.objects.filter(
        within("asked_at", period),
        answer__isnull=False,
        answer__recorded_at__lt=F("asked_at"),
    )
    needed = weekly(asked, "asked_at", period)
    every = summed((needed, tally.matched("delivered", "chosen")), period)
    share = shares(needed, every, period)
    return Chart(
        "repeats",
        _("Do fewer repeat questions need a person?"),
        trend(share, "%", tally.period),
        (Series(_("Repeats that needed a person"), share),),
        kind="line",
        unit="%",
    )


def resolved(period: Period, rules: ReportSetting) -> Chart:
    """Confirmed: she said so. Assumed: she left content, as far as silence tells.

    Neither when she asked the same again soon after: that takes the resolution back.
    """
    quiet = period.until - timedelta(hours=rules.assumed_after_hours)
    over = Q(closed_at__isnull=False) | Q(last_message_at__lt=quiet)
    answered = Turn.objects.filter(conversation=OuterRef("pk"), outcome__in=ANSWERED)
    alone = Conversation.objects.filter(
        within("last_message_at", period),
        Q(rating=1) | (Q(rating=None) & over),
        ~Exists(Escalation.objects.filter(conversation=OuterRef("pk"))),
        Exists(answered),
    )
    back = asked_again(period, rules)
    found = weekly_by(alone.exclude(pk__in=back), "last_message_at", period, "rating")
    again = weekly(alone.filter(pk__in=back), "last_message_at", period)
    confirmed = found.get((1,), period.empty())
    assumed = found.get((None,), period.empty())
    said = _(
        "{confirmed} said that it helped; {assumed} left without a further question;"
        " {again} asked the same again."
    )
    rule = _(
        "Assumed: nothing more was said for {hours} hours, or the conversation ended."
        " Asked again: the same customer, the same question within {days} days."
    )
    return Chart(
        "resolved",
        _("Did the bot’s answers help?"),
        said.format(
            confirmed=round(total(confirmed)),
            assumed=round(total(assumed)),
            again=round(total(again)),
        ),
        (
            Series(_("Confirmed"), confirmed),
            Series(_("Assumed"), assumed),
            Series(_("Asked again"), again),
        ),
        rule=rule.format(hours=rules.assumed_after_hours, days=rules.reopened_within_days),
    )


def asked_again(period: Period, rules: ReportSetting) -> set[int]:
    """Return the conversations whose question its customer asked again in a later one.

    The same: in the same words, or met with the same answer.
    """
    within_days = timedelta(days=rules.reopened_within_days)
    rows = AnswerMatch.objects.filter(
        customer__isnull=False, created_at__gte=period.since, created_at__lt=period.until
    )
    pairs = _followed(rows, "asked_normalised", within_days)
    pairs += _followed(rows.exclude(answer=None), "answer_id", within_days)
    chat_of = _conversations({ref for pair in pairs for ref in pair})
    return {
        chat_of[first]
        for first, later in pairs
        if first in chat_of and chat_of[first] != chat_of.get(later, chat_of[first])
    }


def _followed(rows: QuerySet[AnswerMatch], same: str, days: timedelta) -> list[tuple[str, str]]:
    """Return the refs of each question and the next one that is the same, if it came soon."""
    # Most are asked once: only what came back is put in order.
    twice = rows.order_by().values_list("customer_id", same).annotate(n=Count("*")).filter(n__gt=1)
    keys = {(customer, value) for customer, value, _n in twice}
    if not keys:
        return []
    place: dict[str, Any] = {
        "partition_by": [F("customer_id"), F(same)],
        "order_by": [F("created_at").asc(), F("pk").asc()],
    }
    asked = rows.filter(
        **{"customer_id__in": {c for c, _v in keys}, f"{same}__in": {v for _c, v in keys}}
    )
    found = asked.annotate(
        again_at=Window(Lead("created_at"), **place), again_ref=Window(Lead("ref"), **place)
    ).filter(again_at__lte=F("created_at") + days)
    return list(found.order_by().values_list("ref", "again_ref"))


def _conversations(refs: set[str]) -> dict[str, int]:
    """Return the conversation of each "message:55"."""
    numbers = {int(ref[8:]): ref for ref in refs if ref[:8] == "message:" and ref[8:].isdecimal()}
    rows = Message.objects.filter(pk__in=numbers).values_list("pk", "conversation_id")
    return {numbers[pk]: conversation for pk, conversation in rows}


def after_hours(tally: Tally) -> Chart:
    asked = tally.out_of_hours(set(tally.while_shut) - {"dropped", "small_talk"})
    share = shares(tally.out_of_hours(ANSWERED), asked, tally.period)
    return Chart(
        "after-hours",
        _("What is answered while we are closed?"),
        trend(share, "%", tally.period),
        (Series(_("Answered without a person, out of hours"), share),),
        kind="line",
        unit="%",
    )


def gate(tally: Tally) -> Chart:
    """Turns for which the past was neither searched nor paid for."""
    share = shares(tally.skipped(), tally.all_turns(), tally.period)
    return Chart(
        "gate",
        _("How many messages needed no look into the customer’s past?"),
        trend(share, "%", tally.period),
        (Series(_("Messages that needed no look"), share),),
        kind="line",
        unit="%",
        rule=_("What a customer told us before is looked up only where a message may need it."),
    )


def given_back(tally: Tally, rules: ReportSetting) -> Chart:
    answered = tally.with_outcome(SPARED)
    minutes = {week: number * rules.minutes_per_answer for week, number in answered.items()}
    rule = _(
        "{minutes} minutes for each message that was answered without a person: in stored words,"
        " at once or chosen from an offer, from what is known, or by a model. Not counted:"
        " courtesies, offers, questions back, and what was only noted or forgotten."
    )
    return Chart(
        "given-back",
        _("How much time was given back?"),
        _("{time} in all.").format(time=_in_words(total(minutes))),
        (Series(_("Minutes"), minutes),),
        unit=_(" min"),
        rule=rule.format(minutes=f"{rules.minutes_per_answer:g}"),
    )


def _in_words(minutes: float) -> str:
    if minutes < 2 * 60:
        return ngettext("{n} minute", "{n} minutes", round(minutes)).format(n=round(minutes))
    hours = round(minutes / 60)
    return ngettext("{n} hour", "{n} hours", hours).format(n=hours)
