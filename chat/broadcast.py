"""Tell open tabs and desks that something was stored.

Pings only: whoever hears one reads the rows it lacks.

A channel layer drops messages when it is full and loses them when it dies; rows are read from the
database after the last seq seen, so a lost ping is made good by the next, and by the look that
every open tab takes now and then.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

from asgiref.sync import SyncToAsync, async_to_sync
from channels.layers import get_channel_layer
from django.db import connection, transaction

logger = logging.getLogger(__name__)

DESK = "desk"


def conversation_group(conversation_id: int) -> str:
    return f"conversation.{conversation_id}"


def customer_group(customer_id: int) -> str:
    return f"customer.{customer_id}"


def rows_on_commit(conversation_id: int, customer_id: int, *, changed: bool = False) -> None:
    """Ping the customer's tabs, staff who read along, and the desk's lists after the commit.

    `changed`: rows that a tab has already may read otherwise now.
    """
    message = {"type": "chat.rows", "conversation": conversation_id, "changed": changed}
    once_on_commit(
        {
            conversation_group(conversation_id): message,
            customer_group(customer_id): message,
            DESK: {"type": "desk.changed"},
        }
    )


def once_on_commit(messages: dict[str, dict[str, Any]]) -> None:
    """Send them after the commit; what the same transaction sends already is not sent twice."""
    now = set(connection.savepoint_ids)
    for savepoints, call, *_ in connection.run_on_commit:
        if getattr(call, "messages", None) == messages and savepoints <= now:
            return

    def tell() -> None:
        send(messages)

    tell.messages = messages  # type: ignore[attr-defined]
    transaction.on_commit(tell, robust=True)


def browser_group(digest: str) -> str:
    return f"browser.{digest}"


async def became_known(digest: str) -> None:
    """Tell the other tabs of a browser that its first message made it somebody."""
    await _asend({browser_group(digest): {"type": "chat.known"}})


async def typing(conversation_id: int, customer_id: int, *, who: str, origin: str = "") -> None:
    """`who`: customer, bot or staff. The tab `origin` knows already."""
    message = {"type": "chat.typing", "conversation": conversation_id, "who": who, "origin": origin}
    await _asend(
        {customer_group(customer_id): message, conversation_group(conversation_id): message}
    )


async def delta(conversation_id: int, customer_id: int, text: str, *, origin: str = "") -> None:
    message = {
        "type": "chat.delta",
        "conversation": conversation_id,
        "text": text,
        "origin": origin,
    }
    await _asend(
        {customer_group(customer_id): message, conversation_group(conversation_id): message}
    )


def send(messages: dict[str, dict[str, Any]]) -> None:
    """In a thread that a running loop waits for, the loop sends it when it comes to it: what was
    stored is acknowledged first. Elsewhere it is sent at once."""
    if get_channel_layer() is None:
        return
    loop = _waiting_loop()
    if loop is None:
        async_to_sync(_asend)(messages)
    else:
        asyncio.run_coroutine_threadsafe(_asend(messages), loop)


def _waiting_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop that async_to_sync would use here, if it runs."""
    here = SyncToAsync.threadlocal
    loop: asyncio.AbstractEventLoop | None = getattr(here, "main_event_loop", None)
    forked = getattr(here, "main_event_loop_pid", None) != os.getpid()
    return None if loop is None or forked or not loop.is_running() else loop


async def _asend(messages: dict[str, dict[str, Any]]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        for group, message in messages.items():
            await layer.group_send(group, message)
    except Exception:
        # Whatever the layer's driver raises: what was stored stands, and the next ping or
        # reload shows it.
        logger.warning("Unable to tell open tabs of a change", exc_info=True)
