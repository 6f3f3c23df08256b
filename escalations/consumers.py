"""One open desk: it hears that something changed, and says where its owner looks."""

from __future__ import annotations

import json
from time import monotonic
from typing import Any, cast

from channels.db import database_sync_to_async as in_db_thread
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth.models import User
from django.utils import timezone

from chat import broadcast as chat_broadcast

from . import broadcast, drafts
from .models import Escalation

FORBIDDEN = 4403
LOST_PING_SECONDS = 60  # after which a desk that heard nothing is told to look by itself


class DeskConsumer(AsyncJsonWebsocketConsumer):
    """Nothing private goes through here: rendering and permission stay in the HTTP views."""

    following: Escalation | None = None
    told_at = 0.0

    @property
    def user(self) -> User:
        """Whoever the session names; `connect` turns away all but staff."""
        return cast(User, self.scope["user"])

    @property
    def _works_here(self) -> bool:
        return self.user.is_active and self.user.is_staff

    async def connect(self) -> None:
        await self.accept()
        if not self._works_here:
            await self.close(FORBIDDEN)
            return
        self.told_at = monotonic()
        await self.channel_layer.group_add(broadcast.GROUP, self.channel_name)

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(broadcast.GROUP, self.channel_name)
        await self._follow(None)
        if self.user.pk and await in_db_thread(drafts.left)(staff=self.user):
            await self._ping()

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        """What is no JSON, or nested a thousand deep, is passed over: a desk stays connected."""
        try:
            content = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        await self.receive_json(content)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """`{"type": "look", "escalation": 5, "typing": false}`, every 15 s and when it changes."""
        # A frame may have been on its way when the door was shut.
        if not self._works_here:
            return
        if not isinstance(content, dict) or content.get("type") != "look":
            return
        if monotonic() - self.told_at > LOST_PING_SECONDS:  # a layer that restarts loses pings
            await self.desk_changed({})
        pk, typing = content.get("escalation"), content.get("typing") is True
        if not isinstance(pk, int) or isinstance(pk, bool):
            await self._follow(None)
            return
        escalation = await self._escalation(pk)
        await self._follow(escalation)
        if escalation is None:
            return
        changed = await in_db_thread(drafts.seen)(
            escalation, staff=self.user, typing=typing, now=timezone.now()
        )
        if changed:
            await self._ping()
        if typing and escalation.claimed_by_id == self.user.pk:
            conversation = escalation.conversation
            await chat_broadcast.typing(conversation.pk, conversation.customer_id, who="staff")

    async def desk_changed(self, message: dict[str, Any]) -> None:
        self.told_at = monotonic()
        await self.send_json({"type": "changed"})

    async def chat_rows(self, message: dict[str, Any]) -> None:
        """The desk's own ping comes with it."""

    async def chat_delta(self, message: dict[str, Any]) -> None:
        """A draft of the bot is shown to staff when it is a row."""

    async def chat_typing(self, message: dict[str, Any]) -> None:
        if message["who"] != "staff":
            await self.send_json({"type": "typing", "who": message["who"]})

    async def _follow(self, escalation: Escalation | None) -> None:
        """Hear of typing in the conversation that is looked at, and in no other."""
        was, self.following = self.following, escalation
        if was is not None and (escalation is None or escalation.pk != was.pk):
            group = chat_broadcast.conversation_group(was.conversation_id)
            await self.channel_layer.group_discard(group, self.channel_name)
        if escalation is not None and (was is None or escalation.pk != was.pk):
            group = chat_broadcast.conversation_group(escalation.conversation_id)
            await self.channel_layer.group_add(group, self.channel_name)

    async def _escalation(self, pk: int) -> Escalation | None:
        return await Escalation.objects.select_related("conversation").filter(pk=pk).afirst()

    async def _ping(self) -> None:
        await self.channel_layer.group_send(broadcast.GROUP, broadcast.PING)
