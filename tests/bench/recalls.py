"""Recall among many: one customer's memories, the database and the scoring, not the embedding."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime

from memory import services
from memory.llm import embeddings
from tests.bench import figures

QUESTIONS = (
    "When do I like to get my parcels?",
    "Which invoices did I ask for?",
    "What do you know about how I want my deliveries?",
    "Can you send the reports the way I like them?",
    "Do you remember what I was promised about my appointments?",
)


def measure(
    name: str, customers: Sequence[int], *, now: datetime, calls: int, bar: float | None = None
) -> bool:
    for question in QUESTIONS:
        embeddings.embed_one(question)  # into the cache: one message is embedded once for all
    services.recall(customers[0], QUESTIONS[0], now=now)
    chosen = random.Random(11).choices(list(customers), k=calls)
    timed = figures.Timed()
    found = 0
    for n, customer in enumerate(chosen):
        question = QUESTIONS[n % len(QUESTIONS)]

        def ask(customer: int = customer, question: str = question) -> None:
            nonlocal found
            found += len(services.recall(customer, question, now=now).facts)

        timed(ask)
    ok = figures.line(f"{name}, wall", timed.wall, bar=bar)
    figures.line(f"{name}, CPU of the caller", timed.cpu)
    print(f"{'':44} CPU of the database {timed.backend_ms():.2f} ms a call, {found} facts found")
    return ok
