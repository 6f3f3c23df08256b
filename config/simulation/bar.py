"""A progress bar: drawn over itself on a terminal, one line each tenth elsewhere."""

from __future__ import annotations

from typing import Self, TextIO

WIDTH = 30


class Bar:
    def __init__(self, out: TextIO, unit: str) -> None:
        self._out, self._unit, self._shown = out, unit, -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._shown >= 0 and self._out.isatty():
            self._out.write("\n")

    def at(self, done: int, total: int) -> None:
        live = self._out.isatty()
        now = done * (100 if live else 10) // max(total, 1)
        if now == self._shown:
            return
        self._shown = now
        full = WIDTH * done // max(total, 1)
        line = f"[{'#' * full}{' ' * (WIDTH - full)}] {done} of {total} {self._unit}"
        self._out.write(f"\r{line}" if live else f"{line}\n")
        self._out.flush()
