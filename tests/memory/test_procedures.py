"""An ordered how-to: found in people's words, approved by staff, given letter for letter."""

import pytest

from memory import services
from memory.lifecycle.steps import steps_of
from memory.models import Answer, Lesson, MemoryEvent
from tests.factories import NOW, make_customer, make_staff

NUMBERED = "Here is how:\n1. Switch it off. \n2) Wait a minute –\n   really.\n3. Switch it on."
MESSAGES = ["First switch it off.", "Then wait a minute, please.\n", "Finally switch it on."]


class TestFindingSteps:
    def test_cuts_one_message_before_its_numbers_and_changes_no_letter(self):
        steps = steps_of([NUMBERED])

        assert len(steps) == 3
        assert "\n".join(steps) == NUMBERED

    @pytest.mark.parametrize(
        "parts", [MESSAGES, ["1. Switch it off.", "2. Wait.", "3. Switch it on."]]
    )
    def test_takes_messages_that_say_their_place_as_they_are(self, parts):
        assert steps_of(parts) == tuple(parts)

    @pytest.mark.parametrize(
        "parts",
        [
            [],
            ["Switch it off and on again."],
            ["We have 2 kinds:\n2. The blue one costs more.\n1. The red one is out."],
            ["Parking is free.", "Bring the ticket to the counter."],
            ["1. Only one point here, and the rest is talk."],
        ],
    )
    def test_finds_none_where_there_is_no_order(self, parts):
        assert steps_of(parts) == ()


@pytest.fixture
def sam(db):
    return make_staff("sam")


@pytest.fixture
def ada(db):
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def kept(sam):
    return services.add_answer(
        title="How do I restart it?", parts=[NUMBERED], by=f"staff:{sam.pk}", staff_id=sam.pk,
        author_name="Sam", role="technician", now=NOW,
    )  # fmt: skip


def ask(question, customer):
    return services.answer_for(question, customer_id=customer.pk, now=NOW)


class TestApproving:
    def test_gives_the_steps_letter_for_letter_to_the_next_who_asks(self, kept, sam, ada):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)
        assert ask("how do i restart it", ada).candidates[0].answer_id == kept.pk

        services.approve_procedure(proposed.pk, by=f"staff:{sam.pk}", staff_id=sam.pk, now=NOW)

        found = ask("how do i restart it", ada)
        assert found.way == "deliver"
        assert "\n".join(found.candidates[0].parts) == NUMBERED
        assert (found.candidates[0].author, found.candidates[0].role) == ("Sam", "technician")
        kept.refresh_from_db()
        assert (kept.status, kept.superseded_by_id) == ("superseded", proposed.pk)
        kinds = MemoryEvent.objects.filter(answer=proposed).values_list("kind", flat=True)
        assert set(kinds) == {"answer.created", "answer.approved"}

    def test_signs_what_staff_changed_with_their_name(self, kept, ada):
        kim = make_staff("kim", role="engineer")
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)

        made = services.approve_procedure(
            proposed.pk, by=f"staff:{kim.pk}", staff_id=kim.pk, author_name="Kim", role="engineer",
            steps=["Off.", "On."], now=NOW,
        )  # fmt: skip

        assert (made.parts, made.author, made.role) == (["Off.", "On."], kim, "engineer")

    def test_turned_down_is_given_to_nobody_and_not_proposed_again(self, kept, ada):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)
        services.reject_procedure(proposed.pk, by="staff:1", reason="too short", now=NOW)

        assert services.propose_from_answer(kept.pk, by="system", now=NOW) is None
        assert ask("how do i restart it", ada).candidates[0].answer_id == kept.pk
        with pytest.raises(Answer.DoesNotExist):
            services.approve_procedure(proposed.pk, by="staff:1", now=NOW)

    def test_ends_when_the_answer_it_is_made_of_ends(self, kept):
        Answer.objects.update(valid_until=NOW)
        assert services.propose_from_answer(kept.pk, by="system", now=NOW).valid_until == NOW


