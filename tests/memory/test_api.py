"""Memory's API: what agents may do, and what a key does not reach."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from escalations.models import MemoryView
from memory import services
from memory.models import Answer, ApiKey, Episode, Lesson, Memory, MemoryEvent, StoreItem
from tests.factories import make_customer, make_staff, make_topic

pytestmark = pytest.mark.django_db


@pytest.fixture
def sam():
    return make_staff("sam")


@pytest.fixture
def ada():
    return make_customer("Ada")


@pytest.fixture
def ben():
    return make_customer("Ben")


@pytest.fixture
def topic():
    return make_topic("insurance_plan", examples=["I'm with Delta Dental"])


class Api:
    def __init__(self, client, raw=None):
        self.client, self.raw = client, raw

    def __call__(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.raw}"} if self.raw else {}
        given = {"data": json.dumps(body), "content_type": "application/json"} if body else {}
        return getattr(self.client, method)(f"/api{path}", headers=headers, **given)


@pytest.fixture
def with_key(client, sam):
    def make(*namespaces):
        _, raw = services.issue_key(
            "test", user_id=sam.pk, namespaces=namespaces, by="staff:1", now=timezone.now()
        )
        return Api(client, raw)

    return make


def remembered(customer, topic, value="Delta Dental"):
    return services.remember(
        customer.pk,
        topic=topic.key,
        value=value,
        text=f"Is with {value}",
        by="staff:1",
        staff_id=None,
        now=timezone.now(),
    )


def answered(title, *parts):
    return services.add_answer(
        title=title,
        parts=list(parts),
        by="staff:1",
        author_name="Kim",
        role="hygienist",
        now=timezone.now(),
        source_ref="test",
    )


class TestKeys:
    def test_without_a_key_nothing_is_answered(self, client):
        answer = Api(client)("get", "/answers")

        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "unauthenticated"
        assert answer["WWW-Authenticate"] == "Bearer"

    def test_a_key_is_kept_as_its_hash_alone(self, with_key):
        raw = with_key().raw
        key = ApiKey.objects.get()

        assert raw not in json.dumps([key.digest, key.prefix, key.name])
        assert services.key_for(raw, now=timezone.now()) == key

    def test_a_revoked_key_opens_nothing(self, with_key):
        api = with_key()
        services.revoke_key(ApiKey.objects.get().pk, by="staff:1", now=timezone.now())

        assert api("get", "/answers").status_code == 401
        kinds = MemoryEvent.objects.values_list("kind", flat=True)
        assert {"key.issued", "key.revoked"} <= set(kinds)

    def test_a_key_ends_with_its_owners_account(self, with_key, sam):
        api = with_key()
        sam.is_active = False
        sam.save()

        assert api("get", "/answers").status_code == 401

    def test_a_visitors_sensitive_facts_are_not_told(self, with_key):
        visitor = make_customer("", kind="visitor")
        remembered(visitor, make_topic("allergies", sensitive=True, cardinality="many"), "nickel")
        api, now = with_key(["customers"]), timezone.now()

        known = api("get", f"/memory/{visitor.pk}").json()
        then = api("get", f"/memory/{visitor.pk}/as_of?when={now:%Y-%m-%dT%H:%M:%S.%fZ}").json()

        assert known["facts"] == then["facts"] == []

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("get", "", None),
            ("get", "/as_of?when=2099-01-01T00:00:00Z", None),
            ("get", "/history", None),
            ("post", "/recall", {"message": "am I allergic to anything?"}),
        ],
    )
    def test_who_was_handed_what_is_sensitive_stands_in_the_record_of_looks(
        self, with_key, topic, sam, method, path, body
    ):
        customer = make_customer("Cleo", kind="identified")
        allergies = make_topic("allergies", sensitive=True, examples=["I'm allergic to latex"])
        remembered(customer, topic)
        remembered(customer, allergies, "latex")

        answer = with_key(["customers"])(method, f"/memory/{customer.pk}{path}", body)

        assert "latex" in answer.content.decode()
        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (sam, customer, ["allergies"])

    def test_notes_when_it_was_used(self, with_key):
        with_key()("get", "/answers")

        used = ApiKey.objects.get().last_used_at
        assert used
        assert timezone.now() - used < timedelta(minutes=1)


class TestScope:
    OPERATIONS = (
        ("get", "", None),
        ("get", "/as_of?when=2026-01-01T00:00:00Z", None),
        ("get", "/history", None),
        ("post", "/recall", {"message": "which plan do I have?"}),
        ("post", "/observe", {"ref": "t1", "messages": [{"sender": "customer", "text": "Hi"}]}),
        ("post", "/remember", {"text": "Likes mornings"}),
        ("post", "/forget", {"topic": "insurance_plan"}),
    )

    @pytest.mark.parametrize(("method", "path", "body"), OPERATIONS)
    def test_a_key_for_ada_does_not_reach_ben(self, with_key, ada, ben, topic, method, path, body):
        remembered(ben, topic, "Cigna")
        before = Memory.objects.count(), MemoryEvent.objects.count()
        api = with_key(["customers", str(ada.pk)])

        answer = api(method, f"/memory/{ben.pk}{path}", body)

        assert answer.status_code == 403
        assert "Cigna" not in answer.content.decode()
        assert (Memory.objects.count(), MemoryEvent.objects.count() - 1) == before
        assert answer.json() == self.nobody(api, method, path, body, ben.pk)

    def nobody(self, api, method, path, body, real):
        """The same words for a number that does not exist."""
        said = api(method, f"/memory/999999{path}", body).json()
        return json.loads(json.dumps(said).replace("999999", str(real)))

    def test_segments_are_compared_whole(self, with_key, ada):
        other = make_customer("Longer", pk=int(f"{ada.pk}7"))
        api = with_key(["customers", str(ada.pk)])

        assert api("get", f"/memory/{ada.pk}").status_code == 200
        assert api("get", f"/memory/{other.pk}").status_code == 403

    def test_a_key_for_all_customers_reaches_both(self, with_key, ada, ben):
        api = with_key(["customers"])

        assert api("get", f"/memory/{ada.pk}").status_code == 200
        assert api("get", f"/memory/{ben.pk}").status_code == 200

    def test_a_key_of_the_desk_reaches_no_customers_memory(self, with_key, ada):
        assert with_key()("get", f"/memory/{ada.pk}").status_code == 403

    def test_an_agents_key_does_not_open_the_desk(self, with_key):
        api = with_key(["agents", "billing"])

        assert api("post", "/answers", {"title": "A?", "parts": ["B"]}).status_code == 403
        assert api("get", "/answers").status_code == 403

    def test_another_keys_namespace_is_closed(self, with_key):
        body = {
            "namespace": ["agents", "shipping"],
            "about": "tool:order_status",
            "text": "A token is needed",
            "evidence": {"status": 401},
        }

        assert with_key(["agents", "billing"])("post", "/lessons", body).status_code == 403
        assert not Lesson.objects.exists()


class TestMemory:
    @pytest.fixture
    def api(self, with_key):
        return with_key(["customers"], ["shared"])

    def test_recalls_what_is_known(self, api, ada, ben, topic):
        remembered(ada, topic)
        remembered(ben, topic, "Cigna")

        found = api("post", f"/memory/{ada.pk}/recall", {"message": "Which plan do I have?"})

        assert "Delta Dental" in found.json()["context"]
        assert "Cigna" not in found.content.decode()

    def test_observes_a_transcript_once(self, api, ada, django_capture_on_commit_callbacks):
        body = {"ref": "mail:7", "messages": [{"sender": "customer", "text": "I am with Aetna"}]}
        first = api("post", f"/memory/{ada.pk}/observe", body)
        again = api("post", f"/memory/{ada.pk}/observe", body)

        assert first.status_code == again.status_code == 202
        assert first.json()["episode_id"] == again.json()["episode_id"]
        assert Episode.objects.get().transcript["messages"][0]["text"] == "I am with Aetna"

    def test_remember_only_proposes(self, api, ada, topic):
        body = {"text": "Is with Aetna", "value": "Aetna", "topic": topic.key}
        made = api("post", f"/memory/{ada.pk}/remember", body)

        assert made.status_code == 202
        assert made.json()["memory"]["status"] == "pending"
        assert api("get", f"/memory/{ada.pk}").json()["facts"] == []

    def test_forgets_a_topic(self, api, ada, topic):
        remembered(ada, topic)

        gone = api("post", f"/memory/{ada.pk}/forget", {"topic": topic.key})

        assert gone.json()["topics"] == [topic.key]
        assert "Delta" not in api("get", f"/memory/{ada.pk}/history").content.decode()

    def test_asks_what_to_forget(self, api, ada):
        answer = api("post", f"/memory/{ada.pk}/forget", {"request": ""})

        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "bad_request"

    def test_tells_what_was_believed_at_a_time(self, api, ada, topic):
        remembered(ada, topic)
        now = timezone.now()

        today = api("get", f"/memory/{ada.pk}/as_of?when={now:%Y-%m-%dT%H:%M:%S.%fZ}")
        before = api("get", f"/memory/{ada.pk}/as_of?when=2020-01-01T00:00:00Z")

        assert [f["value"] for f in today.json()["facts"]] == ["Delta Dental"]
        assert before.json()["facts"] == []

    def test_a_time_needs_its_offset(self, api, ada):
        answer = api("get", f"/memory/{ada.pk}/as_of?when=2026-01-01T00:00:00")

        assert answer.status_code == 422

    def test_tells_the_history(self, api, ada, topic):
        remembered(ada, topic)
        remembered(ada, topic, "Cigna")

        told = api("get", f"/memory/{ada.pk}/history").json()

        assert [m["status"] for m in told["memories"]] == ["superseded", "active"]
        assert {"memory.created", "memory.superseded"} <= {e["kind"] for e in told["events"]}

    def test_finds_or_makes_a_customer(self, api):
        made = api("post", "/memory/customers", {"external_id": "c-1", "name": "Cleo"}).json()

        assert api("post", "/memory/customers", {"external_id": "c-1"}).json() == made

    def test_answers_a_question_from_what_is_stored(self, api):
        answered("Where can I park?", "Behind the house.")

        found = api("post", "/memory/answer_for", {"question": "Where can I park?"}).json()

        assert found["way"] == "deliver"
        assert found["candidates"][0]["parts"] == ["Behind the house."]

    def test_an_unknown_customer_is_not_found(self, api):
        answer = api("get", "/memory/999999")

        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "not_found"


class TestAnswers:
    def test_words_come_back_byte_for_byte(self, with_key):
        words = "  Two spaces, a tab\t, ümläut, emoji 🙂\n\nand a trailing line\n"
        api = with_key()
        made = api("post", "/answers", {"title": "Exactly?", "parts": [words, "second"]})

        assert made.status_code == 201
        for path in ("/answers", "/answers/export"):
            assert api("get", path).json()["answers"][0]["parts"] == [words, "second"]
        assert Answer.objects.get().parts == [words, "second"]

    def test_lists_in_pages(self, with_key):
        for n in range(3):
            answered(f"Question number {n}?", f"Answer {n}.")
        api = with_key()

        page = api("get", "/answers?limit=2&offset=1").json()

        assert page["count"] == 3
        assert len(page["answers"]) == 2
        assert api("get", "/answers?search=number 2").json()["count"] == 1

    def test_takes_one_out_of_use(self, with_key):
        made = answered("Where can I park?", "Behind the house.")

        gone = with_key()("post", f"/answers/{made.pk}/retire", {"reason": "moved"})

        assert gone.json()["status"] != "active"

    def test_says_which_field_is_wrong(self, with_key):
        answer = with_key()("post", "/answers", {"title": "Q?"})

        assert answer.status_code == 422
        assert "parts" in " ".join(answer.json()["error"]["fields"])


class TestLessons:
    BODY = {
        "namespace": ["agents", "billing"],
        "about": "tool:order_status",
        "text": "Send the token with every call.",
        "evidence": {"status": 401},
    }

    def test_keeps_a_lesson_and_promotes_it(self, with_key):
        api = with_key(["agents", "billing"], ["shared"])
        lesson = api("post", "/lessons", self.BODY).json()

        shared = api("post", f"/lessons/{lesson['id']}/promote").json()

        assert shared["namespace"] == ["shared"]
        found = api("get", "/lessons?about=tool:order_status&namespace=shared").json()
        assert [x["text"] for x in found["lessons"]] == [self.BODY["text"]]

    def test_a_lesson_is_never_a_customers(self, with_key):
        api = with_key(["customers"])
        refused = api("post", "/lessons", self.BODY | {"namespace": ["customers", "1"]})
        assert refused.status_code == 422
        assert not Lesson.objects.exists()

    def test_nothing_is_written_to_shared_directly(self, with_key):
        api = with_key(["shared"])

        assert api("post", "/lessons", self.BODY | {"namespace": ["shared"]}).status_code == 403

    def test_tells_an_agent_what_it_may_read(self, with_key, ada, topic):
        remembered(ada, topic)
        body = {"message": "Which plan do I have?", "customer_id": ada.pk}
        api = with_key(["agents"], ["customers", str(ada.pk)])

        bot = api("post", "/agents/bot/context", body).json()
        own = api("post", "/agents/billing/context", body).json()

        assert [f["value"] for f in bot["facts"]] == ["Delta Dental"]
        assert own["facts"] == []
        assert with_key(["agents"])("post", "/agents/bot/context", body).status_code == 403
        assert with_key(["agents", "x"])("post", "/agents/bot/context", body).status_code == 403

    def test_ends_a_task(self, with_key):
        now = timezone.now()
        for task in ("7", "70"):
            StoreItem.objects.create(
                namespace=["tasks", task], key="k", value={}, created_at=now, updated_at=now
            )
        api = with_key(["tasks", "7"])

        assert api("delete", "/tasks/7").json() == {"deleted": 1}
        assert api("delete", "/tasks/70").status_code == 403
        assert StoreItem.objects.get().namespace == ["tasks", "70"]


class TestDocs:
    def test_are_served_without_another_host(self, client):
        page = client.get("/api/docs").content.decode()

        assert "://" not in page.replace("http://testserver", "")
        assert client.get("/api/openapi.json").status_code == 200

    def test_every_operation_says_what_it_is_for(self, client):
        described = client.get("/api/openapi.json").json()
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                assert operation.get("summary"), f"{method} {path}"
