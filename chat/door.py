"""The one door for whatever a customer does, however it came: a socket's frame, a form, the API.

Counts it, finds the conversation that it belongs to, and gives back its course as events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from django.urls import reverse

from chat import conversations, feed, identity, throttle, turns, wordings
from chat.events import Ack, Event, Failed, Rows, StateChanged
from chat.frames import Choose, Email, End, Person, Rate, Say
from chat.identity import Who
from chat.turns import in_db_thread

Act = Say | Choose | Person | End | Rate | Email


async def enter(who: Who, act: Act, *, address: str, now: datetime) -> AsyncIterator[Event]:
    try:
        await in_db_thread(throttle.check)(customer_id=who.customer_id, address=address, now=now)
        if isinstance(act, Email):
            await in_db_thread(throttle.check_mail)(address=address, mailbox=act.address, now=now)
    except throttle.Throttled as exc:
        words = await in_db_thread(wordings.say)("throttled", 0, 0, seconds=str(exc.seconds))
        yield Failed(act.client_id, "throttled", words)
        return
    match act:
        case Say() | Person():
            course = _speak(who, act, now)
        case Choose():
            course = _choose(who, act, now)
        case _:
            course = _settle(who, act, now)
    async for event in course:
        yield event


async def _speak(who: Who, act: Say | Person, now: datetime) -> AsyncIterator[Event]:
    for _ in range(2):  # it may be closed, for being idle, between finding it and writing in it
        conversation = await in_db_thread(feed.open_for)(who, client_id=act.client_id, now=now)
        closed: Failed | None = None
        if isinstance(act, Say):
            course = turns.take_turn(conversation, act, now=now)
        else:
            course = turns.ask_for_person(conversation, act, now=now)
        async for event in course:
            if isinstance(event, Failed) and event.code == "closed":
                closed = event
                break
            yield event
        if closed is None:
            return
    if closed is not None:
        yield closed


async def _choose(who: Who, act: Choose, now: datetime) -> AsyncIterator[Event]:
    conversation = await in_db_thread(conversations.latest)(who.customer_id)
    if conversation is None:
        yield await _nothing_yet(act)
        return
    async for event in turns.take_choice(conversation.pk, act, now=now):
        yield event


async def _settle(who: Who, act: End | Rate | Email, now: datetime) -> AsyncIterator[Event]:
    done = await in_db_thread(_do)(who, act, now)
    if done is None:
        yield await _nothing_yet(act)
        return
    pk, seq = done
    yield Ack(act.client_id, seq, pk)
    yield Rows(pk, seq)
    yield StateChanged(pk)


def _do(who: Who, act: End | Rate | Email, now: datetime) -> tuple[int, int] | None:
    """End, rate, leave an address: each may come twice and counts once."""
    conversation = conversations.latest(who.customer_id)
    if conversation is None:
        return None
    match act:
        case End():
            conversations.close(conversation.pk, reason="ended", now=now)
        case Rate():
            conversations.rate(conversation.pk, score=act.score, words=act.words, now=now)
        case Email() if feed.may_leave_email(conversation):
            link = reverse("chat:back", args=[identity.link_back(conversation.pk)])
            conversations.set_reply_email(conversation.pk, email=act.address, link=link, now=now)
    return conversation.pk, conversation.last_seq


async def _nothing_yet(act: Act) -> Failed:
    words = await in_db_thread(wordings.say)("no_conversation", 0, 0)
    return Failed(act.client_id, "no_conversation", words)
