"""The encoder that reads two texts together, as it is fitted: the weights of `memory.llm.fitted`,
which stay, low-rank corrections of them, and a small head that judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from memory.llm.embeddings import tokenizer_of
from memory.llm.fitted import CORRECTIONS, FIRST, LAST, WINDOW, correction_of, weights_of
from memory.llm.joint import WIDTH, topic_tokens
from memory.types import TopicSpec

from .fitting_examples import Part
from .fitting_model import Bert, halved, tokens_of

RANK = 48
DROPOUT = 0.1
HIDDEN = 128
LONGEST = WINDOW + 74  # tokens of a message, others joined to it


@dataclass(frozen=True)
class Pair:
    """A message beside a topic."""

    text: str
    parts: tuple[Part, ...]
    topic: TopicSpec


class Joint(nn.Module):
    def __init__(self, file: Path) -> None:
        super().__init__()
        held: dict[str, Any] = weights_of(file)
        for name, added in correction_of(CORRECTIONS).items():
            held[f"{name}_weight"] = held[f"{name}_weight"] + added
        self.bert = Bert(held, RANK)
        self.head = nn.Sequential(
            nn.Dropout(DROPOUT), nn.Linear(2 * WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1)
        )
        self.tokenizer = tokenizer_of(None)

    def odds(self, pairs: Sequence[Pair]) -> list[Tensor]:
        """Log odds of each pair's parts, (parts,), against nothing."""
        read = {p.text: self._read(p.text) for p in pairs}
        told = [([FIRST, *read[p.text].ids[:LONGEST], LAST], self._topic(p.topic)) for p in pairs]
        rows = []
        for pair, (whole, *states) in zip(pairs, self.bert(told), strict=True):
            stacked, offsets = torch.stack(states), read[pair.text].offsets[:LONGEST]
            parts = [stacked[tokens_of(p, offsets)].mean(0) for p in pair.parts]
            rows.append(torch.stack([torch.cat((part, whole)) for part in parts]))
        found = self.head(torch.cat(rows)).squeeze(1)
        return list(found.split([len(r) for r in rows]))

    def learnt(self) -> dict[str, Any]:
        """As `memory.llm.joint` reads it, in half precision."""
        _, first, _, last = self.head
        return self.bert.learnt() | {
            "odds_in": halved(first.weight.T),
            "odds_in_bias": halved(first.bias),
            "odds_out": halved(last.weight[0]),
            "odds_out_bias": halved(last.bias[0]),
        }

    def _read(self, text: str) -> Any:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def _topic(self, topic: TopicSpec) -> list[int]:
        return topic_tokens(topic, lambda text: self._read(text).ids)
