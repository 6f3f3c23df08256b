"""START HERE: the life of one customer message, from the door to the reply.

`take_turn` is driven by the socket, the form without JavaScript, the API and the tests alike:

    3  store the message once, say whether the bot may answer     conversations
    4  gather what is known and was answered before               situations → memory.services
    5  decide: an answer, an offer, a question back, a person     agent → llm
    6  store the reply if the bot may still speak, or hand over   replies → conversations, handoff
    7  tell every open tab                                        broadcast, on commit

A message is never met with silence: what fails, or takes too long, goes to a person; and what a
killed process leaves behind is handed over by the sweep in tasks.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from chat import (
    agent,
    choices,
    conversations,
    engines,
    handoff,
    receipts,
    replies,
    situations,
    wordings,
)
from chat.conversations import NewRow
from chat.events import Ack, Delta, Event, Failed, Rows, StateChanged
from chat.frames import Choose, Person, Say
from chat.llm import embedding, emergencies, intents
from chat.llm.base import Engine, NeedsHuman
from chat.models import Message
from chat.situations import Asked

logger = logging.getLogger(__name__)

Notify = Callable[[Event], Awaitable[None]]
_running: set[asyncio.Task[None]] = set()  # a task that nobody holds may be collected


def in_db_thread(work: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Run `work` in a thread of its own.

    One thread for all would make every socket wait its turn.
    """
    return database_sync_to_async(work, thread_sensitive=False)


def start(turn: AsyncIterator[Event], *, notify: Notify) -> asyncio.Task[None]:
    """Run a turn beside the socket, which stays free to hear staff, "stop" and a disconnect."""
    task = asyncio.get_running_loop().create_task(_drive(turn, notify))
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


async def _drive(turn: AsyncIterator[Event], notify: Notify) -> None:
    try:
        async for event in turn:
            await notify(event)
    except Exception:
        logger.exception("Unable to finish a turn")  # the sweep hands it over when it is due


async def take_turn(
    conversation_id: int, say: Say, *, now: datetime, with_engines: Sequence[Engine] | None = None
) -> AsyncIterator[Event]:
    """Take the customer's message through steps 3 to 7. `now`: when it came in."""
    try:
        recorded = await in_db_thread(conversations.record_customer_message)(
            conversation_id, client_id=say.client_id, text=say.text, now=now
        )
    except conversations.Closed:
        text = await in_db_thread(wordings.say)("closed_idle", conversation_id, 0)
        yield Failed(say.client_id, "closed", text)
        return
    message: Message = recorded.message
    yield Ack(say.client_id, message.seq, conversation_id)
    if not recorded.new:
        return
    yield Rows(conversation_id, message.seq)
    turn = _Turn(conversation_id, message, now, with_engines)
    async for event in turn.answer(may_answer=recorded.may_answer):
        yield event


async def take_choice(
    conversation_id: int, choose: Choose, *, now: datetime
) -> AsyncIterator[Event]:
    """Take the customer's pick from an offer.

    The very words, or a person for the *original* question.
    """
    try:
        chosen = await in_db_thread(conversations.choose)(
            conversation_id,
            offer_seq=choose.offer_seq,
            choice=choose.choice,
            client_id=choose.client_id,
            now=now,
        )
    except (conversations.Lapsed, conversations.Closed):
        text = await in_db_thread(wordings.say)("lapsed", conversation_id, choose.offer_seq)
        yield Failed(choose.client_id, "lapsed", text)
        return
    yield Ack(choose.client_id, chosen.message.seq, conversation_id)
    if not chosen.new:
        return
    await in_db_thread(choices.settle)(conversation_id, chosen, now=now)
    yield Rows(conversation_id, chosen.message.seq)
    yield StateChanged(conversation_id)


async def ask_for_person(
    conversation_id: int, person: Person, *, now: datetime
) -> AsyncIterator[Event]:
    """The button that is always there."""
    text = person.text.strip() and person.text
    words = text or await in_db_thread(wordings.say)("wants_person", conversation_id, 0)
    try:
        recorded = await in_db_thread(conversations.record_customer_message)(
            conversation_id, client_id=person.client_id, text=words, now=now
        )
    except conversations.Closed:
        yield Failed(person.client_id, "closed", "")
        return
    message: Message = recorded.message
    yield Ack(person.client_id, message.seq, conversation_id)
    if recorded.new and recorded.may_answer:
        need = NeedsHuman("asked", wording="person")
        turn = _Turn(conversation_id, message, now, None)
        await in_db_thread(turn.hand_over)(need, question=turn.last_question(message))
    yield Rows(conversation_id, message.seq)
    yield StateChanged(conversation_id)


