"""The customer card: what is known and from where, what happened before, what was promised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils.translation import gettext as _

from chat import conversations
from chat.models import Conversation, Turn
from memory import services
from memory.models import Customer, Memory
from memory.types import Status, Withheld

from . import notes, people, said
from .models import Escalation, StaffNote

SHOWN = 5
PROGRAMS = ("api", "agent")


@dataclass(frozen=True, slots=True)
class Line:
    memory: Memory
    label: str
    source: str
    why: str  # what staff said when they corrected it
    quote: str  # where it says more than the fact
    hidden: bool  # sensitive: shown after a click that is recorded
    starts: str  # the day from which on it holds, while that is to come
    unused: str  # why the bot does not say it now
    newer: str  # what was said of it in a chat that is still open


@dataclass(frozen=True, slots=True)
class Past:
    conversation: Conversation
    summary: str  # none while memory has not read it


@dataclass(frozen=True, slots=True)
class Card:
    customer: Customer
    lines: list[Line]
    faded: list[Line]  # let go, since nobody had confirmed it for long
    past: list[Past]
    tried: list[Memory]  # what helped, and what did not
    promises: list[Escalation]
    notes: list[StaffNote]
    turns: list[Turn]  # of the conversation beside the card


def card(
    customer: Customer, *, now: datetime, but: int | None = None, show_sensitive: bool = False
) -> Card:
    """`but`: the conversation that is open beside the card."""
    return Card(
        customer=customer,
        lines=_lines(customer, known(customer, now), now, show_sensitive),
        faded=_lines(customer, faded(customer, now)[:SHOWN], now, show_sensitive),
        past=_past(customer, but, now),
        tried=list(
            Memory.objects.for_customer(customer.pk)
            .active(now)
            .filter(kind="experience", sensitive=False)
            .order_by("-stated_at")[:SHOWN]
        ),
        promises=list(
            Escalation.objects.open()
            .filter(conversation__customer=customer)
            .exclude(promise="")
            .order_by("opened_at")[:SHOWN]
        ),
        notes=list(
            notes.of(customer).exclude(conversation__isnull=False, conversation=but)[:SHOWN]
        ),
        turns=list(Turn.objects.filter(conversation=but).order_by("-created_at", "-pk")[:10]),
    )


def _past(customer: Customer, but: int | None, now: datetime) -> list[Past]:
    """Her last conversations, each with what memory has made of it."""
    found = list(
        Conversation.objects.filter(customer=customer)
        .exclude(pk=but or 0)
        .order_by("-last_message_at")[:SHOWN]
    )
    read = (
        Memory.objects.for_customer(customer.pk)
        .active(now)
        .filter(kind="summary", sensitive=False, episode__isnull=False)
        .order_by("stated_at")
        .values_list("episode__ref", "text")
    )
    summed: dict[str, list[str]] = {}
    for ref, text in read:
        summed.setdefault(":".join(ref.split(":")[:2]), []).append(text)
    return [Past(c, " ".join(summed.get(f"conversation:{c.pk}", []))) for c in found]


def known(customer: Customer, now: datetime) -> QuerySet[Memory]:
    """Return the facts that the card holds: hidden ones too, and what is to hold from a day on."""
    held = Memory.objects.for_customer(customer.pk)
    held = held.active(now) | held.filter(status=Status.ACTIVE, valid_from__gt=now)
    shown = held.exclude(kind__in=("summary", "experience")).select_related("topic", "episode")
    return shown.order_by("topic__label", F("valid_from").asc(nulls_first=True), "-stated_at")


def faded(customer: Customer, now: datetime) -> QuerySet[Memory]:
    """Return what can be brought back: nothing newer stands in its place, and the words are there.

    What she asked to forget has none left.
    """
    rows = Memory.objects.for_customer(customer.pk).filter(status=Status.FORGOTTEN).exclude(text="")
    newer = Memory.objects.filter(
        customer=customer, topic=OuterRef("topic"), status=Status.ACTIVE, valid_until=None
    )
    rows = rows.exclude(Exists(newer), single_valued=True).exclude(valid_until__lte=now)
    shown = rows.exclude(kind__in=("summary", "experience")).select_related("topic", "episode")
    return shown.order_by("-ended_at", "-pk")


def source_of(memory: Memory, staff: Mapping[int, str]) -> str:
    """Say in words where a fact comes from and how old it is. `staff`: names by user id."""
    day = _day(memory.stated_at)
    kind, _colon, who = memory.made_by.partition(",")[0].partition(":")
    if memory.corrected_by_staff:
        by = staff.get(_number(who), _("staff"))
        how = (
            _("corrected by {who} on {day}")
            if memory.corrected_away
            else _("added by {who} on {day}")
        )
        return how.format(who=by, day=day)
    if memory.kind == "staff_answer":
        return _("our answer of {day}, for this customer alone").format(day=day)
    if kind in PROGRAMS:
        return _("told by the program “{who}” on {day}").format(who=who, day=day)
    if memory.times_stated > 1:
        return _("said {times} times, last in a chat on {day}").format(
            times=memory.times_stated, day=day
        )
    return _("said in a chat on {day}").format(day=day)


def _names(memories: Iterable[Memory]) -> dict[int, str]:
    ids = {_number(m.made_by.partition(",")[0].removeprefix("staff:")) for m in memories}
    return {u.pk: people.name_of(u) for u in User.objects.filter(pk__in=ids)}


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def shown(memory: Memory) -> str:
    """Return a fact as it stands on the card, and in the box in which it is corrected."""
    return memory.text or memory.value


def corrected(memory: Memory, told: str) -> tuple[str, str]:
    """Return (value, sentence) of a corrected fact: a value is no sentence.

    The box holds the sentence. What was changed around the value leaves the value; what was put in
    its place is the new one. A sentence that was written anew is looked at for what it kept.
    """
    if not memory.value or memory.value == shown(memory):
        return told, told
    at = memory.text.casefold().find(memory.value.casefold())
    if at < 0:
        return told, told
    before, after = memory.text[:at], memory.text[at + len(memory.value) :]
    kept = told.casefold()
    if kept.startswith(before.casefold()) and kept.endswith(after.casefold()):
        value = told[len(before) : len(told) - len(after)].strip()
        if value:
            return value, told
    if memory.value.casefold() in kept:
        return memory.value, told
    if len(told.split()) <= len(memory.value.split()) + 1:  # the value alone was written
        return told, f"{before}{told}{after}"
    return told, told


def _lines(
    customer: Customer, found: Iterable[Memory], now: datetime, show_sensitive: bool
) -> list[Line]:
    memories = list(found)
    if not memories:
        return []
    names = _names(m for m in memories if m.corrected_by_staff)
    clock = conversations.customer_clock(customer)
    at = services.withheld(customer.pk, wait=False)
    noted = said.in_open_chats(customer)
    return [
        Line(
            memory=m,
            label=m.topic.label if m.topic else m.get_category_display(),
            source=source_of(m, names),
            why=m.corrected_away_why if m.corrected_by_staff else "",
            quote="" if m.corrected_by_staff or m.quote == m.text else m.quote,
            hidden=m.sensitive and not show_sensitive,
            starts=_starts(m, now, clock),
            unused=_unused(m, at),
            newer=said.newer_than(m, noted),
        )
        for m in memories
    ]


def _starts(memory: Memory, now: datetime, clock: tzinfo) -> str:
    start = memory.valid_from
    return _day(start.astimezone(clock)) if start is not None and start > now else ""


def _unused(memory: Memory, at: Withheld) -> str:
    key = memory.topic.key if memory.topic else None
    if key in at.disputed:
        return _("The bot does not say it till somebody has decided what is so.")
    if key in at.unread:
        return _("The bot does not say it: newer words on this are not read yet.")
    return ""


def _day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"
