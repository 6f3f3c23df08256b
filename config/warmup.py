"""What a process loads before the first customer waits for it."""

from importlib import import_module
from importlib.util import find_spec
from threading import Thread


def load_the_embedder() -> None:
    """Two seconds of reading a model, which the first message or task would pay otherwise."""
    if find_spec("memory.services"):
        getattr(import_module("memory.services"), "warm_up", lambda: None)()


def load_the_embedder_meanwhile() -> None:
    Thread(target=load_the_embedder, name="warm-up", daemon=True).start()
