import pytest
from django.utils import timezone

from chat import conversations
from chat.models import Message
from memory import services
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_waiting(settings):
    settings.CHAT_BURST_MS = 0


@pytest.fixture
def key(sam):
    _, raw = services.issue_key("shop", user_id=sam.pk, by="staff:1", now=timezone.now())
    return {"Authorization": f"Bearer {raw}"}


def test_start_say_read_close(client, key):
    made = client.post(
        "/api/conversations", {"external_id": "ada-1"}, "application/json", headers=key
    )
    path = f"/api/conversations/{made.json()['id']}"
    text = "  hello 👩‍👩‍👧‍👦\n"
    said = client.post(
        f"{path}/messages", {"client_id": "c", "text": text}, "application/json", headers=key
    )
    again = client.post(
        f"{path}/messages", {"client_id": "c", "text": text}, "application/json", headers=key
    )
    read = client.get(f"{path}/messages", headers=key)
    closed = client.post(f"{path}/close", {}, "application/json", headers=key)

    assert made.status_code == 201
    assert said.json()[0]["text"] == text
    assert again.json() == []
    assert read.json() == said.json()
    assert closed.json()["closed_at"]
    assert Message.objects.filter(sender="customer").count() == 1


def test_lists_newest_first_and_by_handler(client, key, ada, ben, sam):
    first = conversations.start(ada.pk, now=NOW, verified=True)
    second = conversations.start(ben.pk, now=NOW, verified=True)
    conversations.take_over(second.pk, staff=sam, now=NOW)

    every = client.get("/api/conversations", headers=key).json()
    staffs = client.get("/api/conversations?handler=staff", headers=key).json()

    assert [c["id"] for c in every] == [second.pk, first.pk]
    assert [c["id"] for c in staffs] == [second.pk]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/api/conversations/999999", None, 404, "not_found"),
        ("/api/conversations/1/messages", {"client_id": "c"}, 422, "invalid"),
        ("/api/conversations/{id}/messages", {"client_id": "c", "text": " "}, 422, "invalid"),
        (
            "/api/conversations/{id}/messages",
            {"client_id": "c", "text": "x" * 10_001},
            413,
            "too_long",
        ),
    ],
)
def test_refuses_in_one_shape(client, key, chat, path, body, status, code):
    path = path.format(id=chat.pk)
    if body is None:
        response = client.get(path, headers=key)
    else:
        response = client.post(path, body, "application/json", headers=key)

    assert response.status_code == status
    assert response.json()["error"]["code"] == code


def test_without_a_key_nothing_opens(client, chat):
    assert client.get(f"/api/conversations/{chat.pk}").status_code == 401
    body = {"client_id": "c", "text": "hello"}
    path = f"/api/conversations/{chat.pk}/messages"
    assert client.post(path, body, "application/json").status_code == 401


def test_an_agents_key_opens_no_conversation(client, sam, chat):
    _, raw = services.issue_key(
        "agent", user_id=sam.pk, namespaces=[["shared"]], by="staff:1", now=timezone.now()
    )

    response = client.get(
        f"/api/conversations/{chat.pk}", headers={"Authorization": f"Bearer {raw}"}
    )

    assert response.status_code == 403