class TestFromALesson:
    @pytest.fixture
    def lesson(self, db):
        return services.learn_lesson(
            "tool:order_status", text="Ask for the order number first, then look it up.",
            conditions={"status": 422}, evidence={"status": 422}, namespace=("agents", "bot"),
            now=NOW,
        )  # fmt: skip

    def test_waits_for_a_question_in_staffs_words(self, lesson, sam, ada):
        proposed = services.propose_from_lesson(lesson.pk, by="staff:1", now=NOW)

        with pytest.raises(ValueError, match="question"):
            services.approve_procedure(proposed.pk, by="staff:1", staff_id=sam.pk, now=NOW)
        services.approve_procedure(
            proposed.pk, by="staff:1", staff_id=sam.pk, author_name="Sam", now=NOW,
            title="How do I find my order?",
        )  # fmt: skip

        found = ask("how do i find my order", ada)
        assert (found.way, found.candidates[0].author) == ("deliver", "Sam")
        assert found.candidates[0].parts == (lesson.text,)

    def test_needs_evidence_that_bears_it_out(self, lesson):
        Lesson.objects.update(text="It never works.")
        with pytest.raises(ValueError, match="what"):
            services.propose_from_lesson(lesson.pk, by="staff:1", now=NOW)


class TestTheDesk:
    @pytest.fixture
    def desk(self, client, sam):
        client.force_login(sam)
        return client

    def test_shows_what_is_proposed_in_its_steps_and_takes_a_yes(self, desk, kept, ada):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)

        page = desk.get("/inbox/review/").content.decode()
        assert "how-to, waits for a yes" in page
        assert "2) Wait a minute" in page
        decided = {"kind": "procedure", "pk": proposed.pk, "decision": "approve"}
        desk.post("/inbox/review/decide/", decided)

        assert Answer.objects.get(pk=proposed.pk).status == "active"

    def test_takes_a_no(self, desk, kept):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)

        decided = {"kind": "procedure", "pk": proposed.pk, "decision": "reject"}
        desk.post("/inbox/review/decide/", decided)

        assert Answer.objects.get(pk=proposed.pk).status == "rejected"

    def test_lets_it_be_changed_before_the_yes(self, desk, kept):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)
        path = f"/inbox/answers/how-to/{proposed.pk}/"
        assert "Here is how:" in desk.get(path).content.decode()

        assert "needs a question" in desk.post(path, {"title": "", "step": ["A"]}).content.decode()
        desk.post(path, {"title": "Restart?", "step": ["Off. ", "", "On."]})

        made = Answer.objects.get(pk=proposed.pk)
        assert (made.title, made.parts, made.status) == ("Restart?", ["Off. ", "On."], "active")
        assert made.role == "dental hygienist"

    def test_makes_one_of_a_kept_answer(self, desk, kept):
        path = f"/inbox/answers/how-to/?answer={kept.pk}"
        assert "3. Switch it on." in desk.get(path).content.decode()

        desk.post(path, {"title": kept.title, "step": list(steps_of([NUMBERED]))})

        made = Answer.objects.get(category="learned_procedure")
        assert (made.status, made.role) == ("active", "technician")
        assert "\n".join(made.parts) == NUMBERED
        assert made.source_ref == f"answer:{kept.pk}"

    def test_writes_a_lessons_question_first(self, desk, sam):
        lesson = services.learn_lesson(
            "tool:orders", text="Ask for the number first.", conditions={}, now=NOW,
            evidence={"status": 422}, namespace=("agents", "bot"),
        )  # fmt: skip
        proposed = services.propose_from_lesson(lesson.pk, by="staff:1", now=NOW)

        page = desk.get("/inbox/review/").content.decode()
        assert 'value="approve"' not in page
        assert f"/inbox/answers/how-to/{proposed.pk}/" in page

        path = f"/inbox/answers/how-to/{proposed.pk}/"
        typed = {"title": proposed.title, "step": proposed.parts}
        page = desk.post(path, typed).content.decode()
        assert "Write the question that these steps answer" in page
        assert Answer.objects.get(pk=proposed.pk).status == "pending"

    @pytest.mark.parametrize("after", ["the page was opened", "it was sent"])
    def test_says_that_a_colleague_was_faster(self, desk, kept, monkeypatch, after):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)
        typed = {"title": "Restart?", "step": ["Off.", "On."]}
        reject = lambda: services.reject_procedure(proposed.pk, by="staff:1", now=NOW)  # noqa: E731
        if after == "it was sent":
            approve = services.approve_procedure
            monkeypatch.setattr(
                services, "approve_procedure", lambda *a, **kw: (reject(), approve(*a, **kw))
            )
        else:
            reject()

        page = desk.post(f"/inbox/answers/how-to/{proposed.pk}/", typed, follow=True)

        assert "A colleague has decided on this meanwhile." in page.content.decode()
        assert Answer.objects.get(pk=proposed.pk).status == "rejected"

    def test_leads_from_the_answers_page_to_the_steps(self, desk, kept):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)

        page = desk.get(f"/inbox/answers/{proposed.pk}/").content.decode()

        assert f"/inbox/answers/how-to/{proposed.pk}/" in page
        assert 'value="approve"' not in page

    def test_makes_none_of_what_is_given_no_more(self, desk, kept):
        other = services.add_answer(title="Old?", parts=["Old words."], by="staff:1", now=NOW)
        services.retire_answer(other.pk, by="staff:1", reason="over", now=NOW)
        path = f"/inbox/answers/how-to/?answer={other.pk}&answer={kept.pk}"
        assert "Old words." not in desk.get(path).content.decode()

        desk.post(path, {"title": "Both?", "step": ["Off.", "On."]})

        assert Answer.objects.get(title="Both?").source_ref == f"answer:{kept.pk}"


