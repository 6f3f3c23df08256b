"""Tell every open desk that something changed: a ping without content, after the commit."""

from __future__ import annotations

import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

logger = logging.getLogger(__name__)

GROUP = "desk"
PING = {"type": "desk.changed"}


def changed_on_commit() -> None:
    """A ping that is lost costs nothing: the next one, or a reconnect, re-reads everything."""
    transaction.on_commit(changed, robust=True)


def changed() -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(GROUP, PING)
    except Exception as exc:
        logger.warning("The desk was not pinged: %s", exc)
