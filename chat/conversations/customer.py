"""What the customer does: say, choose, rate, leave an address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import CharField, Q

from chat import signals, wordings
from chat.models import Conversation, Message, Turn
from memory import services
from memory.models import Customer
from memory.prepared import Prepared, argument

from . import outcome
from .log import Closed, Handler, Kind, Sender, append, locked, save

SEEN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Recorded:
    message: Message
    new: bool  # False: this client_id was stored before
    may_answer: bool  # False: a person has the conversation, or it is no new message


@dataclass(frozen=True, slots=True)
class Chosen:
    message: Message
    new: bool
    choice: str  # "<answer id>" or "none"
    question_seq: int
    question: str  # the customer's own words that the offer was for
    match_id: int | None
    may_answer: bool


class Lapsed(Exception):
    """The offer was answered, or something newer was said."""


@transaction.atomic
def record_customer_message(
    conversation_id: int,
    *,
    client_id: str,
    text: str,
    now: datetime,
    for_person: bool = False,
    canned: bool = False,
) -> Recorded:
    """Store the customer's words once per `client_id`, without the secrets in them. Raises Closed.

    `for_person`: by the button that asks for a person, so that something is always wanted.
    `canned`: the words are the button's, and say nothing of the customer.
    """
    conversation = locked(conversation_id)
    for known in _SENT_BEFORE.instances(conversation=conversation_id, client_id=client_id):
        return Recorded(known, new=False, may_answer=False)
    if conversation.closed_at:
        raise Closed
    text, hidden = services.without_secrets(text)
    message = append(
        conversation,
        sender=Sender.CUSTOMER,
        text=text,
        client_id=client_id,
        now=now,
        meta={"canned": True} if canned else {},
    )
    if hidden:
        _say_what_is_hidden(conversation, hidden, now)
    # Earlier words that still wait are answered by the turn of the newest.
    waits = conversation.answer_due_at is not None
    wants = for_person or waits or says_more(text)
    may_answer = wants and _expect_answer(conversation, now)
    save(conversation, now=now)
    # Once a minute: a row of hers that memory holds would keep each message waiting.
    unseen = Q(last_seen_at=None) | Q(last_seen_at__lt=now - SEEN_EVERY)
    Customer.objects.filter(unseen, pk=conversation.customer_id).update(last_seen_at=now)
    return Recorded(message, new=True, may_answer=may_answer)


@transaction.atomic
def choose(
    conversation_id: int, *, offer_seq: int, choice: str, client_id: str, now: datetime
) -> Chosen:
    """Answer an offer; the first choice of all tabs wins. Raises Lapsed, Closed."""
    conversation = locked(conversation_id)
    if known := conversation.messages.filter(client_id=client_id).first():
        if known.kind != Kind.CHOICE:
            raise Lapsed  # the number is spent: she has said something under it
        return _chosen(conversation, known, new=False, may_answer=False)
    if conversation.closed_at:
        raise Closed
    offer = conversation.messages.filter(seq=offer_seq, kind=Kind.OFFER).first()
    titles = {c["choice"]: c["title"] for c in offer.meta["choices"]} if offer else {}
    if offer:  # always the last button, and no stored answer
        titles["none"] = wordings.say("something_else", conversation.pk, offer_seq)
    if choice not in titles or _said_since(conversation, offer_seq) or _with_staff(conversation):
        raise Lapsed
    message = append(
        conversation,
        sender=Sender.CUSTOMER,
        kind=Kind.CHOICE,
        text=titles[choice],
        client_id=client_id,
        meta={"offer_seq": offer_seq, "choice": choice},
        now=now,
    )
    may_answer = _expect_answer(conversation, now)
    save(conversation, now=now)
    return _chosen(conversation, message, new=True, may_answer=may_answer)


def _said_since(conversation: Conversation, seq: int) -> bool:
    """A state line is nobody's words: it leaves an offer open."""
    newer = conversation.messages.filter(seq__gt=seq)
    return newer.exclude(kind=Kind.STATE).exists()


def find(customer_id: int, client_id: str) -> Message | None:
    """Return the customer's row of that number, from whichever conversation.

    A retry may come late.
    """
    return next(iter(_HERS.instances(hers=customer_id, client_id=client_id)), None)


