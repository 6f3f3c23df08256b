"""What a program sees of the API: one shape for every refusal, and what each call does."""

import pytest
from django.utils import timezone

from memory import services
from memory.models import Memory
from tests.factories import make_customer, make_staff

pytestmark = pytest.mark.django_db


@pytest.fixture
def key():
    _, raw = services.issue_key(
        "test", user_id=make_staff("sam").pk, namespaces=[["customers"]], by="staff:1",
        now=timezone.now(),
    )  # fmt: skip
    return {"Authorization": f"Bearer {raw}"}


@pytest.fixture
def ada():
    return make_customer("Ada")


@pytest.fixture
def post(client, key):
    def posted(path, body):
        return client.post(f"/api{path}", body, "application/json", headers=key)

    return posted


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/api/nosuch", 404, "not_found"),
        ("get", "/api/", 404, "not_found"),
        ("get", "/api/answers/nine", 404, "not_found"),
        ("delete", "/api/conversations", 405, "not_allowed"),
        ("post", "/api/nosuch/", 404, "not_found"),
    ],
)
def test_every_refusal_has_the_one_shape(client, method, path, status, code):
    answer = getattr(client, method)(path)

    assert answer.status_code == status
    assert answer["Content-Type"].startswith("application/json")
    assert answer.json()["error"].keys() == {"code", "message", "fields"}
    assert answer.json()["error"]["code"] == code


def test_a_page_that_is_not_there_is_still_a_page(client):
    assert client.get("/nosuch")["Content-Type"].startswith("text/html")


def test_a_wrong_field_is_named_by_where_it_is(post, ada):
    body = {"ref": "a", "messages": [{"sender": "robot", "text": "hi"}]}
    fields = post(f"/memory/{ada.pk}/observe", body).json()["error"]["fields"]
    assert fields.keys() == {"messages.0.sender"}


def test_an_unknown_topic_is_named(post, ada):
    answer = post(f"/memory/{ada.pk}/remember", {"text": "Likes tea", "topic": "drinks"})

    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == {"topic": "There is no topic drinks."}


def test_what_was_quoted_is_kept_with_the_proposal(post, ada):
    body = {"text": "Likes tea", "quote": "tea for me, always"}
    made = post(f"/memory/{ada.pk}/remember", body).json()["memory"]

    assert made["quote"] == "tea for me, always"
    assert Memory.objects.get().quote == "tea for me, always"


def test_each_call_says_what_it_does_and_which_key_it_takes(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    calls = [call for path in paths.values() for call in path.values()]

    assert len(calls) > 25
    for call in calls:
        assert len(call["summary"].split()) >= 3, call
        assert " key" in call["description"], call
