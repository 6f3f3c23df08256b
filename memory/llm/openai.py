"""The one client for any OpenAI-compatible endpoint: streams, schemas, retry, breaker, usage.

Foreign errors stop here and become `Unavailable`, `Refused` or `BadOutput`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import jsonschema
import openai
from openai import AsyncOpenAI

from .base import (
    BadOutput,
    ChatEvent,
    Finished,
    Kind,
    Prompt,
    Refused,
    ToolCall,
    Unavailable,
    Usage,
)
from .breaker import Breaker
from .replies import Reading, parsed

logger = logging.getLogger(__name__)
T = TypeVar("T")

# 408, 409, 429 and 5xx may pass by themselves; https://platform.openai.com/docs/guides/error-codes
RETRIED_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
TRIES = 3
PAUSE = 0.4  # seconds before the second try, twice that before the third
WORKER_SECONDS = 60.0


@dataclass
class OpenAIChat:
    """One endpoint, one model. `timeout`: for one try; a `deadline` (time.monotonic): for all."""

    model: str
    api_key: str
    base_url: str
    timeout: float = 20.0  # seconds
    breaker: Breaker = field(default_factory=Breaker)
    calls_tools: bool | None = None  # None: not found out yet
    _clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    def _client(self) -> AsyncOpenAI:
        """A client belongs to its event loop: the worker runs one a task, the web process one."""
        loop = asyncio.get_running_loop()
        if (client := self._clients.get(loop)) is None:
            client = self._clients[loop] = AsyncOpenAI(
                api_key=self.api_key, base_url=self.base_url, timeout=self.timeout, max_retries=0
            )
        return client

    async def stream(
        self,
        prompt: Prompt,
        *,
        tools: Sequence[dict[str, Any]] = (),
        deadline: float,
        max_tokens: int = 800,
    ) -> AsyncIterator[ChatEvent]:
        """Yield TextDelta and ToolCall, and Finished as the last event, always.

        Tries again only while nothing was yielded: half a reply is never followed by a whole one.
        Raises Unavailable, Refused, BadOutput.
        """
        for attempt in range(1, TRIES + 1):
            started = False
            try:
                async for event in self._stream_once(prompt, tools, deadline, max_tokens):
                    started = True
                    yield event
                return
            except Unavailable as exc:
                if started or not await self._may_retry(exc, attempt, deadline):
                    raise

    async def fill(
        self,
        prompt: Prompt,
        *,
        name: str,
        schema: dict[str, Any],
        deadline: float,
        max_tokens: int = 800,
    ) -> tuple[dict[str, Any], Usage]:
        """Return the JSON object that the model filled in, and what it cost. Raises as `stream`."""
        return await self._retrying(
            lambda: self._fill_once(prompt, name, schema, deadline, max_tokens), deadline
        )

    def fill_now(self, prompt: Prompt, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        """`fill` for the worker, which has no event loop and a minute's time."""
        deadline = time.monotonic() + WORKER_SECONDS
        filled = self.run_now(
            lambda: self.fill(prompt, name=name, schema=schema, deadline=deadline)
        )
        return filled[0]

    def run_now(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask from a thread that has no event loop."""

        async def once() -> T:
            async with self._client():  # closed with its loop
                return await ask()

        return asyncio.run(once())

    async def find_out_tools(self, deadline: float | None = None) -> bool:
        """Ask once whether this endpoint calls tools; where not, prompts use json_schema.

        Raises Unavailable where it could not be asked: that says nothing about tools.
        """
        if self.calls_tools is None:
            self.calls_tools = await self._probe_tools(deadline or time.monotonic() + self.timeout)
            able = "calls" if self.calls_tools else "does not call"
            logger.info("The endpoint of %s %s tools", self.model, able)
        return self.calls_tools

    async def _probe_tools(self, deadline: float) -> bool:
        parameters = {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
        }
        tool = {
            "type": "function",
            "function": {"name": "probe", "description": "Say ok.", "parameters": parameters},
        }
        prompt: Prompt = [{"role": "user", "content": "Call the tool probe with ok = true."}]
        try:
            # Read to its end: only a whole reply tells the breaker that all is well.
            events = [e async for e in self._stream_once(prompt, [tool], deadline, 50)]
            return any(isinstance(e, ToolCall) for e in events)
        except (BadOutput, Refused) as exc:
            logger.info("Probe of %s: %s", self.model, exc)
        except Unavailable as exc:
            if exc.kind != "request":
                raise
        return False

    async def _stream_once(
        self, prompt: Prompt, tools: Sequence[dict[str, Any]], deadline: float, max_tokens: int
    ) -> AsyncIterator[ChatEvent]:
        extra: dict[str, Any] = {"tools": list(tools)} if tools else {}
        reading = Reading()
        self._check_breaker()
        create: Any = self._client().chat.completions.create  # plain dicts: the endpoint checks
        stream = await self._guarded(
            lambda: create(
                model=self.model,
                messages=prompt,
                stream=True,
                stream_options={"include_usage": True},
                max_tokens=max_tokens,
                **extra,
            ),
            deadline,
        )
        async with stream:  # a reply that nobody waits for any more is broken off
            chunks = aiter(stream)
            while (chunk := await self._guarded(lambda: anext(chunks, None), deadline)) is not None:
                for event in reading.take(chunk):
                    yield event
        if not reading.reason:
            self.breaker.failed()
        for event in reading.end():
            if isinstance(event, Finished):
                self.breaker.succeeded()
            yield event

    async def _fill_once(
        self, prompt: Prompt, name: str, schema: dict[str, Any], deadline: float, max_tokens: int
    ) -> tuple[dict[str, Any], Usage]:
        shape = {
            "type": "json_schema",
            "json_schema": {"name": name, "strict": True, "schema": schema},
        }
        self._check_breaker()
        create: Any = self._client().chat.completions.create
        got: Any = await self._guarded(
            lambda: create(
                model=self.model, messages=prompt, response_format=shape, max_tokens=max_tokens
            ),
            deadline,
        )
        self.breaker.succeeded()
        usage = Usage.of(got.usage)
        choice = got.choices[0] if got.choices else None
        if choice is None or choice.finish_reason != "stop":
            raise BadOutput(f"ended with {choice and choice.finish_reason}", usage)
        if choice.message.refusal:
            raise Refused(choice.message.refusal)
        data = parsed(choice.message.content or "", usage)
        # Not every endpoint holds itself to the schema that it was given.
        if problem := next(jsonschema.Draft202012Validator(schema).iter_errors(data), None):
            raise BadOutput(f"not of the form asked for: {problem.message[:80]}", usage)
        return data, usage

    def _check_breaker(self) -> None:
        if not self.breaker.allows():
            raise Unavailable("resting after failures in a row", kind="circuit", retry=False)

    async def _guarded(self, call: Callable[[], Awaitable[T]], deadline: float) -> T:
        """Run one network step within the deadline, and turn foreign errors into ours."""
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await call()
        except TimeoutError as exc:
            self.breaker.failed()
            raise Unavailable("no time left", kind="timeout", retry=False) from exc
        except (openai.APIError, json.JSONDecodeError) as exc:
            error = _ours(exc)
            if error.kind != "request":
                self.breaker.failed()
            raise error from exc

    async def _retrying(
        self, call: Callable[[], Awaitable[tuple[dict[str, Any], Usage]]], deadline: float
    ) -> tuple[dict[str, Any], Usage]:
        """What failed and was paid for counts too."""
        attempt, wasted = 1, Usage()
        while True:
            try:
                data, usage = await call()
                return data, wasted + usage
            except Unavailable as exc:
                if not await self._may_retry(exc, attempt, deadline):
                    raise
            except BadOutput as exc:
                wasted += exc.usage
                if attempt >= TRIES or deadline - time.monotonic() < 1:
                    raise BadOutput(str(exc), wasted) from exc
            attempt += 1

    async def _may_retry(self, error: Unavailable, attempt: int, deadline: float) -> bool:
        """Wait as long as the endpoint asks (Retry-After), if that leaves time for another try."""
        wait = error.retry_after if error.retry_after is not None else PAUSE * 2 ** (attempt - 1)
        if not error.retry or attempt >= TRIES or time.monotonic() + wait + 0.5 > deadline:
            return False
        await asyncio.sleep(wait)
        return True


def _ours(exc: Exception) -> Unavailable:
    if isinstance(exc, openai.APITimeoutError):
        return Unavailable("time-out", kind="timeout")
    if isinstance(exc, openai.APIStatusError):
        status = exc.status_code
        kind: Kind = "rate" if status == 429 else "server" if status >= 500 else "request"
        return Unavailable(
            f"status {status}",
            kind=kind,
            retry=status in RETRIED_STATUS,
            retry_after=_retry_after(exc.response.headers),
        )
    if isinstance(exc, openai.APIConnectionError):
        return Unavailable("no connection", kind="connection")
    return Unavailable(f"the stream broke: {type(exc).__name__}", kind="broken")


def _retry_after(headers: Any) -> float | None:
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None  # a date, or nothing: the usual back-off
