"""One open tab. Frames in, frames out; what happens to a message is in turns.py."""

from __future__ import annotations

import asyncio
import json
import logging
from time import monotonic
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from chat import broadcast, conversations, door, feed, frames, identity, throttle, turns, wordings
from chat.events import Ack, Delta, Event, Failed, Typing
from chat.identity import Who
from chat.models import Conversation
from chat.turns import in_db_thread, looking

logger = logging.getLogger(__name__)

MAX_FRAME = 200_000  # bytes: ten thousand characters, each escaped, and room
CATCH_UP_SECONDS = 2.0  # how often rows are looked for while nobody tells of them
TYPING_SECONDS = 0.5  # what comes sooner tells nobody anything
TRY_LATER = 1013
LOST_PING_SECONDS = 20.0  # the same while somebody does: a layer that restarts loses pings


class ChatConsumer(AsyncWebsocketConsumer):
    who: Who | None = None
    conversation_id: int | None = None
    seq = 0
    signed = False  # the business said who this is, and not the browser's token
    state: dict[str, Any] = {}
    polling: asyncio.Task[None] | None = None
    typed_at = float("-inf")
    deaf = False  # nobody can tell this tab of rows
    gone = False

    async def connect(self) -> None:
        self.catching_up = asyncio.Lock()
        self.waits_to_catch_up = False
        self.groups_joined: set[str] = set()
        self.sent_again: dict[tuple[int | None, int], str] = {}  # rows that lost words
        client = self.scope.get("client") or [""]
        self.address = str(client[0])
        self.token = self.scope.get("cookies", {}).get(identity.COOKIE, "")
        self.greeted = False
        await self.accept()

    async def disconnect(self, code: int) -> None:
        self.gone = True
        if self.polling:
            self.polling.cancel()
        for group in list(self.groups_joined):
            await self._leave(group)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            if text_data is None or len(text_data) > MAX_FRAME:
                raise frames.BadFrame("bad_frame", "This is not a message that we understand.")
            frame = frames.parse(_decoded(text_data))
        except frames.BadFrame as exc:
            await self._give(frames.error(exc))
            return
        match frame:
            case frames.Hello():
                await self._hello(frame)
            case frames.Typing():
                await self._typing()
            case _:
                await self._act(frame)

    # --- what the customer does ------------------------------------------------------------------

    async def _hello(self, hello: frames.Hello) -> None:
        """Say who this is, and send what the tab has not got. A signed token may come at any time:
        the customer that it names has a conversation of his own."""
        try:
            who = await in_db_thread(_greeted)(hello.token, self.token, self.who, self.address)
        except throttle.Throttled:
            # The tab comes back by itself, later each time.
            await self.close(TRY_LATER)
            return
        except identity.NotAccepted as exc:
            logger.info("A signed identity was not accepted: %s", exc)
            words = await in_db_thread(wordings.say)("bad_token", 0, 0)
            await self._give({"type": "error", "code": "identity", "text": words})
            return
        if hello.token:
            self.signed = identity.is_signed(hello.token)
            self.token = self.token if self.signed else hello.token
        await self._become(who)
        if who is None and self.token:
            await self._join(broadcast.browser_group(identity.digest(self.token)))
        self.conversation_id, self.seq, self.greeted = hello.conversation, hello.after, True
        await self._catch_up(state_too=True)
        self.polling = self.polling or asyncio.create_task(self._poll())

    async def _become(self, who: Who | None) -> None:
        if who == self.who:
            return
        if self.who is not None:
            await self._leave(broadcast.customer_group(self.who.customer_id))
        self.who, self.conversation_id, self.seq = who, None, 0
        if who is not None:
            await self._join(broadcast.customer_group(who.customer_id))

    async def _act(self, act: door.Act) -> None:
        """One is taken in after the other, or two quick messages could be stored the wrong way
        round. What comes of it is not awaited: staff must be able to interrupt."""
        while self.who is not None or await self._make_known(act):
            token = "" if self.signed else self.token
            address, now = self.address, timezone.now()
            try:
                course = await door.enter(self.who, act, address=address, now=now, token=token)  # type: ignore[arg-type]
            except identity.Gone:
                await self._become(None)
                continue
            turns.start(course, notify=self._notify)
            return

    async def _make_known(self, act: door.Act) -> bool:
        """Make a visitor of a browser that nobody knows; False where too many came from there."""
        try:
            who, token = await in_db_thread(identity.new_visitor)(
                self.token, address=self.address, now=timezone.now()
            )
        except throttle.Throttled as exc:
            words = await in_db_thread(wordings.say)("throttled", 0, 0, seconds=str(exc.seconds))
            await self._notify(Failed(act.client_id, "throttled", words))
            return False
        if token != self.token:  # in a frame, without our cookie: the tab keeps it
            await self._give({**self.state, "type": "state", "token": token})
        self.token, self.signed = token, False
        await self._become(who)
        await broadcast.became_known(identity.digest(token))
        return True

    async def _typing(self) -> None:
        if monotonic() - self.typed_at < TYPING_SECONDS:
            return
        self.typed_at = monotonic()
        if self.who is not None and self.conversation_id is not None:
            await broadcast.typing(
                self.conversation_id,
                self.who.customer_id,
                who="customer",
                origin=self.channel_name,
            )

    # --- what the tab is told --------------------------------------------------------------------

    async def _notify(self, event: Event) -> None:
        match event:
            case Ack():
                ack = {"type": "ack", "client_id": event.client_id, "seq": event.seq}
                await self._give(ack | {"conversation": event.conversation_id})
            case Failed():
                error = {"type": "error", "code": event.code, "text": event.text}
                await self._give(error | {"client_id": event.client_id})
            case Typing():
                await self._give({"type": "typing", "who": "bot"})
                if self.who is not None and self.conversation_id is not None:
                    await broadcast.typing(
                        self.conversation_id,
                        self.who.customer_id,
                        who="bot",
                        origin=self.channel_name,
                    )
            case Delta():
                await self._give({"type": "delta", "text": event.text})
                if self.who is not None and self.conversation_id is not None:
                    await broadcast.delta(
                        self.conversation_id,
                        self.who.customer_id,
                        event.text,
                        origin=self.channel_name,
                    )
            case _:  # rows come from the database, also where no ping reaches this tab
                await self._catch_up()

    async def chat_known(self, message: dict[str, Any]) -> None:
        """Another tab of this browser said the first word."""
        if self.who is None:
            await self._become(await in_db_thread(_identify)("", self.token, None))
            await self._catch_up(state_too=True)

    async def chat_rows(self, message: dict[str, Any]) -> None:
        await self._catch_up(state_too=message.get("changed", False))

    async def chat_typing(self, message: dict[str, Any]) -> None:
        if message["origin"] != self.channel_name and message["who"] != "customer":
            await self._give({"type": "typing", "who": message["who"]})

    async def chat_delta(self, message: dict[str, Any]) -> None:
        if message["origin"] != self.channel_name:
            await self._give({"type": "delta", "text": message["text"]})

    async def _catch_up(self, *, state_too: bool = False) -> None:
        """Send the rows after the last one sent, in order, each once."""
        if self.gone or not self.greeted or (self.waits_to_catch_up and not state_too):
            return  # the look that waits already will see what this one would
        self.waits_to_catch_up = True
        async with self.catching_up:
            self.waits_to_catch_up = False
            customer = self.who.customer_id if self.who else None
            fresh = await in_db_thread(feed.since, executor=looking)(
                customer,
                conversation_id=self.conversation_id,
                after=self.seq,
                shown=None if state_too else self.state,
            )
            if customer != (self.who.customer_id if self.who else None):
                return  # read for who sat here before; whoever does now gets a look of his own
            if fresh.conversation is not None and fresh.conversation.pk != self.conversation_id:
                self.conversation_id, self.seq = fresh.conversation.pk, 0
            if fresh.conversation is None:  # whatever the tab said that it shows
                self.conversation_id, self.seq = None, 0
            if state_too or fresh.state != self.state:
                self.state = fresh.state
                await self._give(fresh.state)
            for row in fresh.rows:
                at = (self.conversation_id, row["seq"])
                if self.sent_again.get(at) == row["text"]:
                    continue
                await self._give({"type": "row", "row": row, "conversation": self.conversation_id})
                if "removed" in row["meta"]:
                    self.sent_again[at] = row["text"]
                self.seq = max(self.seq, row["seq"])
        if fresh.conversation is not None and fresh.rows:
            await in_db_thread(_seen, executor=looking)(fresh.conversation, self.seq)

    async def _give(self, frame: dict[str, Any]) -> None:
        if self.gone:
            return
        try:
            await self.send(text_data=json.dumps(frame))
        except Exception:
            # The tab went away between two frames; it resumes after the last row it has.
            self.gone = True

    # --- groups ----------------------------------------------------------------------------------

    async def _join(self, group: str) -> None:
        try:
            await self.channel_layer.group_add(group, self.channel_name)
            self.groups_joined.add(group)
        except Exception:
            logger.warning("Unable to listen for rows: looking for them instead", exc_info=True)
            self.deaf = True

    async def _leave(self, group: str) -> None:
        self.groups_joined.discard(group)
        try:
            await self.channel_layer.group_discard(group, self.channel_name)
        except Exception:
            logger.debug("Unable to leave a group", exc_info=True)

    async def _poll(self) -> None:
        while not self.gone:
            await asyncio.sleep(CATCH_UP_SECONDS if self.deaf else LOST_PING_SECONDS)
            try:
                await self._catch_up()
            except Exception:
                logger.warning("Unable to look for rows", exc_info=True)  # the next look may


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or nested a thousand deep
        raise frames.BadFrame("bad_frame", "This is not a message that we understand.") from None


def _greeted(token: str, cookie: str, was: Who | None, address: str) -> Who | None:
    throttle.check_hello(address=address, now=timezone.now())
    return _identify(token, cookie, was)


def _identify(token: str, cookie: str, was: Who | None) -> Who | None:
    """Return who that token names. Leaving one customer for another ends what the bot alone had."""
    now = timezone.now()
    was = was or identity.recognise(cookie, now=now)
    who = identity.of(token or cookie, now=now)
    if who is None:
        return was
    if was is not None and was.customer_id != who.customer_id:
        identity.part(was, now=now)
    return who


def _seen(conversation: Conversation, seq: int) -> None:
    conversations.mark_seen(conversation.pk, seq=seq)