_HERS = Prepared(
    lambda: Message.objects.filter(
        conversation__customer_id=argument("hers"), client_id=argument("client_id", CharField())
    ).order_by("pk")[:1]
)


@transaction.atomic
def rate(conversation_id: int, *, score: int, words: str = "", now: datetime) -> None:
    """Good (1) or bad (-1); a later rating replaces an earlier one."""
    conversation = locked(conversation_id)
    words, _ = services.without_secrets(words)
    save(conversation, now=now, changed={"rating": score, "rating_words": words})
    outcome.tell(conversation, "helped" if score > 0 else "not_helped", by="customer", now=now)
    if score > 0:
        outcome.thank(conversation, now=now)


@transaction.atomic
def set_reply_email(conversation_id: int, *, email: str, link: str, now: datetime) -> None:
    """Keep an address for one signed link back.

    It proves nothing: no customer is looked up by it.
    """
    conversation = locked(conversation_id)
    if conversation.reply_email:  # another tab was faster
        return
    append(
        conversation,
        sender=Sender.SYSTEM,
        kind=Kind.STATE,
        text=wordings.say("email_left", conversation.pk, conversation.last_seq, email=email),
        meta={"state": "email"},
        now=now,
    )
    save(conversation, now=now, changed={"reply_email": email})
    signals.reply_email_left.send(
        sender=Conversation, conversation=conversation, email=email, link=link, now=now
    )


def turns_since(conversation: Conversation) -> int:
    """Return how often the bot has answered since it got the conversation."""
    return len(_TURNS(conversation=conversation.pk, since=conversation.bot_since_seq))


_TURNS = Prepared(
    lambda: (
        Turn.objects.filter(
            conversation_id=argument("conversation"), question_seq__gt=argument("since")
        )
        .exclude(outcome="dropped")
        .values_list("pk")
    )
)
_SENT_BEFORE = Prepared(
    lambda: Message.objects.filter(
        conversation_id=argument("conversation"), client_id=argument("client_id", CharField())
    )
)


def tokens_since(conversation: Conversation) -> int:
    """Return how many tokens the model has cost since the bot got the conversation."""
    since = conversation.bot_since_seq
    traces = conversation.turns.filter(question_seq__gt=since).values_list("trace", flat=True)
    return sum(trace.get("tokens", 0) for trace in traces)


def mark_seen(conversation_id: int, *, seq: int) -> None:
    """The customer's tab shows rows up to `seq`."""
    Conversation.objects.filter(pk=conversation_id, customer_seen_seq__lt=seq).update(
        customer_seen_seq=seq
    )


def _say_what_is_hidden(conversation: Conversation, kinds: tuple[str, ...], now: datetime) -> None:
    named = [f"an {kind}" if kind[0] in "aeiu" else f"a {kind}" for kind in kinds]
    append(
        conversation,
        sender=Sender.SYSTEM,
        kind=Kind.STATE,
        text=wordings.say(
            "hidden", conversation.pk, conversation.last_seq, what=" and ".join(named)
        ),
        meta={"state": "hidden"},
        now=now,
    )


def says_more(text: str) -> bool:
    """Whether there is anything to answer beside what was hidden."""
    left = services.unmarked(text)
    return left == text or any(c.isalnum() for c in left)


def _with_staff(conversation: Conversation) -> bool:
    return conversation.handler == Handler.STAFF


def _expect_answer(conversation: Conversation, now: datetime) -> bool:
    if _with_staff(conversation):
        return False
    # Held at every message, so that a burst is answered within its last message's time.
    conversation.answer_due_at = now + timedelta(seconds=settings.CHAT_ANSWER_DUE_SECONDS)
    return True


def _chosen(conversation: Conversation, message: Message, *, new: bool, may_answer: bool) -> Chosen:
    meta: dict[str, Any] = message.meta
    offer = conversation.messages.get(seq=meta["offer_seq"])
    question_seq = int(offer.meta["question_seq"])
    question = conversation.messages.get(seq=question_seq)
    return Chosen(
        message=message,
        new=new,
        choice=str(meta["choice"]),
        question_seq=question_seq,
        question=question.text,
        match_id=offer.meta.get("match_id"),
        may_answer=may_answer,
    )
