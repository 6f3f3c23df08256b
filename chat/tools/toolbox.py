"""The tools of one turn: what may be offered, what was learnt about them, and what they said."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

from channels.db import database_sync_to_async
from django.conf import settings

from chat.llm.base import FOR_A_NOTE, NeedsHuman, ToolCall, ToolFailed
from chat.models import Tool
from memory import services
from memory.kept import Kept

from .base import Execute, ToolSpec
from .http_get import HttpGet
from .reflection import Lesson, Reflector, Run

NAMESPACE = services.agent_namespace("bot")
READS = services.sight("bot").namespaces
WHO = "{customer}"
_active: Kept[tuple[Tool, ...]] = Kept(
    lambda: tuple(Tool.objects.filter(active=True).order_by("name")), "chat_tool"
)
VARIABLES = "RAPPORT_TOOL_"  # an admin may name these as a tool's secret, no others


@dataclass(slots=True)
class Toolbox:
    """`lessons`: by tool, the changes that its first attempt has from the start."""

    specs: dict[str, ToolSpec]
    lessons: dict[str, list[dict[str, Any]]]
    execute: Execute
    learn: Callable[[Lesson], Awaitable[None]]
    log: list[dict[str, Any]] = field(default_factory=list)

    @property
    def offered(self) -> list[dict[str, Any]]:
        return [spec.for_model() for spec in self.specs.values()]

    async def __call__(self, call: ToolCall) -> dict[str, Any]:
        return await (self.run_for_note(call) if call.id == FOR_A_NOTE else self.run(call))

    async def run(self, call: ToolCall) -> dict[str, Any]:
        """Return what the tool said. Raises NeedsHuman when it cannot be had."""
        spec = self.specs.get(call.name)
        if spec is None:
            raise NeedsHuman("identity", detail=call.name, wording="unsure")
        run = await Reflector(self.execute).run(
            spec, call.arguments, self.lessons.get(call.name, [])
        )
        self.log.append(_receipt(call.name, run))
        for lesson in run.lessons:
            await self.learn(lesson)
            self.lessons.setdefault(call.name, []).append(lesson.change)
        if not run.ok:
            raise _failed(call.name, run)
        return run.last.data if isinstance(run.last.data, dict) else {"result": run.last.data}

    async def run_for_note(self, call: ToolCall) -> dict[str, str]:
        """Return texts for the note's slots; {} where the tool does not know.

        `call.arguments` holds all that is known of the customer: the tool gets what it asks for.
        """
        spec = self.specs.get(call.name)
        if spec is None:
            return {}
        asked_for = spec.arguments.get("properties", {})
        arguments = {k: v for k, v in call.arguments.items() if k in asked_for}
        try:
            said = await self.run(ToolCall(call.id, call.name, arguments))
        except NeedsHuman:
            return {}
        return {name: _in_words(value) for name, value in said.items()}


def toolbox(*, verified: bool, customer: str, now: datetime) -> Toolbox:
    """Read the registered tools and what was learnt about them.

    A visitor gets none that needs to know who is asking. `customer`: the business's own number
    of who asks; it fills {customer} in an address, where no argument can put another one.
    """
    who = customer if verified else ""
    specs = {t.name: _spec(t, who) for t in _active() if _allowed(t, who, verified=verified)}
    lessons = {
        name: [
            lesson.conditions["change"]
            for lesson in services.lessons_for(f"tool:{name}", namespaces=READS)
            if isinstance(lesson.conditions.get("change"), dict)
        ]
        for name in specs
    }

    def keep(lesson: Lesson) -> None:
        services.learn_lesson(
            lesson.about,
            text=lesson.text,
            conditions=lesson.conditions | {"change": lesson.change},
            evidence=lesson.evidence,
            namespace=NAMESPACE,
            now=now,
        )

    execute = HttpGet(settings.CHAT_TOOL_HOSTS, settings.CHAT_TOOL_PRIVATE_HOSTS)
    return Toolbox(specs, lessons, execute, database_sync_to_async(keep, thread_sensitive=False))


def _allowed(tool: Tool, who: str, *, verified: bool) -> bool:
    return (verified or not tool.needs_identity) and (bool(who) or WHO not in tool.url)


def _spec(tool: Tool, who: str) -> ToolSpec:
    named = tool.auth_secret
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        arguments=tool.arguments,
        url=tool.url.replace(WHO, quote(who, safe="")),
        result=tool.result,
        auth_header=tool.auth_header,
        token=os.environ.get(named, "") if named.startswith(VARIABLES) else "",
        needs_identity=tool.needs_identity,
        timeout=tool.timeout_ms / 1000,
    )


def _receipt(name: str, run: Run) -> dict[str, Any]:
    return {
        "tool": name,
        "attempts": [
            {"status": o.status, "failure": o.failure, "with_token": o.attempt.with_token}
            for o in run.outcomes
        ],
        "learnt": [lesson.text for lesson in run.lessons],
        "stopped": run.skipped,
    }


def _failed(name: str, run: Run) -> ToolFailed:
    """Status and body are data for who chose the arguments: a model, where there is one."""
    last = run.last
    seen = {"failure": last.failure, "status": last.status, "detail": last.detail}
    wrong = last.failure in {"arguments", "schema"} or last.status in {400, 404, 409, 410, 422}
    return ToolFailed(
        f"{name}: {last.detail}", seen=seen | {"body": last.body[:200]}, may_differ=wrong
    )


def _in_words(value: Any) -> str:
    if isinstance(value, list):
        words = [_in_words(v) for v in value]
        return ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else "".join(words)
    return str(value)
