"""Take the practice out again: what `load` put there, and nothing that people made since."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import ProtectedError, Q

from chat.models import Business
from config.demo.load import ACTOR, REF
from config.demo.practice import BUSINESS, CALENDAR, CANNED, EMAIL_DOMAIN, NOTES, QUEUE
from config.demo.topics import TOPICS
from escalations.models import Calendar, CannedReply, Escalation, Queue
from memory import services
from memory.models import Answer, Customer, ErasureReceipt, MemoryEvent, Note, Topic

User = get_user_model()


@transaction.atomic
def clear(*, now: datetime) -> list[str]:
    """Return what had to stay, each in a sentence."""
    _customers(now)
    answers = Answer.objects.filter(source_ref__startswith=REF)
    MemoryEvent.objects.filter(Q(answer__in=answers) | Q(actor=ACTOR)).delete()
    answers.delete()
    Note.objects.filter(title__in=[n["title"] for n in NOTES]).delete()
    CannedReply.objects.filter(shortcut__in=CANNED, text__in=CANNED.values()).delete()
    stays = [_try_topic(t["key"]) for t in TOPICS]
    stays += [_try(Queue, QUEUE), _try(Calendar, CALENDAR)]
    stays += [_account(user) for user in User.objects.filter(email__endswith=f"@{EMAIL_DOMAIN}")]
    Business.objects.filter(name=BUSINESS["name"]).delete()
    return [sentence for sentence in stays if sentence]


def _customers(now: datetime) -> None:
    ids = list(Customer.objects.filter(external_id__startswith=REF).values_list("pk", flat=True))
    MemoryEvent.objects.filter(customer__in=ids).delete()
    for pk in ids:
        services.erase(pk, by=ACTOR, now=now)
    ErasureReceipt.objects.filter(customer_pk__in=ids, actor=ACTOR).delete()


def _try_topic(key: str) -> str:
    try:
        # In a savepoint: somebody's real memories may stand on it.
        with transaction.atomic():
            Topic.objects.filter(key=key).delete()
    except ProtectedError:
        return f"The topic {key} stays: customers of yours have memories of it."
    return ""


def _try(model: type[Queue] | type[Calendar], name: str) -> str:
    try:
        with transaction.atomic():
            model._default_manager.filter(name=name).delete()
    except ProtectedError:
        return f"The {model._meta.verbose_name} {name} stays: it is in use."
    return ""


def _account(user: object) -> str:
    assert isinstance(user, User)  # noqa: S101 - says so to the type checker
    if not Escalation.objects.filter(Q(claimed_by=user) | Q(closed_by=user)).exists():
        user.delete()
        return ""
    user.is_active = False
    user.set_unusable_password()
    user.save(update_fields=["is_active", "password"])
    return f"The account {user} stays, locked: it has answered customers of yours."
