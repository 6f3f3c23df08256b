"""Newer words that nobody has read yet: the bot says nothing that they may have changed."""

import pytest
from asgiref.sync import sync_to_async

from chat import conversations
from chat.models import Turn
from chat.turns import in_db_thread
from escalations.models import Escalation
from memory import services
from memory.models import Conflict
from tests.chat.conftest import told
from tests.chat.test_offline import hotel, remembered  # noqa: F401 - the topics
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {
    "all": "What do you know about me?",
    "one's own": "which kind of room do I like, according to you?",
    "past skipped": "My room?",
    "a note's slot": "can I come in for a weekend next month?",
    "a wish": "please book me my usual room",
}


@pytest.fixture(autouse=True)
def does_not_wait(settings):
    settings.MEMORY_WAIT_MS = 0


@pytest.fixture
async def quiet_room(ada, hotel):  # noqa: F811
    memory = await sync_to_async(remembered)(
        ada, hotel, "A quiet room to the yard.", "a quiet room"
    )
    await sync_to_async(services.save_note)(
        by="staff:1",
        now=NOW,
        title="Booking",
        topic=hotel,
        examples=[ASKED["a note's slot"]],
        text="You like {room}.",
        hands_over=False,
    )
    return memory


def left_unread(customer):
    """Another chat is over, and the worker is down."""
    chat = conversations.start(customer.pk, now=NOW, verified=True)
    text = "I like a room on the top floor now, with a view"
    conversations.record_customer_message(chat.pk, client_id="x", text=text, now=NOW)
    conversations.close(chat.pk, reason="ended", now=NOW)
    assert customer.episodes.filter(processed_at=None).exists()


async def replied(chat, text):
    await told(chat.pk, text)
    rows = await sync_to_async(
        lambda: [m.text for m in chat.messages.exclude(sender="customer").order_by("seq")]
    )()
    turn = await in_db_thread(Turn.objects.order_by("-pk").first)()
    return " ".join(rows), turn


@pytest.mark.parametrize("way", ASKED)
async def test_a_changed_wish_is_never_said_before_it_is_read(ada, quiet_room, way):
    await sync_to_async(left_unread)(ada)
    chat = await sync_to_async(conversations.start)(ada.pk, now=NOW, verified=True)

    said, turn = await replied(chat, ASKED[way])

    assert "quiet" not in said
    assert turn.trace["withheld"] == ["room"]


@pytest.mark.parametrize("way", ASKED)
async def test_a_disputed_wish_is_never_said(chat, ada, quiet_room, way):
    new = await sync_to_async(remembered)(ada, quiet_room.topic, "The attic.", "attic", "pending")
    await sync_to_async(Conflict.objects.create)(
        customer=ada, topic=quiet_room.topic, old=quiet_room, new=new, opened_at=NOW, due_at=NOW
    )

    said, _ = await replied(chat, ASKED[way])

    assert "quiet" not in said
    assert "attic" not in said.casefold()


async def test_staff_are_told_that_it_is_not_read_and_of_no_correction(ada, quiet_room):
    await sync_to_async(left_unread)(ada)
    chat = await sync_to_async(conversations.start)(ada.pk, now=NOW, verified=True)

    said, _ = await replied(chat, ASKED["one's own"])

    escalation = await sync_to_async(Escalation.objects.get)()
    assert escalation.get_reason_display() == "newer words on it are not read yet"
    assert escalation.detail == "Preferred room"
    assert "something newer" in said


async def test_she_is_told_that_the_list_leaves_something_out(ada, quiet_room):
    await sync_to_async(left_unread)(ada)
    chat = await sync_to_async(conversations.start)(ada.pk, now=NOW, verified=True)

    said, _ = await replied(chat, ASKED["all"])

    assert "not noted yet" in said
