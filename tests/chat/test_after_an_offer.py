"""What she says of herself counts whatever the bot has just shown."""

import pytest
from asgiref.sync import sync_to_async

from chat import wordings
from chat.models import Wording
from config.demo.answers import ANSWERS
from config.demo.topics import TOPICS
from memory import services
from tests.chat.conftest import told
from tests.factories import NOW, make_topic

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True, params=wordings.DEFAULTS["offer"])
def practice(db, settings, request):
    Wording.objects.create(key="offer", variants=[request.param])
    settings.CHAT_BURST_MS = 0
    for topic in TOPICS:
        make_topic(**topic)
    for one in ANSWERS:
        services.add_answer(
            title=one.title, parts=list(one.parts), by="staff:1", role="dentist", now=NOW
        )


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        (["Which brush does the queen of Norway use?"], "offer"),
        (["What are your opening hours?"], "answer"),
        (["hello", "so here I am again"], "message"),
    ],
)
async def test_an_allergy_is_noted(chat, before, kind):
    for n, text in enumerate(before):
        await told(chat.pk, text, client_id=f"b{n}")
    await chat.arefresh_from_db()
    last = await sync_to_async(chat.messages.order_by("-seq").first)()
    assert (last.sender, last.kind) == ("bot", kind)

    await told(chat.pk, "I'm allergic to ibuprofen.", client_id="a")

    reply = await sync_to_async(chat.messages.order_by("-seq").first)()
    assert "ibuprofen" in reply.text
    await chat.arefresh_from_db()
    assert [c["topic"] for c in chat.working_memory] == ["allergies"]
