"""A hundred customers who chat at once, each with one message in ten seconds."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

import websockets

EVERY = 10.0  # seconds between two messages of one socket
ANSWER_SECONDS = 9.0

SAID = (
    "What are your opening hours?",
    "Hello!",
    "Where can I park my car?",
    "Do you remember how I want my deliveries?",
    "I'm with Delta Dental now",
    "How late can I cancel?",
    "ok thanks",
    "Which insurance plans do you take?",
)


@dataclass
class Heard:
    hello: list[float] = field(default_factory=list)  # ms, to the state: all come at once
    ack: list[float] = field(default_factory=list)  # ms
    first: list[float] = field(default_factory=list)  # ms, to the first sign of an answer
    said: int = 0
    lost: int = 0


async def chat(url: str, tokens: list[str], seconds: float) -> Heard:
    """Each is greeted first; what is said is measured with all of them held."""
    heard = Heard()
    held = asyncio.Barrier(len(tokens))
    async with asyncio.TaskGroup() as group:
        for n, token in enumerate(tokens):
            group.create_task(_one(url, token, (n, held), seconds, heard))
    return heard


async def _one(
    url: str, token: str, place: tuple[int, asyncio.Barrier], seconds: float, heard: Heard
) -> None:
    n, held = place
    async with websockets.connect(url, origin=_origin(url)) as socket:
        began = time.perf_counter()
        await socket.send(json.dumps({"type": "hello", "token": token, "after": 0}))
        while json.loads(await socket.recv())["type"] != "state":
            pass
        heard.hello.append((time.perf_counter() - began) * 1000)
        await held.wait()
        until = time.monotonic() + seconds
        await asyncio.sleep(EVERY * n / held.parties)  # evenly over the ten seconds
        turn = 0
        while time.monotonic() < until:
            began = time.monotonic()
            await _say(socket, f"b{n}-{turn}", SAID[(n + turn) % len(SAID)], heard)
            turn += 1
            await asyncio.sleep(max(0.0, began + EVERY - time.monotonic()))


async def _say(socket: Any, client_id: str, text: str, heard: Heard) -> None:
    began = time.perf_counter()
    heard.said += 1
    await socket.send(json.dumps({"type": "say", "client_id": client_id, "text": text}))
    acked = False
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                frame = json.loads(await socket.recv())
                ms = (time.perf_counter() - began) * 1000
                if frame["type"] == "ack" and frame.get("client_id") == client_id:
                    heard.ack.append(ms)
                    acked = True
                if acked and _answers(frame):
                    heard.first.append(ms)
                    return
    except TimeoutError:
        heard.lost += not acked


def _answers(frame: dict[str, Any]) -> bool:
    if frame["type"] == "delta":
        return True
    return frame["type"] == "row" and frame["row"]["sender"] != "customer"


def _origin(url: str) -> Any:
    return url.replace("ws://", "http://").split("/ws/")[0]
