"""Fitting of `memory.llm.joint` to our own examples: messages beside topics.

Needs PyTorch, which nothing else here does: `manage.py fit_joint` says so where it is missing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from memory.lifecycle.extract import fitted
from memory.llm.fitted import read_here
from memory.types import TopicSpec

from .fitting import (
    FEWER_EXAMPLES,
    WITHOUT_COUNTER,
    WITHOUT_EXAMPLES,
    Say,
    after_anything,
    batches,
    joined,
    loss_of,
)
from .fitting_examples import Example
from .joint_model import Joint, Pair
from .placement_examples import Specs
from .placement_training import figures

RATE, BATCH, WARM_UP = 6e-4, 14, 60  # each message is read once: more was no better elsewhere
CLOSE = 2  # wrong topics that a message is read beside: those that come nearest,
ONE_MORE, STRANGER = 0.5, 0.2  # often another of its trade, sometimes one of another trade
CLOSE_ENOUGH = 5  # topics that a message is judged among


def fit(file: Path, examples: Sequence[Example], specs: Specs, say: Say) -> Joint:
    torch.manual_seed(1)
    rng = random.Random(1)  # noqa: S311 - order of training
    model = Joint(file)
    say(f"computing in {model.bert.numbers}")
    say("looking for the topics that come near each message")
    pairing = _Pairing(examples, specs, rng)
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, weight_decay=0.0)
    several, losses = batches(pairing.by_trade, BATCH, rng), list[float]()
    for step, batch in enumerate(several, 1):
        warm = min(1, step / WARM_UP)
        cooled = max(0.03, 0.5 + 0.5 * math.cos(math.pi * step / len(several)))
        optimizer.param_groups[0]["lr"] = RATE * warm * cooled
        loss = _of_messages(model, pairing, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learnt, 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 0:
            say(f"step {step} of {len(several)}: loss {np.mean(losses[-100:]):.3f}")
    return model


def _of_messages(model: Joint, pairing: _Pairing, batch: Sequence[Example]) -> Tensor:
    read = pairing.read(batch)
    pairs = [Pair(e.text, e.parts, t) for e, topics in read for _, t in topics]
    # In two halves by their length: what is read together is as long as its longest.
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].text))
    odds: dict[int, Tensor] = {}
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        odds |= dict(zip(half, model.odds([pairs[i] for i in half]), strict=True)) if half else {}
    total, parts, at = torch.zeros(()), 0, 0
    for e, topics in read:
        mine = [odds[at + i] for i in range(len(topics))]
        scores = torch.stack([*mine, torch.zeros(len(e.parts))], 1)
        total = total + loss_of(scores, e.parts, [key for key, _ in topics]) * len(e.parts)
        at, parts = at + len(topics), parts + len(e.parts)
    return total / parts


class _Pairing:
    """Which topics each message is read beside: the right ones, and wrong ones that come near."""

    def __init__(self, examples: Sequence[Example], specs: Specs, rng: random.Random) -> None:
        self.specs, self.rng = specs, rng
        self.by_trade: dict[str, list[Example]] = {}
        for e in examples:
            self.by_trade.setdefault(e.trade, []).append(e)
        self.ours = {t: [e.before for e in held if e.before] for t, held in self.by_trade.items()}
        self.near = {
            (e.trade, e.text): found
            for trade, held in self.by_trade.items()
            for e, found in zip(held, _nearest(held, specs[trade]), strict=True)
        }

    def read(self, batch: Sequence[Example]) -> list[tuple[Example, list[tuple[str, TopicSpec]]]]:
        """Messages as they are read, and the topics that each is read beside, by key."""
        lines = self.ours[batch[0].trade]
        found = []
        for e in joined([after_anything(e, lines, self.rng) for e in batch], self.rng):
            within = [self.near[e.trade, one.text] for one in batch if one.text in e.text]
            found.append((e.in_view(), self._topics(e, within)))
        return found

    def _topics(
        self, e: Example, near: Sequence[Sequence[TopicSpec]]
    ) -> list[tuple[str, TopicSpec]]:
        right = {k for p in e.parts for k in p.keys}
        chosen = [t for t in self.specs[e.trade] if t.key in right]
        wrong = [
            t
            for t in dict.fromkeys(t for rank in zip(*near, strict=True) for t in rank)
            if t.key not in right
        ]
        chosen += wrong[:CLOSE]
        if wrong[CLOSE:] and self.rng.random() < ONE_MORE:
            chosen.append(self.rng.choice(wrong[CLOSE:]))
        found = [(t.key, self._fewer(t)) for t in chosen]
        if self.rng.random() < STRANGER:
            other = self.rng.choice([t for t in self.by_trade if t != e.trade])
            strange = [t for t in self.specs[other] if t.key not in right]
            found += [("", self._fewer(t)) for t in self.rng.sample(strange, min(1, len(strange)))]
        return found

    def _fewer(self, topic: TopicSpec) -> TopicSpec:
        """Businesses write few examples, and in any order."""
        examples = self.rng.sample(topic.examples, len(topic.examples))
        if len(examples) > 1 and self.rng.random() < FEWER_EXAMPLES:
            examples = examples[: self.rng.randint(1, len(examples))]
        if self.rng.random() < WITHOUT_EXAMPLES:
            examples = []
        counter = () if self.rng.random() < WITHOUT_COUNTER else topic.not_examples
        return replace(topic, examples=tuple(examples), not_examples=counter)


def _nearest(examples: Sequence[Example], topics: tuple[TopicSpec, ...]) -> list[list[TopicSpec]]:
    """For each message the topics of its trade, those first that the encoder thinks likeliest."""
    known, judge = fitted.encoded(topics, read_here), fitted.shipped()
    found = []
    for e in (e.in_view() for e in examples):
        vectors = read_here(e.text, [(p.start, p.end) for p in e.parts])
        chances = np.max([judge.chances(known, v, told=False) for v in vectors], axis=0)
        found.append([topics[i] for i in np.argsort(-chances)])
    return found


def judge(model: Joint, examples: Sequence[Example], specs: Specs) -> tuple[float, float]:
    """Share of what is stated that is placed right; best F1 of storing the right thing."""
    model.eval()
    right, stated, sure = [], [], []
    by_trade: dict[str, list[Example]] = {}
    for e in examples:
        by_trade.setdefault(e.trade, []).append(e)
    with torch.no_grad():
        for trade, told in by_trade.items():
            for e, near in zip(told, _nearest(told, specs[trade]), strict=True):
                seen, close = e.in_view(), near[:CLOSE_ENOUGH]
                odds = model.odds([Pair(seen.text, seen.parts, t) for t in close])
                shares = torch.softmax(torch.stack([*odds, torch.zeros(len(seen.parts))], 1), 1)
                for part, row in zip(seen.parts, shares[:, :-1].numpy(), strict=True):
                    if not part.beside:
                        best = int(row.argmax())
                        stated.append(bool(part.keys))
                        right.append(close[best].key in part.keys)
                        sure.append(float(row[best]))
    model.train()
    return figures(right, stated, sure)
