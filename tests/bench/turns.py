"""One turn's own work, from the door to the stored reply, without a model and before one speaks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import product
from typing import Any

from django.test import override_settings

from chat import conversations, turns, warming
from chat.events import Delta, Event
from chat.frames import Say
from memory import services
from tests.bench import figures

CPU_BAR, FIRST_BAR = 60.0, 80.0  # ms
EACH = 5  # messages of one customer, one after another
# What a front desk hears: known and unknown questions, wishes, news, courtesies. As in life, half
# have twelve words or fewer and one in twenty has more than twenty; one in fifty is a story.
HEARD = (
    "What are your opening hours{}?",
    "Where can I park my car{} when I come by?",
    "Do you remember how I want my deliveries{}?",
    "I'm with Delta Dental now{}.",
    "How late can I cancel an appointment{} without paying for it?",
    "Which insurance plans do you take{}, and is Guardian one of them?",
    "I only ever come in the mornings{}.",
    "Hi, can I move my cleaning to another day{}?",
    "How long should I wait before rinsing after an extraction{}?",
    "Please e-mail me, don't call{}.",
    "My tooth feels a little loose{}, should I come in?",
    "What did I tell you about my appointments{}?",
    "Do you whiten teeth{} for somebody who is about to marry?",
    "Thanks, that helps a lot{}!",
    "Is there a ramp or a lift for my mother's wheelchair{}?",
    "I'm allergic to latex{}, please keep that in mind.",
    "Could somebody tell me what the second invoice is for{}? I have paid the first one.",
    "Which of the two creams was it that you told me to take{}?",
    "ok, see you{}",
    "My crown came off{} and I have it here, can it be put back on?",
)
STORIES = (
    "My daughter turns six in May and has never been to a dentist. She is afraid of the drill since"
    " a friend told her about it. Do you have somebody who is good with children, and how long"
    " would a first visit be?",
    "I moved last month, so the letters go to the wrong street. My new number is 555 0142. Does the"
    " practice need anything else from me before the crown is made?",
    "It has been two weeks since the filling and it still feels high when I bite. It does not hurt"
    " all the time, but I notice it at every meal. Is that something you would grind down a little,"
    " and would I pay for that visit?",
    "We are new in town and would like to register the whole family, two adults and three children."
    " My husband has a plan from work, I pay myself. What do you need from us before we come?",
)
TAILS = (
    "", " this week", " on a Friday", " in the summer", " after the holidays", ", as I said",
    " from now on", " again", " at your other place", " before I travel",
)  # fmt: skip


def measure(customers: Sequence[int], *, now: datetime) -> bool:
    """`customers`: with memories; each says a few messages, no two of them alike."""
    said = _said()
    half = len(said) // EACH
    services.warm_up()
    warming.warm_up()
    with override_settings(CHAT_BURST_MS=0, OPENAI_API_KEY=""):
        asyncio.run(_converse(customers[half : half + 2], said[: EACH * 2], now))
        offline = asyncio.run(_converse(customers[:half], said, now))
    with (
        _scripted_model() as url,
        override_settings(CHAT_BURST_MS=0, OPENAI_API_KEY="k", OPENAI_BASE_URL=url),
    ):
        heard = [f"{text} Please." for text in said]
        asyncio.run(_converse(customers[half : half + 2], heard[: EACH * 2], now))
        model = asyncio.run(_converse(customers[-half:], heard, now))
    kept = figures.line("turn without a model, CPU", offline.cpu, bar=CPU_BAR)
    figures.line("turn without a model, wall", offline.wall)
    kept &= figures.line("turn with a model, to the first delta", model.first, bar=FIRST_BAR)
    figures.line("turn with a model, CPU to the first delta", model.first_cpu)
    return kept


class Taken:
    """Milliseconds of turns: of this process, or by the clock; to the end, or the first delta."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []
        self.first: list[float] = []
        self.first_cpu: list[float] = []


async def _converse(customers: Sequence[int], said: Sequence[str], now: datetime) -> Taken:
    taken = Taken()
    rows = iter(said)
    for customer in customers:
        start = turns.in_db_thread(conversations.current_or_new)
        conversation = await start(customer, now=now, verified=True)
        for n in range(EACH):
            say = Say(f"turns-{customer}-{n}-{time.monotonic_ns()}", next(rows))
            await _take(turns.take_turn(conversation.pk, say, now=now), taken)
    return taken


async def _take(turn: Any, taken: Taken) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    heard = False
    event: Event
    async for event in turn:
        if isinstance(event, Delta) and not heard:
            heard = True
            taken.first.append((time.perf_counter() - wall) * 1000)
            taken.first_cpu.append((time.process_time() - cpu) * 1000)
    taken.cpu.append((time.process_time() - cpu) * 1000)
    taken.wall.append((time.perf_counter() - wall) * 1000)


def _said() -> list[str]:
    """Two hundred messages; each customer says something of every sort."""
    said = [text.format(tail) for tail, text in product(TAILS, HEARD)]
    said[: len(STORIES)] = STORIES
    return [said[n * 7 % len(said)] for n in range(len(said))]


@contextmanager
def _scripted_model() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.bench.scripted"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("no pipes")
        yield server.stdout.readline().decode().strip()
        server.stdin.close()
