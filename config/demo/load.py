"""Put the practice in place; what is already there, changed or not, is left alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth import get_user_model
from django.db import transaction

from chat import conversations
from chat.conversations import NewRow
from chat.models import Business, Conversation
from config.demo.answers import ANSWERS
from config.demo.customers import CUSTOMERS, DemoCustomer
from config.demo.practice import (
    BUSINESS,
    CALENDAR,
    CANNED,
    EMAIL_DOMAIN,
    NOTES,
    PASSWORDS,
    QUEUE,
    STAFF,
    TIMEZONE,
    WEEKLY,
    holidays,
)
from config.demo.topics import TOPICS
from escalations.models import Calendar, CannedReply, Queue, StaffProfile
from memory import services
from memory.models import Answer, Customer, Note, Topic

ACTOR = "demo"  # in the history, so that `clear` finds what was written here
REF = "demo:"
User = get_user_model()


@transaction.atomic
def load(*, now: datetime) -> None:
    staff = {name: _staff(name) for name in STAFF}
    _practice(list(staff.values()), now)
    for fields in TOPICS:
        if not Topic.objects.filter(key=fields["key"]).exists():
            services.save_topic(**fields, by=ACTOR, now=now)
    _answers(staff, now)
    _notes(now)
    for customer in CUSTOMERS:
        if not Customer.objects.filter(external_id=REF + customer.key).exists():
            _customer(customer, now)


def _staff(name: str) -> Any:
    first_name, role, is_admin = STAFF[name]
    user, new = User.objects.get_or_create(
        username=name,
        defaults={
            "first_name": first_name,
            "email": f"{name}@{EMAIL_DOMAIN}",
            "is_staff": True,
            "is_superuser": is_admin,
        },
    )
    if new:
        user.set_password(PASSWORDS[name])
        user.save(update_fields=["password"])
        StaffProfile.objects.create(user=user, role=role, display_name=first_name)
    return user


def _practice(staff: list[Any], now: datetime) -> None:
    business, _ = Business.objects.get_or_create(pk=1)
    if business.name == Business._meta.get_field("name").default:
        Business.objects.filter(pk=1).update(**BUSINESS)
    calendar, _ = Calendar.objects.get_or_create(
        name=CALENDAR,
        defaults={
            "timezone": TIMEZONE,
            "weekly": WEEKLY,
            "exceptions": holidays(now.year) | holidays(now.year + 1),
        },
    )
    is_default = not Queue.objects.filter(is_default=True).exists()
    queue, new = Queue.objects.get_or_create(
        name=QUEUE, defaults={"calendar": calendar, "is_default": is_default}
    )
    if new:
        queue.members.set(staff)
    for shortcut, text in CANNED.items():
        CannedReply.objects.get_or_create(shortcut=shortcut, defaults={"text": text})


def _answers(staff: dict[str, Any], now: datetime) -> None:
    for n, answer in enumerate(ANSWERS):
        ref = REF + answer.key
        if Answer.objects.filter(source_ref=ref).exists():
            continue
        author, days = staff[answer.by], answer.review_in_days
        services.add_answer(
            title=answer.title,
            parts=list(answer.parts),
            by=ACTOR,
            staff_id=author.pk,
            author_name=author.first_name,
            role=STAFF[answer.by][1],
            now=now - timedelta(days=90 - n),
            source_ref=ref,
            review_on=(now + timedelta(days=days)).date() if days else None,
        )


def _notes(now: datetime) -> None:
    for note in NOTES:
        if Note.objects.filter(title=note["title"]).exists():
            continue
        topic = Topic.objects.filter(key=note["topic"]).first() if note["topic"] else None
        services.save_note(None, **{**note, "topic": topic}, by=ACTOR, now=now)


def _customer(demo: DemoCustomer, now: datetime) -> None:
    """Let the customer say it in a conversation: memory makes of it what it makes of any."""
    at = _morning(now - timedelta(days=demo.days_ago))
    customer = services.identify(REF + demo.key, name=demo.name, timezone=TIMEZONE, now=at)
    conversation = conversations.start(customer.pk, now=at, verified=True)
    for n, line in enumerate(demo.lines):
        at += timedelta(minutes=1)
        _say(conversation, line.sender, line.text, n, at)
    conversations.close(conversation.pk, reason="ended", now=at + timedelta(minutes=1))


def _say(conversation: Conversation, sender: str, text: str, n: int, at: datetime) -> None:
    if sender == "customer":
        conversations.record_customer_message(
            conversation.pk, client_id=f"demo-{n}", text=text, now=at
        )
        return
    conversations.record_bot_reply(
        conversation.pk, answering_seq=n, rows=[NewRow(text)], outcome="noted", trace={}, now=at
    )


def _morning(day: datetime) -> datetime:
    return day.astimezone(ZoneInfo(TIMEZONE)).replace(hour=9, minute=5, second=0, microsecond=0)
