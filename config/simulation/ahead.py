"""The other core's part: vectors of what will be written are made before they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread

from memory import services

FAR = 100  # messages ahead: more would push out of the cache what is needed sooner


class _Ahead:
    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._limit, self._over = texts, FAR, False
        self._changed = Condition()

    def up_to(self, used: int, *, over: bool = False) -> None:
        """So many texts were used. `over`: no more will be."""
        with self._changed:
            self._limit, self._over = used + FAR, over
            self._changed.notify()

    def work(self) -> None:
        for at, text in enumerate(self._texts):
            with self._changed:
                while at >= self._limit and not self._over:
                    self._changed.wait()
            if self._over:
                return
            services.warm_up(text)


@contextmanager
def embedding(texts: Sequence[str]) -> Iterator[_Ahead]:
    """A text has one vector, whoever asks for it first: nothing comes out differently."""
    ahead = _Ahead(texts)
    thread = Thread(target=ahead.work, name="embedding ahead", daemon=True)
    thread.start()
    try:
        yield ahead
    finally:
        ahead.up_to(0, over=True)
        thread.join()
