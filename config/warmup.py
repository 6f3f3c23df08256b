"""What a process does before the first customer waits for it."""

import asyncio
import gc
import logging
from threading import Thread

from django.db import DatabaseError

logger = logging.getLogger(__name__)


def load_models() -> None:
    from memory import services

    services.warm_up()


def read_a_first_message() -> None:
    """The vectors of topics and emergencies, which the first message would wait for otherwise."""
    from chat import warming

    try:
        warming.warm_up()
    except DatabaseError as exc:
        logger.warning("The first message will wait for its vectors: %s", exc)


def find_out_about_the_endpoint() -> None:
    """Ask once at start whether the endpoint calls tools, and say so in the log."""
    from chat.llm.base import Unavailable
    from chat.llm.configured import generative

    engine = generative()
    if engine is None:
        return
    try:
        asyncio.run(engine.model.find_out_tools())
    except Unavailable as exc:
        logger.warning("The model does not answer (%s): it is asked again when needed", exc)


def spare_the_collector() -> None:
    """What is loaded by now stays: each full collection would look through all of it, for 130 ms
    in which no thread runs (https://docs.python.org/3/library/gc.html#gc.freeze)."""
    gc.collect()
    gc.freeze()


def _get_ready() -> None:
    load_models()
    read_a_first_message()
    spare_the_collector()
    find_out_about_the_endpoint()


def get_ready_meanwhile() -> None:
    """Never in the way of the start: a dead endpoint takes seconds to show it."""
    Thread(target=_get_ready, name="warm-up", daemon=True).start()
