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
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.conf import settings

from chat import agent, choices, conversations, engines, wordings
from chat.conversations import Recorded
from chat.events import Ack, Delta, Event, Failed, Rows, StateChanged, Typing
from chat.frames import Choose, Person, Say
from chat.llm import intents
from chat.llm.base import Engine, NeedsHuman
from chat.situations import Asked
from chat.steps import TooLong, Turn
from memory import services
from memory.types import GateResult

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Notify = Callable[[Event], Awaitable[None]]
_running: set[asyncio.Task[None]] = set()  # a task that nobody holds may be collected


# What computes has two threads of its own: more would not be quicker on two cores. What stores a
# message and acknowledges it waits behind none of them, and shares the interpreter with few.
_computing = ThreadPoolExecutor(2, thread_name_prefix="turn")
# Apart from those: an emergency, or a person, must not wait for a turn that waits for memory.
_settling = ThreadPoolExecutor(2, thread_name_prefix="settle")
# Tabs that look for rows: many at once, and none of them waits for an ack.
looking = ThreadPoolExecutor(2, thread_name_prefix="look")


def in_db_thread(
    work: Callable[P, T], *, executor: ThreadPoolExecutor | None = None
) -> Callable[P, Awaitable[T]]:
    """Run `work` in a thread of its own: one for all would make every socket wait its turn."""
    threaded: Callable[P, Awaitable[T]] = database_sync_to_async(
        work, thread_sensitive=False, executor=executor
    )
    return threaded


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
    conversation_id: int,
    said: Say | Person,
    *,
    now: datetime,
    with_engines: Sequence[Engine] | None = None,
) -> AsyncIterator[Event]:
    """Take the customer's message through steps 3 to 7. `now`: when it came in."""
    try:
        recorded = await in_db_thread(store)(conversation_id, said, now=now)
    except conversations.Closed:
        text = await in_db_thread(wordings.say)("closed_idle", conversation_id, 0)
        yield Failed(said.client_id, "closed", text)
        return
    async for event in go_on(recorded, said, now=now, with_engines=with_engines):
        yield event


def store(conversation_id: int, said: Say | Person, *, now: datetime) -> Recorded:
    """Step 3, also for the button that is always there. Raises conversations.Closed."""
    pressed, text = isinstance(said, Person), said.text
    ours = pressed and not text.strip()
    if ours:
        text = wordings.say("wants_person", conversation_id, 0)
    return conversations.record_customer_message(
        conversation_id,
        client_id=said.client_id,
        text=text,
        now=now,
        for_person=pressed,
        canned=ours,
    )


async def go_on(
    recorded: Recorded,
    said: Say | Person,
    *,
    now: datetime,
    with_engines: Sequence[Engine] | None = None,
) -> AsyncIterator[Event]:
    """Steps 4 to 7, for what was stored."""
    message = recorded.message
    conversation_id = message.conversation_id
    yield Ack(said.client_id, message.seq, conversation_id)
    if not recorded.new:
        return
    yield Rows(conversation_id, message.seq)
    turn = Turn(conversation_id, message, now)
    if isinstance(said, Say):
        course = _answer(turn, with_engines, may_answer=recorded.may_answer)
    else:
        course = _fetch_person(turn, said, may_answer=recorded.may_answer)
    async for event in course:
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
    await in_db_thread(choices.settle, executor=_computing)(conversation_id, chosen, now=now)
    yield Rows(conversation_id, chosen.message.seq)
    yield StateChanged(conversation_id)


async def _fetch_person(turn: Turn, person: Person, *, may_answer: bool) -> AsyncIterator[Event]:
    why = person.text.strip() and await in_db_thread(turn.emergency, executor=_settling)()
    if why:
        await in_db_thread(turn.alarm, executor=_settling)(why)
    elif may_answer:
        await in_db_thread(turn.by_button, executor=_settling)()
    yield Rows(turn.conversation_id, turn.message.seq)
    yield StateChanged(turn.conversation_id)


async def _answer(
    turn: Turn, with_engines: Sequence[Engine] | None, *, may_answer: bool
) -> AsyncIterator[Event]:
    if why := await in_db_thread(turn.emergency, executor=_settling)():
        await in_db_thread(turn.alarm, executor=_settling)(why)
    elif not may_answer:
        return
    else:
        try:
            async with asyncio.timeout(settings.CHAT_TURN_SECONDS):
                async for event in _reply(turn, with_engines):
                    yield event
        except TooLong:
            turns = f"{settings.CHAT_TURNS_PER_PERSON} turns without a person"
            need = NeedsHuman("unsure", detail=turns, wording="unsure")
            await in_db_thread(turn.hand_over, executor=_settling)(need, question=turn.message.text)
        except Exception as exc:
            # Whatever went wrong: the customer gets a person, and staff the reason.
            logger.exception("Unable to answer in conversation %s", turn.conversation_id)
            need = NeedsHuman("model", detail=type(exc).__name__, wording="model")
            await in_db_thread(turn.hand_over, executor=_settling)(need, question=turn.message.text)
    yield Rows(turn.conversation_id, turn.message.seq)
    yield StateChanged(turn.conversation_id)


async def _reply(turn: Turn, with_engines: Sequence[Engine] | None) -> AsyncIterator[Event]:
    if engines.takes_time(with_engines):
        yield Typing()
    if intents.unfinished(turn.message.text) and settings.CHAT_BURST_MS:
        await asyncio.sleep(settings.CHAT_BURST_MS / 1000)
    asked = await in_db_thread(turn.gather, executor=_computing)()
    if asked is None:
        return  # more was said meanwhile: that turn answers for this one too
    outcome = agent.Outcome()
    if asked.past is not None and asked.past.doubt is not None:
        await _look_again(turn, asked, outcome, asked.past.doubt)
    running = agent.run(
        asked.situation,
        outcome,
        engines=with_engines
        or engines.in_order(spent=asked.spent, turn=outcome.usage.total, used=turn.seconds),
        tools=asked.tools.offered if asked.tools else (),
        run_tool=asked.tools,
    )
    began = turn.seconds
    async for draft in running:
        yield Delta(draft.text)
    asked.milliseconds["reply"] = round((turn.seconds - began) * 1000, 2)
    await in_db_thread(turn.store, executor=_computing)(asked, outcome)


async def _look_again(turn: Turn, asked: Asked, outcome: agent.Outcome, gate: GateResult) -> None:
    """Let a small model say whether the past is needed; what it costs is the turn's."""
    began = turn.seconds
    look = await services.second_look(
        gate,
        asked.situation.text,
        before=[line.text for line in asked.situation.before],
        seconds=engines.seconds_left(began),
        tokens=engines.tokens_left(asked.spent),
    )
    asked.milliseconds["gate"] = round((turn.seconds - began) * 1000, 2)
    if look.model:
        outcome.spent[look.model] = look.usage
    await in_db_thread(turn.look_back, executor=_computing)(asked, look.gate)
