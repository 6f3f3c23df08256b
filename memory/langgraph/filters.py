"""LangGraph's filters on an item's JSON, once as SQL and once for values at hand.

A plain value must be equal, a dict may hold more, a list must be equal item by item, and a key that
is
missing counts as null. `$gt` and its like compare numbers with numbers and text with text.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Condition = tuple[str, list[Any]]
Path = tuple[str, ...]

_ORDER: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "$gt": (">", operator.gt),
    "$gte": (">=", operator.ge),
    "$lt": ("<", operator.lt),
    "$lte": ("<=", operator.le),
}


def conditions(wanted: Mapping[str, Any]) -> list[Condition]:
    """Return SQL over the column `value`, each with its parameters; all must hold."""
    return [c for key, value in wanted.items() for c in _sql((key,), value)]


def _sql(path: Path, wanted: Any, *, in_list: bool = False) -> Iterator[Condition]:
    if isinstance(wanted, Mapping):
        yield from _sql_of_dict(path, wanted, in_list=in_list)
    elif isinstance(wanted, list | tuple):
        yield "jsonb_typeof(value #> %s::text[]) = 'array'", [list(path)]
        # Cast late: PostgreSQL may test the length before it has tested the type.
        yield (
            "jsonb_path_query_array(value #> %s::text[], 'lax $.size()') = %s::jsonb",
            [list(path), json.dumps([len(wanted)])],
        )
        for i, item in enumerate(wanted):
            yield from _sql((*path, str(i)), item, in_list=True)
    else:
        yield _equal(path, wanted)
        if wanted is not None and not in_list:
            # Says the same to the index on `value`.
            yield "value @> %s::jsonb", [json.dumps(_nest(path, wanted))]


def _sql_of_dict(path: Path, wanted: Mapping[str, Any], *, in_list: bool) -> Iterator[Condition]:
    if not any(key.startswith("$") for key in wanted):
        yield "jsonb_typeof(value #> %s::text[]) = 'object'", [list(path)]
        for key, value in wanted.items():
            yield from _sql((*path, key), value, in_list=in_list)
        return
    for key, value in wanted.items():
        if key == "$eq":
            yield _equal(path, value)
        elif key == "$ne":
            sql, params = _equal(path, value)
            yield f"not ({sql})", params
        elif key in _ORDER:
            yield _ordered(path, _ORDER[key][0], value)
        else:
            raise ValueError(f"Unsupported operator: {key}")


def _equal(path: Path, wanted: Any) -> Condition:
    return (
        "coalesce(value #> %s::text[], 'null'::jsonb) = %s::jsonb",
        [list(path), json.dumps(wanted)],
    )


def _ordered(path: Path, sign: str, wanted: Any) -> Condition:
    kind = "string" if isinstance(wanted, str) else "number"
    at = list(path)
    # jsonb orders numbers as numbers; text it orders as the database does, so bytes are asked for.
    left = '(value #>> %s::text[]) collate "C"' if kind == "string" else "(value #> %s::text[])"
    right = "%s" if kind == "string" else "%s::jsonb"
    given = wanted if kind == "string" else json.dumps(wanted)
    return f"jsonb_typeof(value #> %s::text[]) = '{kind}' and {left} {sign} {right}", [
        at,
        at,
        given,
    ]


def _nest(path: Path, wanted: Any) -> Any:
    for part in reversed(path):
        wanted = {part: wanted}
    return wanted


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_holds(value.get(key), expected) for key, expected in wanted.items())


def _holds(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_operator(actual, key, value) for key, value in wanted.items())
        return isinstance(actual, Mapping) and matches(actual, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(wanted)
            and all(map(_holds, actual, wanted))
        )
    return bool(actual == wanted)


def _operator(actual: Any, key: str, wanted: Any) -> bool:
    if key == "$eq":
        return bool(actual == wanted)
    if key == "$ne":
        return bool(actual != wanted)
    if key not in _ORDER:
        raise ValueError(f"Unsupported operator: {key}")
    same_kind = isinstance(actual, str) == isinstance(wanted, str)
    comparable = isinstance(actual, str | int | float) and not isinstance(actual, bool)
    return same_kind and comparable and _ORDER[key][1](actual, wanted)
