"""Words that a customer asked to forget go from the log too: the row stays, and says so."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import Q

from chat import broadcast
from chat.models import Conversation, Message, Turn
from memory import services

# An open tab is sent a changed row till it has got so many more: the reply to the request, and what
# was written at the same moment.
SENT_AGAIN_FOR = 2


def remove_words(customer_id: int, words: Collection[str]) -> None:
    """Blank `words` in the customer's own rows and in what the bot said back.

    Cards and what staff wrote are their words; the question that a card told her alone stands under
    may be hers. Runs under the customer's lock, which comes after a
    conversation's: rows are locked by nothing but an erasure, and what is erased needs no blanking.
    """
    named = Q()
    for word in words:
        named |= Q(text__icontains=word)
    said = Message.objects.filter(
        named,
        conversation__customer_id=customer_id,
        kind__in=[Message.Kind.MESSAGE, Message.Kind.CHOICE],
        sender__in=[Message.Sender.CUSTOMER, Message.Sender.BOT],
    ).select_related("conversation")
    changed: set[int] = set()
    for row in said.select_for_update(of=("self",), skip_locked=True).order_by("pk"):
        text = services.without(row.text, words)
        if text != row.text:
            _store(row, text, row.meta)
            changed.add(row.conversation_id)
    titled = Message.objects.filter(
        Q(kind=Message.Kind.OFFER) | Q(kind=Message.Kind.ANSWER, meta__answer_id=None),
        conversation__customer_id=customer_id,
    ).select_related("conversation")
    for row in titled.select_for_update(of=("self",), skip_locked=True).order_by("pk"):
        meta = _titles_without(row.meta, words)
        if meta != row.meta:
            _store(row, row.text, meta)
            changed.add(row.conversation_id)
    for pk in changed:
        broadcast.rows_on_commit(pk, customer_id, changed=True)
    transaction.on_commit(lambda: _remove_beside(customer_id, words), robust=True)


def _store(row: Message, text: str, meta: dict[str, Any]) -> None:
    removed = row.conversation.last_seq + SENT_AGAIN_FOR
    Message.objects.filter(pk=row.pk).update(text=text, meta={**meta, "removed": removed})


def _titles_without(meta: dict[str, Any], words: Collection[str]) -> dict[str, Any]:
    """Of a card, or of the choices of an offer, that were told her alone."""
    left = dict(meta)
    if "title" in meta:
        left["title"] = services.without(meta["title"], words)
    if "choices" in meta:
        left["choices"] = [
            {**c, "title": services.without(c["title"], words)} if c["choice"][0] == "m" else c
            for c in meta["choices"]
        ]
    return left


def _remove_beside(customer_id: int, words: Collection[str]) -> None:
    """What she wrote beside a rating, and why a turn ended: by then no lock of hers is held."""
    hers = Conversation.objects.of_customer(customer_id)
    for pk, rated in hers.exclude(rating_words="").values_list("pk", "rating_words"):
        if (left := services.without(rated, words)) != rated:
            Conversation.objects.filter(pk=pk).update(rating_words=left)
    ended = Turn.objects.filter(conversation__customer_id=customer_id).exclude(reason="")
    for pk, reason in ended.values_list("pk", "reason"):
        blanked = services.without(reason, words)
        if blanked != reason:
            Turn.objects.filter(pk=pk).update(reason=blanked[:200])
