"""What both gates say of one message, as recall and the knowledge agent ask them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic

from memory import pipeline
from memory.lifecycle import propose
from memory.llm.base import BadOutput, Refused, Unavailable, Usage, size
from memory.llm.configured import chat_model
from memory.types import GateResult, Said

from . import reading

SECONDS = 2.0  # somebody waits for the reply
WORTH_ASKING = 0.3  # seconds


@dataclass(frozen=True, slots=True)
class Gated:
    """`retrieve`: does a reply need the past; `save`: may the message hold something lasting."""

    retrieve: GateResult
    save: GateResult


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What the gate comes to, which model was asked, and what that cost."""

    gate: GateResult
    model: str = ""
    usage: Usage = field(default_factory=Usage)


def gated(message: str, *, before: Sequence[str] = (), now: datetime) -> Gated:
    """One embedding of the message serves both, as in a turn."""
    return Gated(
        retrieve=reading.needs_past(message, before),
        save=pipeline.worth_saving(Said(1, "customer", message, now), before=before),
    )


def in_doubt(gate: GateResult) -> bool:
    """Whether the cheap gate is unsure that the past is needed, and a model could be asked."""
    return propose.unsure(gate, gate="retrieve") and chat_model("gate") is not None


async def second_look(
    gate: GateResult,
    message: str,
    *,
    before: Sequence[str] = (),
    seconds: float = SECONDS,
    tokens: int | None = None,
) -> SecondLook:
    """Ask the small model whether `message` needs the past. Recall first: no answer means yes.

    `seconds`, `tokens`: what may be spent on it. Reads and writes nothing: hold no lock meanwhile.
    """
    model = chat_model("gate") if in_doubt(gate) else None
    if model is None:
        return SecondLook(gate)
    prompt = propose.gate_prompt(message, before)
    seconds = min(seconds, SECONDS)
    if seconds < WORTH_ASKING:
        return SecondLook(_to_be_safe(gate, "no time to ask a model"))
    if tokens is not None and size(prompt) > tokens:
        return SecondLook(_to_be_safe(gate, "no tokens left to ask a model"))
    try:
        got, usage = await model.fill(
            prompt,
            name=propose.GATE_FORM,
            schema=propose.GATE_SCHEMA,
            deadline=monotonic() + seconds,
        )
    except (Unavailable, Refused, BadOutput) as exc:
        spent = exc.usage if isinstance(exc, BadOutput) else Usage()
        # The kind alone: what a model refuses or gets wrong may hold the customer's words.
        failed = exc.kind if isinstance(exc, Unavailable) else type(exc).__name__
        return SecondLook(
            _to_be_safe(gate, f"the model did not say ({failed})"), model.model, spent
        )
    return SecondLook(propose.gate_verdicts(got)["retrieve"], model.model, usage)


def second_look_now(gate: GateResult, message: str, *, before: Sequence[str] = ()) -> GateResult:
    """`second_look` from a thread that has no event loop."""
    model = chat_model("gate") if in_doubt(gate) else None
    if model is None:
        return gate
    return model.run_now(lambda: second_look(gate, message, before=before)).gate


def _to_be_safe(gate: GateResult, why: str) -> GateResult:
    return replace(gate, passed=True, reason=f"unsure, and {why}: recall first")
