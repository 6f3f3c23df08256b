"""The engine with a model. The rules decide what they are sure of; the model decides the rest.

It chooses among stored answers, asks, or replies from the customer's own facts and tool results;
what it writes is looked at twice (grounding) before a customer sees a word of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from memory.llm.base import BadOutput, ChatModel, Finished, Refused, Usage

from . import grounding, verbatim
from .base import (
    Answer,
    Ask,
    Move,
    NeedsHuman,
    Offer,
    Remark,
    RunTool,
    Situation,
    SmallTalk,
    TextDelta,
    ToolCall,
    Unavailable,
)
from .prompt import prompt_for

LINE_CHARS = 200
REPLY_CHARS = 600
# What the rules leave open. A wish for a person or a blocked answer is never reconsidered.
OPEN_NEEDS = frozenset({"no_answer", "unsure", "request"})
SHARED_RUN = 6  # words in a row that a reply may not share with a stored answer


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string", "maxLength": REPLY_CHARS}
WAYS = ["use_answer", "offer", "ask", "reply", "hand_over", "call_tool"]
DECISION = _closed(
    way={"type": "string", "enum": WAYS},
    ids={"type": "array", "items": {"type": "integer"}},
    text=_TEXT,
    topic={"type": "string", "maxLength": 64},
    tool={"type": "string", "maxLength": 64},
    arguments={"type": "string", "maxLength": 1000},
)


def _function(name: str, description: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": _closed(**properties),
            "strict": True,
        },
    }


CHOICES = [
    _function(
        "use_answer",
        "Show one stored answer in its very words.",
        ids={"type": "array", "items": {"type": "integer"}},
        text=_TEXT,
    ),
    _function(
        "offer",
        "Let the customer choose among up to three.",
        ids={"type": "array", "items": {"type": "integer"}},
    ),
    _function("ask", "Ask the customer about a topic of their own.", topic={"type": "string"}),
    _function("hand_over", "A person has to take this.", text=_TEXT),
]


@dataclass(frozen=True, slots=True)
class _Decision:
    way: str
    ids: tuple[int, ...] = ()
    text: str = ""
    topic: str = ""
    call: ToolCall | None = None


@dataclass(slots=True)
class Generative:
    """`seconds` and `tokens` bound one turn; `tool_calls` how often tools are asked in it."""

    model: ChatModel
    seconds: float = 12.0
    tokens: int = 8_000
    tool_calls: int = 4
    name: str = "model"

    async def turn(
        self, situation: Situation, *, run_tool: RunTool | None, tools: Sequence[dict[str, Any]]
    ) -> AsyncIterator[TextDelta | Move | Usage]:
        moves, need = verbatim.decide(situation)
        if not _open(moves, need):
            for move in moves:
                yield await verbatim.with_tool_result(move, run_tool)
            if need is not None:
                raise need
            return
        run = _Run(self, situation, need, run_tool, tools, monotonic() + self.seconds)
        kept = [m for m in moves if not isinstance(m, Offer | Ask | SmallTalk)]
        for move in kept:
            yield move
        async for step in run.steps():
            yield step


@dataclass(slots=True)
class _Run:
    engine: Generative
    s: Situation
    need: NeedsHuman | None
    run_tool: RunTool | None
    tools: Sequence[dict[str, Any]]
    deadline: float
    results: list[dict[str, Any]] = field(default_factory=list)
    spent: Usage = field(default_factory=Usage)

    async def steps(self) -> AsyncIterator[TextDelta | Move | Usage]:
        """Decide, run tools, look twice; one repair. Raises NeedsHuman, Unavailable."""
        repaired = False
        while True:
            decision = await self._decide()
            yield self.spent
            self.spent = Usage()
            if decision.call is not None:
                await self._call(decision.call)
                continue
            wrong = self._faults(decision)
            if not wrong:
                async for step in self._done(decision):
                    yield step
                return
            if repaired:
                raise NeedsHuman("unsure", detail=wrong[0], wording="unsure")
            repaired = True
            self.results.append({"your_last_reply_was_refused": wrong})

    async def _decide(self) -> _Decision:
        """One call. After a refusal, or words in no form, the engine without a model decides."""
        model = self.engine.model
        try:
            if await model.find_out_tools():
                return await self._by_tools()
            schema_answer = await model.fill(
                prompt_for(self.s, self.results),
                name="turn_decision",
                schema=DECISION,
                deadline=self.deadline,
            )
        except (Refused, BadOutput) as exc:
            raise Unavailable(f"no usable reply: {exc}", kind="broken") from exc
        self._spend(schema_answer[1])
        return _from_schema(schema_answer[0])

    async def _by_tools(self) -> _Decision:
        text, calls = "", []
        async for event in self.engine.model.stream(
            prompt_for(self.s, self.results), tools=[*CHOICES, *self.tools], deadline=self.deadline
        ):
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, Finished):
                self._spend(event.usage)
            else:
                calls.append(event)
        if not calls:
            return _Decision("reply", text=text.strip())
        call = calls[0]
        if call.name in WAYS:
            return _decision(call.name, call.arguments)
        return _Decision("call_tool", call=call)

    def _spend(self, usage: Usage) -> None:
        self.spent += usage
        if self.spent.total > self.engine.tokens:
            raise Unavailable("the turn's tokens are spent", kind="broken", retry=False)

    async def _call(self, call: ToolCall) -> None:
        offered = {t["function"]["name"] for t in self.tools}
        if self.run_tool is None or call.name not in offered:
            raise NeedsHuman("unsure", detail=f"wanted a tool that is not offered: {call.name}")
        if sum("tool" in r for r in self.results) >= self.engine.tool_calls:
            raise NeedsHuman("tool", detail="too many tool calls", wording="unsure")
        self.results.append({"tool": call.name, "result": await self.run_tool(call)})

    def _faults(self, d: _Decision) -> list[str]:
        if d.way == "reply":
            if not d.text:
                raise Unavailable("an empty reply", kind="broken")
            rests_on = [
                *(f.text for f in self.s.recalled.facts),
                *(json.dumps(r, ensure_ascii=False) for r in self.results if "tool" in r),
                self.s.text,
            ]
            too_long = ["too long"] if len(d.text) > REPLY_CHARS else []
            return too_long + grounding.faults(d.text, rests_on) + _rewords(d.text, self.s)
        if d.way in {"use_answer", "offer"} and not self._chosen(d):
            return ["none of these ids is among the candidates"]
        if d.way == "ask" and not self._topic(d):
            return ["this topic is not one to ask about"]
        return []

    async def _done(self, d: _Decision) -> AsyncIterator[TextDelta | Move]:
        chosen = self._chosen(d)
        if d.way == "use_answer":
            yield Answer(chosen[0], line=self._line(d.text))
        elif d.way == "offer":
            yield Offer(tuple(chosen[:3]))
        elif d.way == "ask" and (topic := self._topic(d)):
            yield Ask(topic)
        elif d.way == "reply":
            for sentence in re.findall(r"[^.!?]+[.!?]*\s*", d.text):
                yield TextDelta(sentence)
            yield Remark(d.text)
        else:
            raise self.need or NeedsHuman("no_answer", detail=d.text[:200])

    def _line(self, text: str) -> str:
        """A line before a card may be kind; where it says more than that, the card stands alone."""
        line = text.strip()
        rests_on = [f.text for f in self.s.recalled.facts]
        if not line or len(line) > LINE_CHARS or "\n" in line:
            return ""
        return "" if grounding.faults(line, rests_on) or _rewords(line, self.s) else line

    def _chosen(self, d: _Decision) -> list[Any]:
        by_id = {c.answer_id: c for c in self.s.answer.candidates}
        return [by_id[i] for i in dict.fromkeys(d.ids) if i in by_id]

    def _topic(self, d: _Decision) -> Any:
        topic = self.s.topic(d.topic)
        known = topic and (self.s.standing_on(topic.key) or topic.key in self.s.recalled.withheld)
        return topic if topic and topic.may_ask and not known else None


def _open(moves: Sequence[Move], need: NeedsHuman | None) -> bool:
    """Whether the rules left something for the model to decide."""
    if need is not None:
        return need.reason in OPEN_NEEDS and not any(hasattr(m, "note") for m in moves)
    return any(isinstance(m, Offer) for m in moves)


def _from_schema(data: dict[str, Any]) -> _Decision:
    if data["way"] != "call_tool":
        return _decision(data["way"], data)
    try:
        arguments = json.loads(data["arguments"] or "{}")
    except json.JSONDecodeError as exc:
        raise Unavailable("tool arguments are no JSON", kind="broken") from exc
    if not isinstance(arguments, dict):
        raise Unavailable("tool arguments are no object", kind="broken")
    return _Decision("call_tool", call=ToolCall("schema", data["tool"], arguments))


def _decision(way: str, data: dict[str, Any]) -> _Decision:
    ids = data.get("ids")
    return _Decision(
        way,
        ids=tuple(i for i in ids if isinstance(i, int)) if isinstance(ids, list) else (),
        text=str(data.get("text") or ""),
        topic=str(data.get("topic") or ""),
    )


def _rewords(text: str, s: Situation) -> list[str]:
    """A stored answer is shown as it stands or not at all: no run of its words in other clothes."""
    words = re.findall(r"\w+", text.casefold())
    runs = {tuple(words[i : i + SHARED_RUN]) for i in range(len(words) - SHARED_RUN + 1)}
    for candidate in s.answer.candidates:
        theirs = re.findall(r"\w+", " ".join(candidate.parts).casefold())
        if any(
            tuple(theirs[i : i + SHARED_RUN]) in runs for i in range(len(theirs) - SHARED_RUN + 1)
        ):
            return ["repeats a stored answer instead of using it"]
    return []
