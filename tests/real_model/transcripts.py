"""What the prompts make of realistic messages: the product's own code against any endpoint.

`OPENAI_BASE_URL=… OPENAI_API_KEY=… python -m tests.real_model.transcripts [CASE …]` prints, as
Markdown, what each model call was asked, what came back and what the product made of it. To be
read by a person: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import django

SECONDS = 170.0  # for one case: small models on a laptop are slow
given = argparse.Namespace(schemas=False)


class Recorder:
    """Prints what goes to the model and what comes back."""

    def __init__(self, client: Any) -> None:
        self.client, self.name, self.calls_tools = client, client.model, client.calls_tools

    async def find_out_tools(self, deadline: float | None = None) -> bool:
        return bool(await self.client.find_out_tools(deadline))

    async def fill(self, prompt: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            data, usage = await self.client.fill(prompt, **named)
        except Exception as exc:
            say(f"- model ({time.monotonic() - began:.1f} s): {type(exc).__name__}: {exc}")
            raise
        say(f"- model ({time.monotonic() - began:.1f} s, {usage.total} tokens): `{_json(data)}`")
        return data, usage

    async def stream(self, prompt: Any, **named: Any) -> AsyncIterator[Any]:
        async for event in self.client.stream(prompt, **named):
            say(f"- model: `{event}`")
            yield event

    def fill_now(self, prompt: Any, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        async def once() -> dict[str, Any]:
            deadline = time.monotonic() + SECONDS
            return dict((await self.fill(prompt, name=name, schema=schema, deadline=deadline))[0])

        return asyncio.run(once())


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, default=str)


def model(purpose: Any) -> Any:
    from django.conf import settings

    from memory.llm.openai import OpenAIChat

    if not settings.OPENAI_API_KEY:
        raise SystemExit("Set OPENAI_BASE_URL and OPENAI_API_KEY to an endpoint.")
    client = OpenAIChat(
        model=getattr(settings, f"OPENAI_{purpose.upper()}_MODEL"),
        base_url=settings.OPENAI_BASE_URL,
        api_key=settings.OPENAI_API_KEY,
        timeout=SECONDS,
    )
    client.calls_tools = False if given.schemas else None
    return Recorder(client)


def gate(case: dict[str, Any]) -> None:
    from memory.lifecycle import propose

    got = propose.second_opinion(case["text"], case.get("before", ()), fill=model("gate").fill_now)
    say("- product: " + ", ".join(f"{kind} {r.passed}" for kind, r in got.items()))


def extract(case: dict[str, Any]) -> None:
    from config.demo.topics import TOPICS
    from memory.lifecycle import propose, validate
    from memory.llm.base import BadOutput
    from memory.types import Category, TopicSpec
    from tests.real_model.cases import said

    fields = ("key", "label", "description", "permanent", "sensitive")
    topics = [
        TopicSpec(
            category=Category(t["category"]),
            single_valued=t["cardinality"] == "one",
            examples=tuple(t.get("examples", ())),
            not_examples=tuple(t.get("not_examples", ())),
            **{k: t[k] for k in fields if k in t},
        )
        for t in TOPICS[:5]  # a small model reads slowly
    ]
    talk = said(case["said"])
    try:
        found = propose.propose(talk, topics, instructions="", fill=model("knowledge").fill_now)
    except BadOutput as exc:
        say(f"- product: the rules read it instead ({exc})")
        return
    by_key = {t.key: t for t in topics}
    for c in found:
        verdict = validate.check(c, talk, topics=by_key)
        kept = "kept" if verdict.ok else f"refused: {verdict.reason}"
        say(f"- product: {kept}: {c.intent} {c.topic or '(no topic)'} = {c.value!r}, “{c.text}”")
    if not found:
        say("- product: nothing to keep")


def answer(case: dict[str, Any]) -> None:
    from tests.real_model.cases import situation
    from tests.tool_service import ToolService

    with ToolService() as service:
        asyncio.run(_turn(situation(case), case, service))


async def _turn(situation: Any, case: dict[str, Any], service: Any) -> None:
    from chat import agent
    from chat.llm.openai import Generative
    from chat.llm.verbatim import Verbatim
    from tests.real_model.cases import toolbox

    engine = Generative(model("answer"), seconds=SECONDS, tokens=20_000, name="model")
    tools = toolbox(service) if case.get("tools") else None
    outcome = agent.Outcome()
    running = agent.run(
        situation,
        outcome,
        engines=[engine, Verbatim()],
        tools=tools.offered if tools else (),
        run_tool=tools,
    )
    async for _ in running:
        pass
    for entry in tools.log if tools else ():
        say(f"- tool: `{_json(entry)}`")
    for move in outcome.moves:
        said = getattr(move, "text", "") or getattr(move, "line", "")
        cards = [c.title for c in getattr(move, "candidates", ())]
        cards += [move.candidate.title] if hasattr(move, "candidate") else []
        say(f"- product: {type(move).__name__} {said!r} {cards or ''}".rstrip(" '\""))
    if (need := outcome.needs) is not None:
        say(f"- product: a person ({need.reason}; {need.detail or 'no detail'})")
    failed = "; ".join(outcome.failures) or "no fault"
    say(f"- engine: {outcome.engine}; {outcome.usage.total} tokens; {failed}")


WAYS = {"gate": gate, "extract": extract, "answer": answer}


def main() -> None:
    from tests.real_model.cases import CASES

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names, or gate, extract, answer")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--schemas", action="store_true", help="the endpoint calls no tools")
    parser.parse_args(namespace=given)
    if given.list:
        say("\n".join(CASES))
        return
    wanted = [n for c in given.cases for n in CASES if c in (n, CASES[n]["prompt"])]
    for name in wanted or CASES:
        case = CASES[name]
        say(f"\n### {name}\n\n{case['about']}\n")
        say(f"- customer: {_json(case.get('text') or case['said'])}")
        try:
            WAYS[case["prompt"]](case)
        except Exception as exc:
            say(f"- fault: {type(exc).__name__}: {exc}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
