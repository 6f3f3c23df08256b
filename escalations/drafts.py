"""What a writer has begun: drafts on the server, canned replies, and who is looking or typing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from chat.conversations import business
from chat.models import Message
from memory.models import Customer

from .models import CannedReply, Draft, Escalation, Presence
from .people import name_of

VIEWING = timedelta(seconds=40)  # the page says every 15 s that it is there
TYPING = timedelta(seconds=8)


@dataclass(frozen=True, slots=True)
class Looker:
    name: str
    typing: bool


def save(escalation: Escalation, *, staff: User, text: str, seen_seq: int, now: datetime) -> None:
    """Keep what was begun, a sign of life of the claim; an emptied box is no draft."""
    if not text.strip():
        Draft.objects.filter(escalation=escalation, staff=staff).delete()
        return
    draft, new = Draft.objects.get_or_create(
        escalation=escalation,
        staff=staff,
        defaults={"text": text, "seen_seq": seen_seq, "updated_at": now},
    )
    if not new:
        # seen_seq stays as it was when the draft was begun, until the writer has read on.
        Draft.objects.filter(pk=draft.pk).update(
            text=text, seen_seq=max(draft.seen_seq, seen_seq), updated_at=now
        )
    Escalation.objects.open().filter(pk=escalation.pk, claimed_by=staff).update(active_at=now)


def of(escalation: Escalation, staff: User) -> Draft | None:
    return Draft.objects.filter(escalation=escalation, staff=staff).first()


def arrived_since(escalation: Escalation, seen_seq: int) -> list[Message]:
    """What the customer said after the writer last looked: shown before a reply is sent."""
    return list(
        Message.objects.filter(conversation_id=escalation.conversation_id, seq__gt=seen_seq)
        .exclude(sender=Message.Sender.STAFF)
        .exclude(kind=Message.Kind.STATE)
        .order_by("seq")
    )


def canned(*, customer: Customer, staff: User) -> list[tuple[str, str]]:
    """Return (shortcut, text) of every canned reply with its variables filled in."""
    names = {
        "customer": customer.name or "",
        "staff": name_of(staff),
        "business": business().name,
    }
    return [
        (reply.shortcut, _fill(reply.text, names))
        for reply in CannedReply.objects.order_by("shortcut")
    ]


def seen(escalation: Escalation, *, staff: User, typing: bool, now: datetime) -> bool:
    """Note that `staff` looks (and types); return whether colleagues would see a difference."""
    before = Presence.objects.filter(escalation=escalation, staff=staff).first()
    Presence.objects.update_or_create(
        escalation=escalation,
        staff=staff,
        defaults={"seen_at": now, "typing_at": now if typing else None},
    )
    if before is None or now - before.seen_at > VIEWING:
        return True
    return typing != _is_typing(before, now)


def left(*, staff: User) -> bool:
    """Forget where `staff` was; return whether anybody would see a difference."""
    return bool(Presence.objects.filter(staff=staff).delete()[0])


def lookers(escalation: Escalation, *, but: User, now: datetime) -> list[Looker]:
    rows = (
        Presence.objects.filter(escalation=escalation, seen_at__gt=now - VIEWING)
        .exclude(staff=but)
        .select_related("staff")
        .order_by("staff_id")
    )
    return [Looker(name_of(row.staff), _is_typing(row, now)) for row in rows]


def _is_typing(presence: Presence, now: datetime) -> bool:
    return presence.typing_at is not None and now - presence.typing_at < TYPING


def _fill(text: str, names: dict[str, str]) -> str:
    """Fill {customer}, {staff}, {business}; anything else in braces stays as it was written."""
    for key, value in names.items():
        text = text.replace(f"{{{key}}}", value)
    return text