class _Turn:
    """One message on its way to an answer."""

    def __init__(
        self,
        conversation_id: int,
        message: Message,
        now: datetime,
        with_engines: Sequence[Engine] | None,
    ) -> None:
        self.conversation_id = conversation_id
        self.message = message
        self.began, self.began_at = monotonic(), now
        self.engines = with_engines

    @property
    def now(self) -> datetime:
        """The time by the clock that the turn began with."""
        return self.began_at + timedelta(seconds=monotonic() - self.began)

    async def answer(self, *, may_answer: bool) -> AsyncIterator[Event]:
        if why := await in_db_thread(self.emergency)():
            await in_db_thread(self.alarm)(why, may_answer=may_answer)
        elif not may_answer:
            return
        else:
            try:
                async with asyncio.timeout(settings.CHAT_TURN_SECONDS):
                    async for event in self._reply():
                        yield event
            except Exception as exc:
                # Whatever went wrong: the customer gets a person, and staff the reason.
                logger.exception("Unable to answer in conversation %s", self.conversation_id)
                need = NeedsHuman("model", detail=type(exc).__name__, wording="model")
                await in_db_thread(self.hand_over)(need, question=self.message.text)
        yield Rows(self.conversation_id, self.message.seq)
        yield StateChanged(self.conversation_id)

    async def _reply(self) -> AsyncIterator[Event]:
        if intents.unfinished(self.message.text) and settings.CHAT_BURST_MS:
            await asyncio.sleep(settings.CHAT_BURST_MS / 1000)
        asked = await in_db_thread(self.gather)()
        if asked is None:
            return  # more was said meanwhile: that turn answers for this one too
        outcome = agent.Outcome()
        running = agent.run(asked.situation, outcome, engines=self.engines or engines.in_order())
        async for delta in running:
            yield Delta(delta.text)
        await in_db_thread(self.store)(asked, outcome)

    # --- sync, each in a thread ------------------------------------------------------------------

    def gather(self) -> Asked | None:
        if conversations.newer_said(self.conversation_id, self.message.seq):
            return None
        asked = situations.gather(self.conversation_id, up_to=self.message.seq, now=self.now)
        if conversations.turns_since(asked.conversation) >= settings.CHAT_TURNS_PER_PERSON:
            raise TooLong
        asked.situation = situations.look_up(asked, now=self.now)
        return asked

    def emergency(self) -> str:
        listed = conversations.business().emergency_words
        return emergencies.find(self.message.text, listed=listed, embed=embedding.embed_one)

    def alarm(self, why: str, *, may_answer: bool) -> None:
        """The business's emergency text, whoever has the conversation, and a person at once."""
        text = conversations.business().emergency_text
        said = text or wordings.say("emergency", self.conversation_id, self.message.seq)
        handoff.hand_over(
            self.conversation_id,
            question=self.message.text,
            question_seq=self.message.seq,
            reason="emergency",
            detail=why,
            rows=[NewRow(said, meta={"emergency": True})],
            awaited=False,
            trace={"emergency": why},
            now=self.now,
        )

    def store(self, asked: Asked, outcome: agent.Outcome) -> None:
        reply = replies.write(asked, outcome.moves, now=self.now)
        trace = receipts.receipt(asked, reply, outcome)
        if outcome.needs is not None:
            choices.refuse_last(asked, outcome.needs, now=self.now)
            self.hand_over(
                outcome.needs, question=asked.text, asked=asked, reply=reply, trace=trace
            )
            return
        conversations.record_bot_reply(
            self.conversation_id,
            answering_seq=self.message.seq,
            rows=reply.rows,
            outcome=reply.outcome,
            asked_topic=reply.asked_topic,
            trace=trace,
            now=self.now,
        )

    def hand_over(
        self,
        need: NeedsHuman,
        *,
        question: str,
        asked: Asked | None = None,
        reply: replies.Reply | None = None,
        trace: dict[str, Any] | None = None,
    ) -> None:
        rows = list(reply.rows) if reply else []
        if need.wording:
            rows.append(NewRow(replies.handing_over(self.conversation_id, need, self.message.seq)))
        handoff.hand_over(
            self.conversation_id,
            question=question,
            question_seq=asked.first.seq if asked else self.message.seq,
            answering_seq=self.message.seq,
            reason=need.reason,
            detail=need.detail,
            request=need.request,
            match_id=asked.situation.answer.match_id if asked else None,
            rows=rows,
            trace=trace or {"failed": need.detail},
            now=self.now,
        )

    def last_question(self, message: Message) -> str:
        """What a person is asked for.

        The words before the button was pressed, else the button's.
        """
        earlier = conversations.earlier(message.conversation, before_seq=message.seq, limit=4)
        said = [m.text for m in earlier if m.sender == "customer"]
        return said[-1] if said else message.text


class TooLong(Exception):
    """The bot has had its share of turns in this conversation: a person looks at it."""
