"""What is locked while memory is written, in this order: answers, a customer, topics, memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from memory.models import Customer, Topic
from memory.prepared import Prepared, argument


@contextmanager
def customer_locked(customer_id: int) -> Iterator[Customer]:
    """One transaction under the customer's row lock, which is taken after all other locks but
    those of her topics (`hold_topics`) and memories, in this order.

    No key of hers changes, so that rows which point at her (a chat begun, a question put to the
    answers) need not wait for it.
    """
    with transaction.atomic():
        for customer in _LOCKED.instances(pk=customer_id):
            yield customer
            return
        raise Customer.DoesNotExist


_LOCKED = Prepared(
    lambda: Customer.objects.select_for_update(no_key=True).filter(pk=argument("pk"))
)


def hold_topics(ids: Iterable[int | None]) -> None:
    """Lock topics that will be changed: after their customer, before any row that is of them.

    A change of a topic goes on to its memories, so whoever changes a memory first and its topic
    afterwards would wait for it crosswise. No key changes: memories that come in need not wait.
    """
    wanted = Topic.objects.filter(pk__in=[pk for pk in ids if pk is not None])
    list(wanted.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def in_turn(what: str) -> None:
    """Let one transaction at a time change `what`: two that see no row cannot lock it.

    Answers come after an escalation and before a conversation in the order of locks.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"memory.{what}"])
