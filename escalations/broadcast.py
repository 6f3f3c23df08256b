"""Tell every open desk that something changed: a ping without content, after the commit."""

from __future__ import annotations

from chat import broadcast

GROUP = broadcast.DESK
PING = {"type": "desk.changed"}


def changed_on_commit() -> None:
    """A ping that is lost costs nothing: the next one, or a reconnect, re-reads everything."""
    broadcast.once_on_commit({GROUP: PING})


def changed() -> None:
    broadcast.send({GROUP: PING})
