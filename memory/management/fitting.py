"""Fitting of `memory.llm.fitted` and `memory.lifecycle.extract.fitted` to our own examples.

Needs PyTorch, which nothing else here does: `manage.py fit_encoder` says so where it is missing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from memory.lifecycle.extract.fitted import COUNTER, EXAMPLES
from memory.types import TopicSpec

from .fitting_examples import Example, Part
from .fitting_model import Model, Topic
from .placement_training import figures

EPOCHS, BATCH, WARM_UP = 2, 48, 50
RATE, RATE_OF_HEAD, RATE_OF_SCALES = 1e-3, 5e-4, 1e-2
JOINED = 0.25  # share of the messages to which one or two others of their trade are joined
LONGEST = 400  # characters that are joined: what is read together holds about as many
TOPICS = 8  # beside the right ones, that a batch is compared with
FEWER_EXAMPLES, WITHOUT_EXAMPLES, WITHOUT_COUNTER = 0.5, 0.05, 0.3
AFTER_ANYTHING = 0.35  # share of the messages that get a line of ours before them, as they come
LINES = (
    "Hello, how can I help?",
    "Anything else?",
    "Thanks, that is noted.",
    "I'm sorry to hear that.",
    "I'll pass this to a colleague.",
    "You're welcome!",
    "Could you tell me a little more?",
    "We are open from eight to six.",
)
AMONG_TOPICS = 0.5  # weight of the right topic among the topics, "none" left out
Say = Callable[[str], object]


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


def loss_of(scores: Tensor, parts: Sequence[Part], keys: Sequence[str]) -> Tensor:
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


def joined(batch: Sequence[Example], rng: random.Random) -> list[Example]:
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
        found.append(Example(several[0].trade, text, tuple(parts), several[0].before))
    return found


def after_anything(e: Example, lines: Sequence[str], rng: random.Random) -> Example:
    """Most of what we say before has nothing to do with what is said then."""
    if e.before or rng.random() >= AFTER_ANYTHING:
        return e
    return replace(e, before=rng.choice(lines if lines and rng.random() < 0.5 else LINES))


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
    ours = {trade: [e.before for e in held if e.before] for trade, held in by_trade.items()}
    rates = _rates(model)
    optimizer = torch.optim.AdamW([{"params": p, "weight_decay": d} for p, _, d in rates])
    steps = EPOCHS * sum(math.ceil(len(held) / BATCH) for held in by_trade.values())
    step, losses = 0, list[float]()
    for _ in range(EPOCHS):
        for several in batches(by_trade, BATCH, rng):
            step += 1
            share = min(1, step / WARM_UP) * max(0.03, 0.5 + 0.5 * math.cos(math.pi * step / steps))
            for group, (_, rate, _) in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * share
            lines = ours[several[0].trade]
            after = [after_anything(e, lines, rng) for e in several]
            batch = [e.in_view() for e in joined(after, rng)]
            parts = [p for e in batch for p in e.parts]
            chosen = _some_topics(specs[batch[0].trade], {k for p in parts for k in p.keys}, rng)
            scores = _scored(model, batch, chosen, rng)
            loss = loss_of(scores, parts, [t.key for t in chosen])
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
    corrections = [p for p in model.bert.parameters() if p.requires_grad]
    return [(corrections, RATE, 0.0), (head, RATE_OF_HEAD, 0.01), (scales, RATE_OF_SCALES, 0.0)]


def batches(
    by_trade: dict[str, list[Example]], size: int, rng: random.Random
) -> list[list[Example]]:
    found = []
    for held in by_trade.values():
        rng.shuffle(held)
        found += [held[i : i + size] for i in range(0, len(held), size)]
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
        for trade, told in by_trade.items():
            held = [e.in_view() for e in told]
            parts = [p for e in held for p in e.parts]
            chances = torch.softmax(_scored(model, held, specs[trade]), 1)[:, :-1]
            for part, row in zip(parts, chances.numpy(), strict=True):
                if not part.beside:
                    best = int(row.argmax())
                    stated.append(bool(part.keys))
                    right.append(specs[trade][best].key in part.keys)
                    sure.append(float(row[best]))
    model.train()
    return figures(right, stated, sure)
