"""An agent that learns, as a LangGraph graph: execute → evaluate → reflect → retry.

At most two retries, and none that would change nothing. What helped is kept as a lesson in the
agent's own namespace, with what bears it out; the next run has it from the start. What failed is
not kept. Give it your own tool and your own idea of what to change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

RETRIES = 2

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    status: int
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def worked(self) -> bool:
        return 200 <= self.status < 300


Tool = Callable[[Request], Result]
# Looks at what failed and returns what to change, and why in words; None if it sees no way.
Reflect = Callable[[Request, Result], tuple[Request, str] | None]


@dataclass
class State:
    request: Request
    result: Result | None = None
    tried: list[Request] = field(default_factory=list)
    learning: dict[str, Any] | None = None  # changed, not yet proven
    outcome: str = ""


class LearningAgent:
    """`run` calls the tool named `about`; lessons stand under ("agents", name, "lessons",
    about)."""

    def __init__(
        self, name: str, about: str, *, tool: Tool, reflect: Reflect, store: BaseStore
    ) -> None:
        self._tool, self._reflect, self._store = tool, reflect, store
        self._lessons = ("agents", name, "lessons", about)
        graph = StateGraph(State)
        for node in (self.execute, self.evaluate, self.reflect):
            graph.add_node(node.__name__, node)
        graph.add_edge(START, "execute")
        graph.add_edge("execute", "evaluate")
        graph.add_conditional_edges("evaluate", self._after_evaluate, ["reflect", END])
        graph.add_conditional_edges("reflect", self._after_reflect, ["execute", END])
        self._graph = graph.compile(store=store)

    def run(self, request: Request) -> State:
        return State(**self._graph.invoke(State(request=self._with_lessons(request))))

    def _with_lessons(self, request: Request) -> Request:
        for item in self._store.search(self._lessons, limit=20):
            request = {**request, **item.value["change"]}
        return request

    def execute(self, state: State) -> dict[str, Any]:
        tried = [*state.tried, state.request]
        return {"result": self._tool(state.request), "tried": tried}

    def evaluate(self, state: State) -> dict[str, Any]:
        assert state.result is not None  # noqa: S101 - execute ran before
        if not state.result.worked:
            return {"outcome": "failed"}
        if state.learning is not None:
            # Only now it is more than a guess: the changed call worked where the old one did not.
            lesson = {**state.learning, "evidence": {**state.learning["evidence"], "then": 200}}
            self._store.put(self._lessons, str(lesson["evidence"]["status"]), lesson)
        return {"outcome": "worked"}

    def reflect(self, state: State) -> dict[str, Any]:
        assert state.result is not None  # noqa: S101 - evaluate ran before
        found = self._reflect(state.request, state.result)
        if found is None:
            return {"outcome": "gave up: no way is seen"}
        change, why = found
        request = {**state.request, **change}
        if request in state.tried:
            return {"outcome": "gave up: a retry would change nothing"}
        learning = {"change": change, "text": why, "evidence": {"status": state.result.status}}
        return {"request": request, "learning": learning}

    def _after_evaluate(self, state: State) -> str:
        done = state.outcome == "worked" or len(state.tried) > RETRIES
        return END if done else "reflect"

    def _after_reflect(self, state: State) -> str:
        return END if state.outcome.startswith("gave up") else "execute"
