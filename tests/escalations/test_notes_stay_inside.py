"""Staff's notes reach no customer: every frame, page, serializer, e-mail and export is searched."""

import json

import pytest
from channels.db import database_sync_to_async as in_db_thread
from django.core import mail
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from chat import conversations, frames, identity
from escalations import alerts, claim, delivery, reply
from escalations.models import Delivery, StaffNote
from memory import services
from memory.models import Answer, Episode, Memory
from tests.factories import NOW

SECRET = "ZANZIBAR: she is anxious, and her brother pays."


@pytest.fixture
def noted(escalation, sam):
    claim.claim(escalation.pk, staff=sam, now=NOW)
    for place in (
        {"conversation": escalation.conversation},
        {"customer": escalation.conversation.customer},
    ):
        StaffNote.objects.create(author=sam, text=SECRET, created_at=NOW, **place)
    return escalation


def test_no_frame_holds_a_note(noted):
    rows = noted.conversation.messages.order_by("seq")
    for names in (True, False):
        for own in (True, False):
            assert "ZANZIBAR" not in json.dumps([frames.row(m, names=names, own=own) for m in rows])


async def test_no_ping_holds_anything(noted_async_layer):
    for message in noted_async_layer:
        assert set(message) <= {"type", "conversation", "who", "origin", "changed"}
        assert message.get("changed", False) in {True, False}  # whether, and never what


@pytest.fixture
def noted_async_layer(noted, sam, monkeypatch, django_capture_on_commit_callbacks):
    """Every message that the layers send while the desk works."""
    from channels.layers import get_channel_layer

    sent = []
    layer = get_channel_layer()

    async def record(group, message):
        sent.append(message)

    monkeypatch.setattr(layer, "group_send", record)
    with django_capture_on_commit_callbacks(execute=True):
        reply.send(noted.pk, staff=sam, text="24 h", seen_seq=None, now=NOW)
        reply.resolve(noted.pk, staff=sam, now=NOW)
    assert sent
    return sent


def test_no_transcript_that_memory_reads_holds_a_note(noted, sam):
    reply.send(noted.pk, staff=sam, text="24 h", seen_seq=None, now=NOW)
    reply.resolve(noted.pk, staff=sam, now=NOW)
    conversations.close(noted.conversation_id, reason="ended", now=NOW)

    assert Episode.objects.exists()
    for model in (Episode, Memory, Answer):
        for row in model.objects.values():
            assert "ZANZIBAR" not in json.dumps(row, cls=DjangoJSONEncoder, default=str)


def test_no_export_holds_a_note(noted, ada):
    assert "ZANZIBAR" not in json.dumps(services.export(ada.pk, now=NOW), default=str)


def test_no_mail_holds_a_note_or_a_word_of_the_chat(noted, sam, ada, kim):
    type(ada).objects.filter(pk=ada.pk).update(email="ada@example.org")
    claim.release(noted.pk, staff=sam, now=NOW)
    alerts.alert(noted.pk, now=NOW)
    claim.claim(noted.pk, staff=sam, now=NOW)
    later = NOW.replace(hour=20)
    reply.send(noted.pk, staff=sam, text="24 h", seen_seq=None, now=later)

    delivery.send_due(later + delivery.AWAY_AFTER)

    assert len(mail.outbox) == Delivery.objects.count() >= 2
    for sent in mail.outbox:
        assert "ZANZIBAR" not in sent.subject + sent.body
        assert "rinsing" not in sent.subject + sent.body


@pytest.mark.django_db(transaction=True)
async def test_no_page_of_the_customer_holds_a_note(noted, ada, async_client):
    token = await in_db_thread(identity.issue)(ada.pk, address="", now=timezone.now(), days=9999)
    async_client.cookies[identity.COOKIE] = token

    page = await async_client.get("/chat/")

    assert "rinsing" in page.content.decode()
    assert "ZANZIBAR" not in page.content.decode()


@pytest.mark.django_db(transaction=True)
async def test_no_frame_of_the_socket_holds_a_note(noted, ada):
    from channels.testing import WebsocketCommunicator

    from config.asgi import application

    token = await in_db_thread(identity.issue)(ada.pk, address="", now=timezone.now(), days=9999)
    socket = WebsocketCommunicator(
        application, "/ws/chat/", headers=[(b"origin", b"http://testserver")]
    )
    assert (await socket.connect())[0]
    await socket.send_json_to({"type": "hello", "token": token, "after": 0})
    heard = []
    while not any(frame.get("type") == "row" for frame in heard):
        heard.append(await socket.receive_json_from(timeout=20))
    while not await socket.receive_nothing(timeout=0.3):
        heard.append(await socket.receive_json_from())
    await socket.disconnect()

    assert "rinsing" in json.dumps(heard)
    assert "ZANZIBAR" not in json.dumps(heard)


def test_the_desks_api_holds_no_note(noted, client, sam):
    _key, raw = services.issue_key("test", user_id=sam.pk, by="staff:1", now=NOW)
    for path in ("/api/escalations?list=everyone", f"/api/escalations/{noted.pk}"):
        response = client.get(path, headers={"Authorization": f"Bearer {raw}"})
        assert response.status_code == 200
        assert "ZANZIBAR" not in response.content.decode()
