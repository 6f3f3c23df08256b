"""The engine with a model. The rules decide what they are sure of; the model decides the rest.

It chooses among stored answers, asks, or replies from the customer's own facts and tool results;
what it writes is looked at twice (grounding) before a customer sees a word of it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from memory.llm.base import BadOutput, ChatModel, Finished, Prompt, Refused, Usage, size
from memory.types import AnswerCandidate

from . import decision, grounding, verbatim
from .answering import LIKELY
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
    ToolFailed,
    Unavailable,
)
from .decision import CHOICES, DECISION, REPLY_CHARS, Decision, left_open
from .filling import with_tool_result
from .prompt import own_words, prompt_for, told
from .topics import NAMED

LINE_CHARS = 200
OTHER_ARGUMENTS = 2  # how often a tool that failed is asked in another way


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
        if not left_open(moves, need, tools):
            for move in moves:
                yield await with_tool_result(move, run_tool)
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
    failed: list[ToolFailed] = field(default_factory=list)
    spent: Usage = field(default_factory=Usage)
    billed: Usage = field(default_factory=Usage)

    async def steps(self) -> AsyncIterator[TextDelta | Move | Usage]:
        """Decide, run tools, look twice; one repair. Raises NeedsHuman, Unavailable."""
        repaired = False
        while True:
            try:
                d = await self._decide()
            except Unavailable:
                yield self._bill()  # what came to nothing was paid for, too
                raise
            yield self._bill()
            d = self._as_card(d)
            if d.call is not None and self._offers(d.call) and not self._knows(d.call):
                await self._call(d.call)
                continue
            wrong = self._faults(d)
            if not wrong:
                async for step in self._done(d):
                    yield step
                return
            if repaired:
                raise NeedsHuman("unsure", detail=wrong[0], wording="unsure")
            repaired = True
            self.results.append({"your_last_reply_was_refused": wrong})

    async def _decide(self) -> Decision:
        """One call. After a refusal, or words in no form, the engine without a model decides."""
        try:
            if await self.engine.model.find_out_tools(self.deadline):
                return await self._by_tools()
            return await self._by_schema()
        except (Refused, BadOutput) as exc:
            self.spent += exc.usage if isinstance(exc, BadOutput) else Usage()
            raise Unavailable(f"no usable reply: {exc}", kind="broken") from exc

    def _affordable(self, prompt: Prompt) -> Prompt:
        if self.spent.total + size(prompt) > self.engine.tokens:
            raise Unavailable("the turn's tokens are spent", kind="broken", retry=False)
        return prompt

    async def _by_schema(self) -> Decision:
        data, usage = await self.engine.model.fill(
            self._affordable(prompt_for(self.s, self.results, tools=self.tools)),
            name="turn_decision",
            schema=DECISION,
            deadline=self.deadline,
        )
        self.spent += usage
        return decision.from_schema(data)

    async def _by_tools(self) -> Decision:
        """Nothing is shown before it is whole, so that a stream that broke may be read again."""
        for tries_left in (1, 0):
            text, calls = "", []
            try:
                async for event in self.engine.model.stream(
                    self._affordable(prompt_for(self.s, self.results)),
                    tools=[*CHOICES, *self.tools],
                    deadline=self.deadline,
                ):
                    if isinstance(event, TextDelta):
                        text += event.text
                    elif isinstance(event, Finished):
                        self.spent += event.usage
                    else:
                        calls.append(event)
            except Unavailable as exc:
                if not (tries_left and (text or calls) and exc.retry):
                    raise
            else:
                break
        return decision.from_tools(text, calls)

    def _bill(self) -> Usage:
        """What was spent since the last bill."""
        new, self.billed = self.spent - self.billed, self.spent
        return new

    async def _call(self, call: ToolCall) -> None:
        if self.run_tool is None:
            raise NeedsHuman("unsure", detail=f"nothing runs {call.name}")
        if sum("tool" in r for r in self.results) >= self.engine.tool_calls:
            raise NeedsHuman("tool", detail="too many tool calls", wording="unsure")
        tried = {"tool": call.name, "arguments": call.arguments}
        if any("failed" in r and tried.items() <= r.items() for r in self.results):
            raise self.failed[-1]  # another try would be the same
        try:
            self._check(call)
            self.results.append(tried | {"result": await self.run_tool(call)})
        except ToolFailed as exc:
            self.failed.append(exc)
            if not exc.may_differ or len(self.failed) > OTHER_ARGUMENTS:
                raise
            self.results.append(tried | {"failed": exc.seen})

    def _check(self, call: ToolCall) -> None:
        """A number that nobody gave could be another customer's."""
        said = [self.s.text, *(line.text for line in self.s.before), *self._facts()]
        if made_up := grounding.made_up(call.arguments, [*said, *self._looked_up()]):
            why = f"nobody gave {', '.join(made_up)}"
            seen = {"failure": "arguments", "detail": f"{why}: the customer has to say it"}
            raise ToolFailed(f"{call.name}: {why}", seen=seen, may_differ=True)

    def _offers(self, call: ToolCall) -> bool:
        return call.name in {t["function"]["name"] for t in self.tools}

    def _knows(self, call: ToolCall) -> bool:
        """What it said stands in the data: a small model asks the same again and again."""
        same = {"tool": call.name, "arguments": call.arguments}
        return any("result" in r and same.items() <= r.items() for r in self.results)

    def _faults(self, d: Decision) -> list[str]:
        if d.call is not None and not self._offers(d.call):
            return [f"no tool of this name is offered: {d.call.name[:40]}"]
        if d.call is not None:
            return ["tool_results holds what this call says: reply from it, or hand over"]
        if d.way == "reply":
            return self._faults_of_reply(d.text)
        if d.way in {"use_answer", "offer"} and not self._chosen(d):
            return ["none of these ids is among the candidates"]
        if d.way == "ask" and not self._topic(d):
            return ["this topic is not one to ask about"]
        return []

    def _faults_of_reply(self, text: str) -> list[str]:
        if not text:
            raise Unavailable("an empty reply", kind="broken")
        said = self._looked_up()
        return [
            *(["too long"] if len(text) > REPLY_CHARS else []),
            *grounding.faults(text, said, own=self._facts()),
            *grounding.loose(text, [*said, *self._facts()], asked=self.s.text),
            *self._repeats(text),
        ]

    def _looked_up(self) -> list[str]:
        found = (r["result"] for r in self.results if "result" in r)
        return [json.dumps(said, ensure_ascii=False) for said in found]

    def _facts(self) -> list[str]:
        return [f"{f.label}: {f.text}" for f in told(self.s)]

    def _repeats(self, text: str) -> list[str]:
        """A stored answer is shown as it stands or not at all, and the prompt never is."""
        answers = [" ".join(c.parts) for c in self.s.answer.candidates]
        if grounding.shares_a_run(text, answers):
            return ["repeats a stored answer instead of using it"]
        if grounding.shares_a_run(text, own_words(self.s)):
            return ["speaks of how you work"]
        return []

    async def _done(self, d: Decision) -> AsyncIterator[TextDelta | Move]:
        chosen = self._chosen(d)
        by_tool = d.way == "reply" and any("result" in r for r in self.results)
        if self.need and self.need.wording == "personal" and not by_tool:
            raise self.need
        if d.way == "use_answer" and chosen[0].score < LIKELY:
            yield Offer((chosen[0],))  # as unlikely as that, only she can say that it is meant
        elif d.way == "use_answer":
            yield Answer(chosen[0], line=self._line(d.text, chosen[0]))
        elif d.way == "offer":
            yield Offer(tuple(chosen[:3]))
        elif d.way == "ask" and (topic := self._topic(d)):
            yield Ask(topic)
        elif d.way == "reply":
            yield TextDelta(d.text)
            yield Remark(d.text)
            if self.need and self.need.reason == "request" and not by_tool:
                raise self.need  # words do not do what was asked for
        else:
            if self.failed:
                raise self.failed[-1]
            raise self.need or NeedsHuman("no_answer", detail=d.text[:200])

    def _line(self, line: str, card: Any) -> str:
        """A line before a card may be kind; where it says more than that, the card stands alone."""
        if not line or len(line) > LINE_CHARS or "\n" in line:
            return ""
        about = [*self._facts(), card.title, card.role, *card.parts]
        said_more = (
            grounding.faults(line, (), own=self._facts())
            or grounding.loose(line, about, asked=self.s.text, kind=True)
            or self._repeats(line)
        )
        return "" if said_more else line

    def _chosen(self, d: Decision) -> list[Any]:
        by_id = {c.number: c for c in self._shown()}
        return [by_id[i] for i in dict.fromkeys(d.ids) if i in by_id]

    def _shown(self) -> tuple[AnswerCandidate, ...]:
        # What would do by itself stands alone: no vote could count for the others.
        return self.s.offerable[:1] if self.s.answer.way == "deliver" else self.s.offerable

    def _as_card(self, d: Decision) -> Decision:
        """A reply that says one stored answer over again means that answer: its card is shown."""
        said = (c for c in self._shown() if grounding.shares_a_run(d.text, [" ".join(c.parts)]))
        same = tuple(c.number for c in said) if d.way == "reply" else ()
        return replace(d, way="use_answer", ids=same, text="") if len(same) == 1 else d

    def _topic(self, d: Decision) -> Any:
        topic = self.s.topic(d.topic)
        known = topic and (self.s.standing_on(topic.key) or topic.key in self.s.withheld.topics)
        # A model asks back what it should look up: only what her words name is hers to say.
        named = dict(self.s.named).get(d.topic, 0.0) >= NAMED
        return topic if topic and topic.may_ask and named and not known else None
