"""Namespaces are compared segment by segment: `acme` is not `acme-corp`, `_` and `%` are
letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langgraph.store.base import MatchCondition

Namespace = tuple[str, ...]


def within(namespace: Sequence[str], prefix: Sequence[str]) -> bool:
    return tuple(namespace[: len(prefix)]) == tuple(prefix)


def after_all_within(prefix: Sequence[str]) -> list[str]:
    """Return the least namespace that sorts after everything within `prefix`, by bytes.

    Together with `>= prefix` it turns "within" into a range of the index.
    """
    return [*prefix[:-1], prefix[-1] + "\x01"]


def matches(namespace: Namespace, conditions: Iterable[MatchCondition]) -> bool:
    return all(_matches(namespace, condition) for condition in conditions)


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(wanted in ("*", segment) for segment, wanted in zip(part, path, strict=True))


def page(
    namespaces: Iterable[Namespace], *, max_depth: int | None, limit: int, offset: int
) -> list[Namespace]:
    cut = {n if max_depth is None else n[:max_depth] for n in namespaces}
    return sorted(cut)[offset : offset + limit]