class TestTheAdmin:
    @pytest.mark.parametrize(("action", "status"), [("approve", "active"), ("reject", "rejected")])
    def test_decides_on_what_is_proposed(self, admin_client, kept, action, status):
        proposed = services.propose_from_answer(kept.pk, by="system", now=NOW)

        admin_client.post(
            "/admin/memory/answer/", {"action": action, "_selected_action": [proposed.pk]}
        )

        assert Answer.objects.get(pk=proposed.pk).status == status

    def test_proposes_what_a_lesson_teaches(self, admin_client, db):
        lesson = services.learn_lesson(
            "tool:orders", text="Ask for the number first.", conditions={}, now=NOW,
            evidence={"status": 422}, namespace=("agents", "bot"),
        )  # fmt: skip

        admin_client.post(
            "/admin/memory/lesson/", {"action": "propose", "_selected_action": [lesson.pk]}
        )

        made = Answer.objects.get()
        assert (made.category, made.status, made.parts) == (
            "learned_procedure", "pending", ["Ask for the number first."],
        )  # fmt: skip


class TestTheApi:
    @pytest.fixture
    def call(self, client, sam):
        _key, raw = services.issue_key("desk", user_id=sam.pk, by="staff:1", now=NOW)
        headers = {"Authorization": f"Bearer {raw}"}

        def do(path, body):
            return client.post(
                f"/api/answers/{path}", body, content_type="application/json", headers=headers
            )

        return do

    def test_proposes_and_approves(self, call, ada):
        made = call("procedures", {"title": "Restart?", "steps": ["Off. ", "On."]})
        assert (made.status_code, made.json()["status"]) == (201, "pending")
        assert ask("restart", ada).way == "gap"

        done = call(f"{made.json()['id']}/approve", {"title": ""}).json()

        assert (done["status"], done["parts"]) == ("active", ["Off. ", "On."])
        assert call(f"{done['id']}/approve", {"title": ""}).status_code == 409

    def test_turns_down(self, call):
        made = call("procedures", {"title": "Restart?", "steps": ["Off.", "On."]}).json()

        assert call(f"{made['id']}/reject", {"reason": "no"}).json()["status"] == "rejected"
        again = call("procedures", {"title": "Restart?", "steps": ["Off.", "On."]})
        assert again.status_code == 409

    def test_says_what_it_needs(self, call):
        assert call("procedures", {"title": "", "steps": ["Off."]}).status_code == 422
        assert call("procedures", {"title": "Restart?"}).status_code == 422
