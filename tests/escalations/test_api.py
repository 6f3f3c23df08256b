"""The desk over its API: the same rules, one shape of error."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from escalations import claim
from escalations.models import Escalation, MemoryView
from memory import services
from memory.models import Answer
from tests.factories import NOW, make_customer, make_topic


@pytest.fixture
def call(client, sam):
    _key, raw = services.issue_key("desk", user_id=sam.pk, by="staff:1", now=NOW)

    def do(method, path, body=None):
        return getattr(client, method)(
            f"/api/escalations{path}",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {raw}"},
        )

    return do


def test_lists_what_waits(call, escalation):
    found = call("get", "").json()["escalations"]
    assert [e["id"] for e in found] == [escalation.pk]
    assert found[0]["questions"][0]["text"] == escalation.questions.get().text


def test_lists_five_with_no_more_queries_than_one(call, ask, sam):
    def listed():
        with CaptureQueriesContext(connection) as log:
            found = call("get", "?list=mine").json()["escalations"]
        return [e["customer"]["name"] for e in found], len(log)

    facts = [{"label": "Time", "text": "Mornings"}]
    for number in range(5):
        customer = make_customer(f"Customer {number}", external_id=f"c{number}")
        escalation = ask(customer, reason="request", request={"text": "Move it", "facts": facts})
        claim.claim(escalation.pk, staff=sam, now=NOW)
        if number == 0:
            listed()  # what is written at a key's first use
            _names, of_one = listed()

    names, of_five = listed()
    assert names == [f"Customer {number}" for number in range(5)]
    assert of_five == of_one


def test_hands_out_what_is_sensitive_one_by_one_and_writes_it_down(call, ask, ada, sam):
    topic = make_topic("allergy", sensitive=True)
    facts = [{"label": topic.label, "text": "Penicillin"}, {"label": "Time", "text": "Mornings"}]
    escalation = ask(ada, reason="request", request={"text": "Move it", "facts": facts})

    told = str(call("get", "").json())
    assert "Mornings" in told
    assert "Penicillin" not in told
    assert not MemoryView.objects.exists()

    assert "Penicillin" in str(call("get", f"/{escalation.pk}").json())
    look = MemoryView.objects.get()
    assert (look.staff, look.customer, look.topics) == (sam, ada, ["allergy"])


def test_hides_what_is_sensitive_though_its_topic_was_renamed(call, ask, ada):
    make_topic("allergy", sensitive=True, label="What she cannot bear")
    fact = {"label": "Allergy", "text": "Penicillin", "topic": "allergy", "sensitive": True}
    escalation = ask(ada, reason="request", request={"text": "Move it", "facts": [fact]})

    assert call("get", "").json()["escalations"][0]["request"] == {"text": "Move it", "facts": []}
    one = call("get", f"/{escalation.pk}").json()
    assert one["request"]["facts"] == [{"label": "Allergy", "text": "Penicillin"}]


def test_claims_replies_and_resolves_keeping_the_words(call, escalation, log):
    call("post", f"/{escalation.pk}/claim")
    call("post", f"/{escalation.pk}/reply", {"text": " 24 h\n"})
    seq = Escalation.objects.get(pk=escalation.pk).last_staff_seq
    keep = {"scope": "everyone", "seqs": [seq], "title": "Rinsing?"}

    done = call("post", f"/{escalation.pk}/resolve", {"keep": [keep]}).json()

    assert done["resolution"] == "resolved"
    assert Answer.objects.get().parts == [" 24 h\n"]


def test_judges_each_run_by_itself_where_nobody_chose(call, escalation, ada, sam):
    asked = escalation.questions.get()
    call("post", f"/{escalation.pk}/claim")
    for text in (
        "One moment please, let me look that up.",
        "Rinse with cold salt water after a whole day, and not before. ",
    ):
        call("post", f"/{escalation.pk}/reply", {"text": text})

    done = call("post", f"/{escalation.pk}/resolve", {}).json()

    answer = Answer.objects.get()
    assert answer.parts == ["Rinse with cold salt water after a whole day, and not before. "]
    assert (answer.title, answer.role, answer.author) == (asked.text, "dental hygienist", sam)
    assert answer.source_ref.startswith(f"conversation:{escalation.conversation_id}:")
    assert [(k["scope"], k["answer_id"]) for k in done["kept"]] == [("everyone", answer.pk)]
    asked.refresh_from_db()
    assert asked.answer == answer


@pytest.mark.parametrize(
    ("text", "scope", "status"),
    [
        ("Your crown has arrived and we keep it here for you.", "customer", "active"),
        ("That is no problem at all, we do it every day of the week.", "later", "pending"),
        ("Upper or lower?", None, None),
    ],
)
def test_keeps_of_it_no_more_than_the_rule_allows(call, escalation, text, scope, status):
    call("post", f"/{escalation.pk}/claim")
    call("post", f"/{escalation.pk}/reply", {"text": text})

    kept = call("post", f"/{escalation.pk}/resolve", {}).json()["kept"]

    assert [(k["scope"], k["status"]) for k in kept] == ([(scope, status)] if scope else [])
    assert not Answer.objects.filter(status="active").exists()


def test_keeps_nothing_when_told_so(call, escalation):
    call("post", f"/{escalation.pk}/claim")
    words = "Rinse with cold salt water after a whole day, and not before."
    call("post", f"/{escalation.pk}/reply", {"text": words})

    assert call("post", f"/{escalation.pk}/resolve", {"keep": []}).json()["kept"] == []
    assert not Answer.objects.exists()


def test_says_who_has_it(call, escalation, kim):
    claim.claim(escalation.pk, staff=kim, now=NOW)
    response = call("post", f"/{escalation.pk}/claim")
    assert response.status_code == 409
    assert response.json()["error"]["message"] == "Kim is on it."


def test_refuses_an_agents_key(client, sam, escalation):
    _key, raw = services.issue_key(
        "agent", user_id=sam.pk, namespaces=[["agents", "x"]], by="staff:1", now=NOW
    )
    response = client.get("/api/escalations", headers={"Authorization": f"Bearer {raw}"})
    assert response.status_code == 403


def test_refuses_a_stranger(client, escalation):
    assert client.get("/api/escalations").status_code == 401


def test_ends_with_its_owners_work_here(call, sam, escalation):
    sam.is_staff = False
    sam.save(update_fields=["is_staff"])

    assert call("get", "").status_code == 401


def test_keeps_only_what_staff_said(call, escalation):
    call("post", f"/{escalation.pk}/claim")
    keep = {"scope": "everyone", "seqs": [1], "title": "Rinsing?"}  # the customer's own message

    response = call("post", f"/{escalation.pk}/resolve", {"keep": [keep]})

    assert response.status_code == 422
    assert Escalation.objects.get(pk=escalation.pk).closed_at is None
    assert not Answer.objects.exists()


def test_sends_no_empty_reply(call, escalation):
    call("post", f"/{escalation.pk}/claim")

    assert call("post", f"/{escalation.pk}/reply", {"text": " \n "}).status_code == 422
