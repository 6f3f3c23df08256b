"""Bring a list of answered questions in: `manage.py import_answers FILE.csv [--dry-run]`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from memory import services
from memory.types import told_time

COLUMNS = ("title", "answer", "wordings", "author", "role", "review_on", "valid_until")
TITLE_LENGTH = 1000  # characters, as in the API
BETWEEN = "|"  # wordings in one cell


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    title: str
    answer: str
    wordings: tuple[str, ...]
    author: str
    role: str
    review_on: date | None
    valid_until: datetime | None


class Command(BaseCommand):
    help = (
        "Import answers from a CSV file with the columns title and answer. There may also be "
        "wordings (with | between them), author, role, review_on and valid_until (2026-12-31). "
        "All or nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        errors: list[str] = []
        lines = list(_lines(options["file"], errors))
        errors += _twice(lines)
        if errors:
            raise CommandError("\n".join(errors))
        now = timezone.now()
        with transaction.atomic():
            for line in lines:
                self._store(line, options["file"], now=now, dry_run=options["dry_run"])
        done = "would be stored" if options["dry_run"] else "stored"
        self.stdout.write(f"{len(lines)} answers {done}.")

    def _store(self, line: Line, file: Path, *, now: datetime, dry_run: bool) -> None:
        other = services.contradicts(title=line.title, parts=[line.answer])
        if other is not None:
            self.stdout.write(f"line {line.number}: takes the place of answer {other.pk}")
        services.add_answer(
            title=line.title,
            parts=[line.answer],
            wordings=line.wordings,
            author_name=line.author,
            role=line.role,
            review_on=line.review_on,
            valid_until=line.valid_until,
            by="import",
            now=now,
            source_ref=f"import:{file.name}:{line.number}",
            share_reason="imported",
            dry_run=dry_run,
        )


def _lines(file: Path, errors: list[str]) -> Iterator[Line]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        raise CommandError(f"{file}: cannot be read: {exc}") from None
    # Newlines in a cell are part of the answer; what else breaks a line for Python ends no row.
    rows = csv.DictReader(io.StringIO(text), strict=True)
    try:
        _check_columns(list(rows.fieldnames or ()))
        for row in rows:
            try:
                yield _line(row, rows.line_num)
            except ValueError as exc:
                errors.append(f"line {rows.line_num}: {exc}")
    except csv.Error as exc:  # a quote that is not closed, a cell as long as a book
        raise CommandError(f"line {rows.line_num}: {exc}") from None


def _check_columns(names: list[str]) -> None:
    missing, unknown = {"title", "answer"} - set(names), set(names) - set(COLUMNS)
    wrong = f"unknown: {', '.join(sorted(unknown))}" if unknown else ""
    if missing:
        wrong = f"has no {', '.join(sorted(missing))}"
    elif len(set(names)) < len(names):
        wrong = "names a column twice"
    if wrong:
        raise CommandError(f"line 1: {wrong}; the columns are {', '.join(COLUMNS)}")


def _line(row: dict[str | Any, str | Any], number: int) -> Line:
    if None in row:
        raise ValueError("has more cells than there are columns")
    title, answer = (row["title"] or "").strip(), row["answer"] or ""
    if not title or not answer.strip():
        raise ValueError("needs a title and an answer")
    if len(title) > TITLE_LENGTH:
        raise ValueError(f"has a title of more than {TITLE_LENGTH} characters")
    if any("\x00" in (cell or "") for cell in row.values()):
        raise ValueError("holds a NUL character, which cannot be stored")
    return Line(
        number=number,
        title=title,
        answer=answer,
        wordings=tuple(w.strip() for w in (row.get("wordings") or "").split(BETWEEN) if w.strip()),
        author=(row.get("author") or "").strip(),
        role=(row.get("role") or "").strip(),
        review_on=_date(row.get("review_on"), "review_on"),
        valid_until=_end_of(_date(row.get("valid_until"), "valid_until")),
    )


def _date(value: str | None, column: str) -> date | None:
    if not (value or "").strip():
        return None
    try:
        return date.fromisoformat(str(value).strip())
    except ValueError:
        raise ValueError(f"{column} {value!r} is no date like 2026-12-31") from None


def _end_of(day: date | None) -> datetime | None:
    return told_time(datetime.combine(day, time(23, 59, 59), UTC)) if day else None


def _twice(lines: list[Line]) -> list[str]:
    seen: dict[str, int] = {}
    errors = []
    for line in lines:
        key = line.title.casefold()
        if key in seen:
            errors.append(f"line {line.number}: the same title as line {seen[key]}")
        seen.setdefault(key, line.number)
    return errors
