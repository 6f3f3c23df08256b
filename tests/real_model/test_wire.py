"""Wire facts with a small real model: nothing here says that it answers well."""

import asyncio
import time

import jsonschema
import pytest

from memory.lifecycle.propose import EXTRACT_SCHEMA, GATE_SCHEMA
from memory.llm.base import BadOutput, Finished, TextDelta, Unavailable
from memory.llm.openai import OpenAIChat

HELLO = [{"role": "user", "content": "Say hello."}]
COUNT = [{"role": "user", "content": "Count to 500."}]


@pytest.fixture
def model(real_model_url):
    return OpenAIChat(model="small", api_key="none", base_url=real_model_url, timeout=60)


def soon(seconds=60):
    return time.monotonic() + seconds


async def whole(stream):
    return [event async for event in stream]


async def test_a_streamed_reply_ends_with_its_reason_and_its_tokens(model):
    events = await whole(model.stream(HELLO, deadline=soon(), max_tokens=200))

    assert "".join(e.text for e in events if isinstance(e, TextDelta)).strip()
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "stop"
    assert events[-1].usage.completion_tokens > 0


async def test_a_reply_that_runs_into_the_token_limit_is_not_whole(model):
    with pytest.raises(BadOutput):
        await whole(
            model.stream(
                [{"role": "user", "content": "Count to 500."}], deadline=soon(), max_tokens=8
            )
        )


@pytest.mark.parametrize(("name", "schema"), [("memory_gate", GATE_SCHEMA)])
async def test_what_it_fills_in_fits_the_schema(model, name, schema):
    data, usage = await model.fill(HELLO, name=name, schema=schema, deadline=soon())

    jsonschema.validate(data, schema)
    assert usage.total > 0


async def test_a_long_schema_is_filled_in_or_given_up_as_bad_output(model):
    prompt = [{"role": "user", "content": "List nothing: answer with an empty list of items."}]
    asked = model.fill(
        prompt, name="memory_extract", schema=EXTRACT_SCHEMA, deadline=soon(240), max_tokens=150
    )

    [got] = await asyncio.gather(asked, return_exceptions=True)

    if isinstance(got, tuple):
        jsonschema.validate(got[0], EXTRACT_SCHEMA)
    else:  # the smallest models run on inside strings
        assert isinstance(got, BadOutput)


async def test_a_prompt_longer_than_the_context_is_refused_and_not_repeated(model):
    long = [{"role": "user", "content": "word " * 20_000}]

    with pytest.raises(Unavailable) as caught:
        await whole(model.stream(long, deadline=soon()))

    assert caught.value.kind == "request"


async def test_two_requests_at_once_are_both_answered(model):
    replies = await asyncio.gather(
        *(whole(model.stream(HELLO, deadline=soon(), max_tokens=200)) for _ in range(2))
    )

    assert all(isinstance(events[-1], Finished) for events in replies)


async def test_a_reply_that_nobody_waits_for_any_more_is_broken_off(model):
    stream = model.stream(
        [{"role": "user", "content": "Count to 300."}], deadline=soon(), max_tokens=800
    )
    await anext(stream)
    await stream.aclose()

    events = await whole(model.stream(HELLO, deadline=soon(), max_tokens=200))

    assert isinstance(events[-1], Finished)  # the server is free again
