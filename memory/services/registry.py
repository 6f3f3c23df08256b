"""Erase and export reach every app that keeps something of a customer; each says so by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.lifecycle import blank

Eraser = Callable[[int], dict[str, int]]
Exporter = Callable[[int], dict[str, Any]]
Unfinished = Callable[[int], str]
Merger = Callable[[int, int, datetime], None]


@dataclass(frozen=True, slots=True)
class Keeper:
    """`unfinished`: what would be cut short by erasing that customer, in words; "" if nothing.

    `eraser`: deletes the rows of that customer and returns how many of each model.

    It runs inside the transaction of the whole erasure; files go by `transaction.on_commit`.
    `merger`: gives a visitor's rows to an identified customer, inside the merge's transaction.
    `models`: labels ("chat.Message") of all models that it takes care of.
    """

    eraser: Eraser
    exporter: Exporter
    merger: Merger
    models: frozenset[str]
    unfinished: Unfinished | None = None


_keepers: dict[str, Keeper] = {}


def register(
    app: str,
    *,
    eraser: Eraser,
    exporter: Exporter,
    merger: Merger,
    models: Iterable[str],
    forgetter: blank.Forgetter | None = None,
    unfinished: Unfinished | None = None,
) -> None:
    """For `AppConfig.ready`. A test fails when a model with a path to Customer is missing.

    `forgetter`: blanks words of a customer in what the app keeps. It runs under her lock, so it
    waits for no other: what it cannot have at once it does on commit.
    """
    _keepers[app] = Keeper(eraser, exporter, merger, frozenset(models), unfinished)
    if forgetter is not None:
        blank.also(app, forgetter)


def keepers() -> dict[str, Keeper]:
    """Uppermost app first: escalations, chat, memory, which is the order of their locks."""
    return dict(reversed(_keepers.items()))


def unfinished(customer_id: int) -> list[str]:
    """What is still going on with that customer, as each app says it."""
    asked = (k.unfinished(customer_id) for k in keepers().values() if k.unfinished is not None)
    return [words for words in asked if words]
