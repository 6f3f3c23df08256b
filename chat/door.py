"""The one door for whatever a customer does, however it came: a socket's frame or a form.

Counts it, finds the conversation that it belongs to, and gives back its course as events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime

from django.urls import reverse

from chat import conversations, feed, identity, throttle, turns, wordings
from chat.events import Ack, Event, Failed, Rows, StateChanged
from chat.frames import Choose, Email, End, Person, Rate, Say
from chat.identity import Who
from chat.models import Conversation
from chat.turns import in_db_thread

Act = Say | Choose | Person | End | Rate | Email


async def enter(
    who: Who, act: Act, *, address: str, now: datetime, token: str | None = None
) -> AsyncIterator[Event]:
    """Take in what `who` does, and return what comes of it, to be driven.

    `token`: of a tab that has been open; raises identity.Gone when it may speak as `who` no more.
    """
    try:
        # In one thread and go: an ack waits for every change of threads.
        return await in_db_thread(_taken_in)(who, act, address, now, token)
    except throttle.Throttled as exc:
        words = await in_db_thread(wordings.say)("throttled", 0, 0, seconds=str(exc.seconds))
        return _told(Failed(act.client_id, "throttled", words))


def _taken_in(
    who: Who, act: Act, address: str, now: datetime, token: str | None
) -> AsyncIterator[Event]:
    if token is not None and not identity.stands(who, token):
        raise identity.Gone
    throttle.check(customer_id=who.customer_id, address=address, now=now)
    if isinstance(act, Say | Person):
        return _spoken(who, act, now)
    if isinstance(act, Email):
        throttle.check_mail(address=address, mailbox=act.address, now=now)
    conversation = conversations.latest(who.customer_id)
    if conversation is None:
        words = wordings.say("no_conversation", 0, 0)
        return _told(Failed(act.client_id, "no_conversation", words))
    if isinstance(act, Choose):
        return turns.take_choice(conversation.pk, act, now=now)
    return _settled(conversation, act, now)


def _spoken(who: Who, act: Say | Person, now: datetime) -> AsyncIterator[Event]:
    for _ in range(2):  # it may be closed, for being idle, between finding it and writing in it
        conversation = feed.open_for(who, client_id=act.client_id, now=now)
        with suppress(conversations.Closed):
            return turns.go_on(turns.store(conversation, act, now=now), act, now=now)
    return _told(Failed(act.client_id, "closed", wordings.say("closed_idle", conversation, 0)))


def _settled(
    conversation: Conversation, act: End | Rate | Email, now: datetime
) -> AsyncIterator[Event]:
    """End, rate, leave an address: each may come twice and counts once."""
    match act:
        case End():
            conversations.close(conversation.pk, reason="ended", now=now)
        case Rate():
            conversations.rate(conversation.pk, score=act.score, words=act.words, now=now)
        case Email() if feed.may_leave_email(conversation):
            link = reverse("chat:back", args=[identity.link_back(conversation.pk)])
            conversations.set_reply_email(conversation.pk, email=act.address, link=link, now=now)
    pk, seq = conversation.pk, conversation.last_seq
    return _told(Ack(act.client_id, seq, pk), Rows(pk, seq), StateChanged(pk))


async def _told(*events: Event) -> AsyncIterator[Event]:
    for event in events:
        yield event
