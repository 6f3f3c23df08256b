"""The one client against a scripted endpoint over real HTTP: it proves wiring, not quality."""

import asyncio
import time

import pytest

from memory.llm.base import BadOutput, Finished, Refused, TextDelta, ToolCall, Unavailable
from memory.llm.breaker import Breaker
from memory.llm.openai import OpenAIChat
from tests.llm_server import Fault, ScriptedServer

ASK = [{"role": "system", "content": "You answer."}, {"role": "user", "content": "hello there"}]
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.fixture
def server():
    with ScriptedServer() as server:
        yield server
        server.check()


def client(server, **kwargs):
    return OpenAIChat(model="m", api_key="k", base_url=server.url, **kwargs)


def soon(seconds=5.0):
    return time.monotonic() + seconds


async def read(stream):
    return [event async for event in stream]


async def test_streams_text_and_ends_with_what_it_cost(server):
    server.on(text="Good morning to you")

    events = await read(client(server).stream(ASK, deadline=soon()))

    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Good morning to you"
    assert isinstance(events[-1], Finished)
    assert events[-1].usage.total == 104


async def test_fills_a_schema_that_openai_would_accept(server):
    server.on(data={"ok": True}, schema="verdict")

    data, usage = await client(server).fill(ASK, name="verdict", schema=SCHEMA, deadline=soon())

    assert data == {"ok": True}
    assert usage.prompt_tokens == 100


async def test_a_schema_that_is_not_closed_is_refused_as_openai_refuses_it(server):
    open_schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}

    with pytest.raises(Unavailable) as caught:
        await client(server).fill(ASK, name="open", schema=open_schema, deadline=soon())

    assert caught.value.kind == "request"
    assert not caught.value.retry


async def test_waits_as_long_as_retry_after_says_and_tries_again(server):
    server.on(fault=Fault(status=429, retry_after=0.1), times=1)
    server.on(text="second try")

    events = await read(client(server).stream(ASK, deadline=soon()))

    assert isinstance(events[-1], Finished)
    assert len(server.journal) == 2


async def test_does_not_wait_for_a_retry_after_that_the_turn_has_no_time_for(server):
    server.on(fault=Fault(status=429, retry_after=60))

    with pytest.raises(Unavailable) as caught:
        await read(client(server).stream(ASK, deadline=soon(2)))

    assert caught.value.kind == "rate"
    assert len(server.journal) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_does_not_repeat_a_request_that_can_only_fail_again(server, status):
    server.on(fault=Fault(status=status))

    with pytest.raises(Unavailable):
        await client(server).fill(ASK, name="x", schema=SCHEMA, deadline=soon())

    assert len(server.journal) == 1


@pytest.mark.parametrize(
    "fault",
    [Fault(drop_after=2), Fault(truncate_after=2), Fault(malformed=True)],
    ids=["dropped", "truncated", "malformed"],
)
async def test_a_stream_that_breaks_after_it_began_is_never_taken_for_whole(server, fault):
    server.on(text="one two three four five", fault=fault)
    events = []

    async def read_on():
        async for event in client(server).stream(ASK, deadline=soon()):
            events.append(event)

    with pytest.raises((Unavailable, BadOutput)):
        await read_on()

    assert not any(isinstance(e, Finished) for e in events)
    assert len(server.journal) == 1  # never a second whole reply after half of one


async def test_text_cut_off_at_the_token_limit_is_not_a_reply(server):
    server.on(text="half a sent", fault=Fault(finish_reason="length"))

    with pytest.raises(BadOutput):
        await read(client(server).stream(ASK, deadline=soon()))


async def test_a_refusal_says_so(server):
    server.on(refusal="I cannot help with that")

    with pytest.raises(Refused):
        await read(client(server).stream(ASK, deadline=soon()))


async def test_json_that_does_not_parse_is_asked_for_again_and_then_given_up(server):
    server.on(data={"ok": True}, fault=Fault(malformed=True))

    with pytest.raises(BadOutput):
        await client(server).fill(ASK, name="x", schema=SCHEMA, deadline=soon())

    assert len(server.journal) == 3


async def test_a_slow_endpoint_is_given_up_at_the_deadline(server):
    server.on(text="late", fault=Fault(delay=3))

    with pytest.raises(Unavailable) as caught:
        await read(client(server).stream(ASK, deadline=soon(0.3)))

    assert caught.value.kind == "timeout"


async def test_nobody_asks_a_dead_endpoint_until_it_has_rested(server):
    server.on(fault=Fault(status=500))
    dead = client(server, breaker=Breaker(failures=3, rest=60))
    with pytest.raises(Unavailable):
        await dead.fill(ASK, name="x", schema=SCHEMA, deadline=soon())
    asked = len(server.journal)

    with pytest.raises(Unavailable) as caught:
        await dead.fill(ASK, name="x", schema=SCHEMA, deadline=soon())

    assert caught.value.kind == "circuit"
    assert len(server.journal) == asked


async def test_a_rested_endpoint_is_tried_again_and_trusted_after_one_success(server):
    server.on(fault=Fault(status=500), times=3)
    server.on(data={"ok": True})
    ailing = client(server, breaker=Breaker(failures=3, rest=0))
    with pytest.raises(Unavailable):
        await ailing.fill(ASK, name="x", schema=SCHEMA, deadline=soon())

    data, _ = await ailing.fill(ASK, name="x", schema=SCHEMA, deadline=soon())

    assert data == {"ok": True}


async def test_reads_a_tool_call_with_its_arguments(server):
    server.on(tool=("look", {"id": "A-1"}), offers_tool="look")

    events = await read(client(server).stream(ASK, tools=[TOOL], deadline=soon()))

    assert events[0] == ToolCall("call_1", "look", {"id": "A-1"})


@pytest.mark.parametrize("able", [True, False])
async def test_finds_out_once_whether_the_endpoint_calls_tools(able):
    with ScriptedServer(tool_calling=able) as server:
        server.on(tool=("probe", {"ok": True}), offers_tool="probe")
        asked = client(server)

        assert await asked.find_out_tools() is able
        assert await asked.find_out_tools() is able

        assert len(server.journal) == 1


async def test_an_endpoint_that_is_away_says_nothing_about_its_tools(server):
    server.on(fault=Fault(status=503), offers_tool="probe", times=1)
    server.on(tool=("probe", {"ok": True}), offers_tool="probe")
    asked = client(server)
    with pytest.raises(Unavailable):
        await asked.find_out_tools()

    assert await asked.find_out_tools() is True


async def test_a_rested_endpoint_streams_a_whole_reply(server):
    server.on(fault=Fault(status=500), times=3)
    server.on(text="one two three")
    ailing = client(server, breaker=Breaker(failures=3, rest=0.4))
    with pytest.raises(Unavailable):
        await read(ailing.stream(ASK, deadline=soon()))
    await asyncio.sleep(0.5)

    events = await read(ailing.stream(ASK, deadline=soon()))

    assert isinstance(events[-1], Finished)


def test_the_worker_asks_without_a_loop_of_its_own(server):
    server.on(data={"ok": True}, schema="verdict")

    assert client(server).fill_now(ASK, "verdict", SCHEMA) == {"ok": True}
    assert client(server).fill_now(ASK, "verdict", SCHEMA) == {"ok": True}
