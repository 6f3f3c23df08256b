"""The steps in what somebody wrote, letter for letter, where it is an ordered how-to. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERED = re.compile(r"^[ \t]*(?:step[ \t]+)?(\d{1,2})[ \t]*[.):][ \t]*(?=\S)", re.I | re.M)
_ORDER = re.compile(
    r"^\W{0,3}(?:first(?:ly| of all)?|to begin|second(?:ly)?|third(?:ly)?|then|next|after that"
    r"|afterwards|once (?:that|this)|finally|last(?:ly)?|at the end)\b",
    re.I,
)


def steps_of(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the steps, () where there is no order: each is a piece of the words as they stand.

    Several messages are steps where two of them say their place; one message is cut before its
    numbered lines, and its pieces joined by a line's end are the message again.
    """
    if len(parts) > 1:
        numbers = [int(m[1]) for p in parts if (m := _NUMBERED.match(p))]
        in_order = len(numbers) > 1 and numbers == sorted(set(numbers))
        return tuple(parts) if in_order or sum(map(_says_place, parts)) > 1 else ()
    return _cut(parts[0]) if parts else ()


def _says_place(part: str) -> bool:
    return bool(_ORDER.match(part))


def _cut(text: str) -> tuple[str, ...]:
    marks = list(_NUMBERED.finditer(text))
    if len(marks) < 2 or [int(m[1]) for m in marks] != list(range(1, len(marks) + 1)):
        return ()
    starts = [0, *(m.start() for m in marks[1:])]
    ends = [*(start - 1 for start in starts[1:]), len(text)]  # the line's end between two steps
    return tuple(text[a:b] for a, b in zip(starts, ends, strict=True))
