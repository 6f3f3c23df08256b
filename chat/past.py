"""What a turn looks up of the customer's past, and whether it has to.

Rules and a classifier say so; where they are unsure a small model is asked, between two steps of
the turn: neither a thread nor a transaction waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chat.llm import intents
from memory import services
from memory.types import GateResult, Recalled


@dataclass(slots=True)
class Past:
    """`working`: what she said in this conversation."""

    text: str
    before: Sequence[str]
    hers: services.Hers
    working: Sequence[dict[str, Any]]
    verified: bool
    needs_facts: bool  # then all that stands for her is read anyway
    doubt: GateResult | None = None  # the cheap gate's word, where a model is still to be asked

    def look(self) -> Recalled:
        """Recall what the words need. In doubt nothing is searched yet."""
        if intents.small_talk_alone(self.text):
            return Recalled(skipped=True)
        gate = services.needs_past(self.text, self.before)
        unsure = services.in_doubt(gate)
        if (unsure or not gate.passed) and self.needs_facts and services.tried_with(self.hers):
            return self.recall(
                GateResult(True, "something like it was tried with this customer before")
            )
        if unsure and (self.working or self.hers.rows):
            self.doubt = gate
            return Recalled(gate=gate, skipped=True)
        return self.recall(gate)

    def recall(self, gate: GateResult) -> Recalled:
        return services.recall(
            self.hers.customer_id,
            self.text,
            now=self.hers.now,
            before=self.before,
            gate=gate,
            hers=self.hers,
            working=self.working,
            verified=self.verified,
            explain=True,  # the receipt says what was left out, too
        )
