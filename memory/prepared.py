"""Queries of the way to a reply, built and compiled once a process: only their arguments change.

To build a queryset and compile it costs ten times what the database needs for it (1 to 3 ms against
.2), and a message asks a dozen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from django.db import connection
from django.db.models import Expression, Field, IntegerField, Model, QuerySet

M = TypeVar("M", bound=Model)


def argument(name: str, of: Field[Any, Any] | None = None) -> Any:
    """Stand in a queryset for a value that comes with each call: a whole number, unless `of` says.

    To the type checker it is that value.
    """
    return _Argument(name, of or IntegerField())


class _Argument(Expression):
    def __init__(self, name: str, output_field: Field[Any, Any]) -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        return "%s", (self,)


class Prepared(Generic[M]):
    """`build` returns the queryset, with an `argument` for what changes; a vector is given as one.

    Called with the arguments it returns plain tuples, as the driver gives them (JSON as text), and
    `instances` the models, where the queryset is one of whole models.
    """

    def __init__(self, build: Callable[[], QuerySet[M, Any]]) -> None:
        self._build = build
        self._model: type[M]
        self._compiled: tuple[str, tuple[Any, ...]] | None = None

    def __call__(self, **arguments: Any) -> list[tuple[Any, ...]]:
        sql, params = self._with(arguments)
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def instances(self, **arguments: Any) -> list[M]:
        rows = self(**arguments)
        return [_instance(self._model, row) for row in rows] if rows else []

    def _with(self, arguments: dict[str, Any]) -> tuple[str, list[Any]]:
        if self._compiled is None:
            rows = self._build()
            self._model, self._compiled = rows.model, rows.query.sql_with_params()
        sql, params = self._compiled
        given = [_given(arguments[p.name]) if isinstance(p, _Argument) else p for p in params]
        return sql, given


def by_key(model: type[M], pk: int) -> M:
    """Return the row of this key. Raises the model's DoesNotExist."""
    if model not in _BY_KEY:
        _BY_KEY[model] = Prepared(lambda: model._default_manager.filter(pk=argument("pk")))
    for row in _BY_KEY[model].instances(pk=pk):
        return cast(M, row)
    raise model.DoesNotExist  # type: ignore[attr-defined]


def related(row: Model, name: str) -> Any:
    """Return what the foreign key `name` points at, which must point at something."""
    field: Any = row._meta.get_field(name)
    if not field.is_cached(row):
        setattr(row, name, by_key(field.related_model, getattr(row, field.attname)))
    return getattr(row, name)


_BY_KEY: dict[type[Model], Prepared[Any]] = {}


def _instance(model: type[M], row: tuple[Any, ...]) -> M:
    """What a queryset makes of its columns, which are the model's own in their order."""
    fields = model._meta.concrete_fields
    values = [
        f.from_db_value(value, None, connection) if hasattr(f, "from_db_value") else value
        for f, value in zip(fields, row, strict=True)
    ]
    return model.from_db(connection.alias, [f.attname for f in fields], values)


def _given(value: Any) -> Any:
    """A vector as PostgreSQL reads it, in the halves that it keeps."""
    return str(value.astype("float16").tolist()) if hasattr(value, "dtype") else value
