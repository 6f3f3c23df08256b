"""What cannot be stored is refused in words everywhere, and leaves no row that cannot be read."""

import pytest
from django.utils import timezone

from memory import services
from memory.models import Answer, Episode
from tests.factories import make_conversation, make_customer, make_staff, make_topic

pytestmark = pytest.mark.django_db

FAR = "9999-12-31T23:59:59-12:00"  # a year that PostgreSQL knows and Python does not
HUGE = 10**30


@pytest.fixture
def sam():
    return make_staff("sam")


@pytest.fixture
def keys(sam):
    made = {}
    for name, namespaces in (("desk", []), ("memory", [["customers"], ["shared"]])):
        _, raw = services.issue_key(
            name, user_id=sam.pk, namespaces=namespaces, by="staff:1", now=timezone.now()
        )
        made[name] = {"Authorization": f"Bearer {raw}"}
    return made


@pytest.mark.parametrize(
    ("key", "path", "body"),
    [
        ("desk", "/conversations", {"external_id": "a\x00"}),
        ("desk", "/conversations", {"external_id": "a", "name": "\x00"}),
        ("desk", "/answers", {"title": "a\x00", "parts": ["b"]}),
        ("desk", "/answers", {"title": "a", "parts": ["b\x00"]}),
        ("desk", "/answers", {"title": " ", "parts": [" "]}),
        ("desk", "/answers", {"title": "a", "parts": ["b"], "valid_until": FAR}),
        ("desk", "/answers?search=%00", None),
        ("desk", f"/answers?offset={HUGE}", None),
        ("memory", "/memory/customers", {"external_id": "a\x00"}),
        ("memory", "/memory/customers", {"external_id": "a", "timezone": "../../etc/passwd"}),
        ("memory", "/memory/{ada}/remember", {"text": "a\x00"}),
        ("memory", "/memory/{ada}/history?topic=%00", None),
        ("memory", "/memory/{ada}/forget", {"topic": "a\x00"}),
        ("memory", "/memory/{ada}/observe", {"ref": "a", "said": "a\x00"}),
        ("memory", "/memory/{ada}/observe", {"ref": "a", "said": "a", "at": FAR}),
        ("memory", "/memory/{ada}/observe", {"ref": "a", "said": "a", "timezone": "No/Where"}),
    ],
)
def test_by_the_api_in_its_one_shape(client, keys, key, path, body):
    path = "/api" + path.format(ada=make_customer("Ada").pk)
    if body and "said" in body:
        said = {"sender": "customer", "text": body.pop("said")}
        body["messages"] = [said | ({"at": body.pop("at")} if "at" in body else {})]
    if body is None:
        response = client.get(path, headers=keys[key])
    else:
        response = client.post(path, body, "application/json", headers=keys[key])

    assert response.status_code == 422
    assert response.json()["error"]["code"] == "invalid"
    assert not Answer.objects.exists()
    assert not Episode.objects.exists()


def test_a_failure_of_ours_has_the_apis_shape_too(client, keys, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(services, "key_for", broken)

    response = client.get("/api/answers", headers=keys["desk"])

    assert response.status_code == 500
    assert response.json()["error"]["code"] == "failed"


def test_at_the_desk_with_a_page_that_says_so(client, sam):
    ada = make_customer("Ada")
    make_conversation(ada)
    topic = make_topic()
    fact = services.remember(
        ada.pk,
        topic=topic.key,
        value="Delta",
        text="has Delta",
        by="staff:1",
        staff_id=sam.pk,
        now=timezone.now(),
    )
    client.force_login(sam)

    response = client.post(f"/inbox/fact/{fact.pk}/correct/", {"text": "a\x00b"})

    assert response.status_code == 400
    assert "cannot be stored" in response.content.decode()
    fact.refresh_from_db()
    assert fact.status == "active"
