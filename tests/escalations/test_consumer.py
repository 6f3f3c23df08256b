"""The desk's socket: pings without content, for staff alone."""

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, User

from escalations import broadcast, consumers
from escalations.consumers import DeskConsumer
from escalations.models import Presence

pytestmark = pytest.mark.django_db(transaction=True)


def socket(user):
    communicator = WebsocketCommunicator(DeskConsumer.as_asgi(), "/ws/desk/")
    communicator.scope["user"] = user
    return communicator


async def test_says_that_something_changed_and_nothing_else(sam):
    desk = socket(sam)
    await desk.connect()

    from channels.layers import get_channel_layer

    await get_channel_layer().group_send(broadcast.GROUP, broadcast.PING)

    assert await desk.receive_json_from() == {"type": "changed"}
    await desk.disconnect()


@pytest.mark.parametrize("who", ["stranger", "customer"])
async def test_turns_away_who_is_no_staff(who, db):
    user = AnonymousUser() if who == "stranger" else await User.objects.acreate(username="m")
    desk = socket(user)
    await desk.connect()
    closed = await desk.receive_output()
    assert (closed["type"], closed["code"]) == ("websocket.close", 4403)
    await desk.disconnect()


async def test_hears_nothing_of_a_stranger_while_the_door_shuts(escalation):
    """A frame may be on its way already when the connection is refused."""
    desk = DeskConsumer()
    desk.scope = {"user": AnonymousUser()}

    await desk.receive_json({"type": "look", "escalation": escalation.pk})

    assert desk.following is None


async def test_notes_where_its_owner_looks_and_forgets_it_when_she_leaves(escalation, sam, kim):
    mine, other = socket(sam), socket(kim)
    await mine.connect()
    await other.connect()

    await mine.send_json_to({"type": "look", "escalation": escalation.pk, "typing": True})
    assert await other.receive_json_from() == {"type": "changed"}
    seen = await Presence.objects.aget()
    assert (seen.staff_id, seen.typing_at is not None) == (sam.pk, True)

    await mine.disconnect()
    assert await other.receive_json_from() == {"type": "changed"}
    assert not await Presence.objects.aexists()
    await other.disconnect()


@pytest.mark.parametrize(
    "frame",
    [{}, [], "look", {"type": "look", "escalation": "1"}, {"type": "look", "escalation": 0}],
)
async def test_survives_frames_that_mean_nothing(sam, frame):
    desk = socket(sam)
    await desk.connect()
    await desk.send_json_to(frame)
    assert await desk.receive_nothing(timeout=0.1)
    await desk.disconnect()


@pytest.mark.parametrize("text", ["{", "nothing", "[" * 60_000])
async def test_survives_what_is_no_json(sam, text):
    desk = socket(sam)
    await desk.connect()
    await desk.send_to(text_data=text)
    assert await desk.receive_nothing(timeout=0.1)
    await desk.disconnect()


async def test_a_lost_ping_is_made_good_when_the_desk_next_looks(sam, monkeypatch):
    monkeypatch.setattr(consumers, "LOST_PING_SECONDS", 0)
    desk = socket(sam)
    await desk.connect()
    await desk.send_json_to({"type": "look"})
    assert await desk.receive_json_from() == {"type": "changed"}
    await desk.disconnect()
