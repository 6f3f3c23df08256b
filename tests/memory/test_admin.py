"""Every form and every action of the admin leaves its line in the history."""

import re
from datetime import date, timedelta

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from chat.models import Business
from escalations.models import Escalation, Question
from memory import services
from memory.models import (
    Answer,
    AnswerMatch,
    ApiKey,
    Conflict,
    Customer,
    Episode,
    ErasureReceipt,
    Instruction,
    Lesson,
    Memory,
    MemoryEvent,
    Note,
    StoreItem,
    Topic,
)
from tests.factories import make_conversation, make_customer, make_topic

pytestmark = pytest.mark.django_db

OURS = [m for m in admin.site._registry if m._meta.app_label == "memory"]


@pytest.fixture
def boss(client):
    user = User.objects.create_superuser("boss", password="secret")
    client.force_login(user)
    return user


@pytest.fixture
def ada():
    return make_customer("Ada")


@pytest.fixture
def topic():
    return make_topic("insurance_plan", label="Insurance plan", cardinality="one")


@pytest.fixture
def fact(ada, topic):
    return services.remember(
        ada.pk,
        topic=topic.key,
        value="Cigna",
        text="Is with Cigna",
        by="staff:1",
        staff_id=None,
        now=timezone.now(),
    )


@pytest.fixture
def proposal(ada, topic):
    return services.propose(
        ada.pk,
        topic=topic.key,
        category="confirmed_fact",
        value="Aetna",
        text="Is with Aetna",
        evidence={},
        by="agent:test",
        now=timezone.now(),
    )


@pytest.fixture
def answer():
    return services.add_answer(
        title="Where can I park?",
        parts=["Behind the house."],
        by="staff:1",
        author_name="Kim",
        role="hygienist",
        now=timezone.now(),
        source_ref="test",
    )


@pytest.fixture
def card(ada, topic, fact, proposal):
    now = timezone.now()
    return Conflict.objects.create(
        customer=ada,
        topic=topic,
        old=fact,
        new=proposal,
        opened_at=now,
        due_at=now + timedelta(hours=4),
    )


class Page:
    """One model's pages; insists that each change leaves an event."""

    def __init__(self, client, model):
        self.client, self.name = client, model._meta.model_name

    def url(self, which, *args):
        return reverse(f"admin:memory_{self.name}_{which}", args=args)

    def _post(self, url, data):
        before = MemoryEvent.objects.count()
        answer = self.client.post(url, data, follow=True)
        assert answer.status_code == 200
        errors = answer.context.get("errors") if answer.context else None
        assert not errors, errors
        new = MemoryEvent.objects.order_by("-pk")[: MemoryEvent.objects.count() - before]
        return [event.kind for event in new]

    def add(self, **data):
        return self._post(self.url("add"), data)

    def change(self, pk, **data):
        return self._post(self.url("change", pk), data)

    def act(self, action, *pks):
        return self._post(self.url("changelist"), {"action": action, "_selected_action": pks})


@pytest.fixture
def page(client, boss):
    return lambda model: Page(client, model)


class TestPages:
    @pytest.mark.parametrize("model", OURS, ids=lambda m: m.__name__)
    def test_lists_open_and_can_be_searched(self, page, client, model, fact, answer, card):
        url = page(model).url("changelist")

        assert client.get(url).status_code == 200
        assert client.get(url, {"q": "dental"}).status_code == 200

    @pytest.mark.parametrize("model", OURS, ids=lambda m: m.__name__)
    def test_each_row_has_a_page(self, page, client, model, ada, fact, answer, card):
        now = timezone.now()
        Episode.objects.create(
            customer=ada,
            ref="conversation:1:1-2",
            transcript={"messages": [{"seq": 1, "sender": "customer", "text": "Hi <b>"}]},
            ended_at=now,
            recorded_at=now,
        )
        StoreItem.objects.create(namespace=["a"], key="k", value={}, created_at=now, updated_at=now)
        row = model._default_manager.first()
        if row is not None:
            assert client.get(page(model).url("change", row.pk)).status_code == 200

    @pytest.mark.parametrize("model", OURS, ids=lambda m: m.__name__)
    def test_nothing_can_be_deleted(self, page, client, model, fact, answer, card):
        row = model._default_manager.first()
        if row is not None:
            assert client.post(page(model).url("delete", row.pk)).status_code == 403
        chosen = {"action": "delete_selected", "_selected_action": [row.pk if row else 1]}
        count = model._default_manager.count()
        client.post(page(model).url("changelist"), chosen)
        assert model._default_manager.count() == count

    def test_a_memorys_page_tells_its_history(self, page, client, fact):
        services.confirm(fact.pk, by="staff:1", now=timezone.now())

        shown = client.get(page(Memory).url("change", fact.pk)).content.decode()

        assert "confirmed it" in shown
        assert "exact words" in shown


class TestForms:
    def test_add_a_memory(self, page, ada, topic):
        kinds = page(Memory).add(
            customer=ada.pk, topic=topic.pk, value="Cigna", text="Is with Cigna"
        )

        assert "memory.created" in kinds
        assert Memory.objects.get().value == "Cigna"

    def test_correct_a_memory(self, page, fact):
        kinds = page(Memory).change(fact.pk, value="Aetna", text="Is with Aetna")

        assert kinds
        assert Memory.objects.get(status="active").value == "Aetna"
        fact.refresh_from_db()
        assert (fact.value, fact.status) == ("Cigna", "superseded")

    def test_the_admins_own_log_holds_none_of_a_customers_words(self, page, fact, ada, topic):
        page(Memory).add(customer=ada.pk, topic=topic.pk, value="Humana", text="Is with Humana")
        page(Memory).change(fact.pk, value="Aetna", text="Is with Aetna")

        logged = " ".join(
            f"{row.object_repr} {row.change_message}" for row in LogEntry.objects.all()
        )
        assert LogEntry.objects.count() == 2
        assert not {"Humana", "Aetna", "Cigna"} & set(re.findall(r"\w+", logged))

    def test_saving_unchanged_writes_nothing(self, page, fact):
        assert page(Memory).change(fact.pk, value=fact.value, text=fact.text) == []

    def test_add_an_answer(self, page):
        kinds = page(Answer).add(
            title="When do you open?", parts=["At 8.\r\n", "", "Not on Sunday."], role="desk"
        )

        assert kinds
        assert Answer.objects.get().parts == ["At 8.\n", "Not on Sunday."]

    def test_change_an_answer(self, page, answer):
        kinds = page(Answer).change(
            answer.pk, title=answer.title, parts=["In front of the house."], role="desk"
        )

        assert kinds
        assert Answer.objects.get(status="active").parts == ["In front of the house."]

    @pytest.mark.parametrize("status", ["superseded", "retracted", "rejected", "pending"])
    def test_an_answer_that_went_out_of_use_meanwhile_is_not_changed(
        self, client, page, answer, status
    ):
        Answer.objects.filter(pk=answer.pk).update(status=status)
        typed = {"title": answer.title, "parts": ["In front of the house."], "role": "desk"}

        told = client.post(page(Answer).url("change", answer.pk), typed, follow=True)

        assert "Not saved: this answer was replaced" in told.content.decode()
        assert Answer.objects.get().text == answer.text

    def test_an_answers_owner_is_chosen_and_taken_away(self, page, answer, boss):
        told = {"title": answer.title, "parts": answer.parts, "role": "desk"}

        page(Answer).change(answer.pk, owner=boss.pk, **told)
        owned = Answer.objects.get(status="active")
        assert owned.owner == boss

        page(Answer).change(owned.pk, owner="", **told)
        left = Answer.objects.get(status="active")
        assert left.owner is None

        services.revise_answer(
            left.pk, title=left.title, parts=["No."], by="api", staff_id=boss.pk, now=timezone.now()
        )
        assert Answer.objects.get(status="active").owner is None

    def test_add_and_change_a_topic(self, page):
        fields = {
            "label": "Plan",
            "category": "confirmed_fact",
            "cardinality": "one",
            "examples": "I'm with Cigna\nMy plan is Aetna",
        }
        assert page(Topic).add(key="plan", **fields) == ["topic.created"]
        topic = Topic.objects.get()
        assert topic.examples == ["I'm with Cigna", "My plan is Aetna"]

        assert page(Topic).change(topic.pk, **fields | {"label": "Dental plan"})
        topic.refresh_from_db()
        assert (topic.label, topic.version) == ("Dental plan", 2)

    def test_a_topic_stays_many_valued_over_several_values(self, page, client, ada):
        topic = make_topic("allergies", cardinality="many")
        for value in ("latex", "penicillin"):
            services.remember(
                ada.pk,
                topic=topic.key,
                value=value,
                text=value,
                by="staff:1",
                now=timezone.now(),
            )
        data = {"label": "Allergies", "category": "confirmed_fact", "cardinality": "one"}

        answer = client.post(page(Topic).url("change", topic.pk), data, follow=True)

        assert "Not saved" in answer.content.decode()
        topic.refresh_from_db()
        assert topic.cardinality == "many"

    def test_add_and_change_a_note(self, page, topic):
        fields = {"title": "Cleaning", "examples": "book a cleaning", "text": "You like …"}
        assert page(Note).add(**fields, topic=topic.pk, active="on")
        note = Note.objects.get()

        assert page(Note).change(note.pk, **fields | {"text": "We call you."}, active="on")
        note.refresh_from_db()
        assert note.text == "We call you."

    def test_a_corrected_sentence_leaves_no_value_behind_that_says_the_old(
        self, page, client, fact
    ):
        words = {"value": "Cigna", "text": "Is with Aetna"}
        again = client.post(page(Memory).url("change", fact.pk), words).content.decode()

        assert "The value still says “Cigna”: change it too." in again
        fact.refresh_from_db()
        assert (fact.text, fact.status) == ("Is with Cigna", "active")
        assert page(Memory).change(fact.pk, value="Cigna", text="Has been with Cigna for long")

    def test_a_new_instruction_is_a_new_version(self, page):
        assert page(Instruction).add(kind="knowledge", text="Keep pets.")
        assert page(Instruction).add(kind="knowledge", text="Keep no pets.")
        assert Instruction.objects.order_by("-version")[0].version == 2

    def test_a_key_is_shown_once(self, page, client):
        assert page(ApiKey).add(name="Billing", namespaces="agents/billing\nshared") == [
            "key.issued"
        ]
        key = ApiKey.objects.get()
        assert key.namespaces == [["agents", "billing"], ["shared"]]
        again = client.get(page(ApiKey).url("changelist")).content.decode()
        assert not re.search(r"rk_[\w-]{20,}", again)


class TestActions:
    def test_confirm(self, page, fact):
        assert page(Memory).act("confirm", fact.pk) == ["memory.confirmed"]

    def test_restore_what_faded_and_nothing_that_was_forgotten_on_request(self, page, client, fact):
        Memory.objects.filter(pk=fact.pk).update(status="forgotten", ended_at=timezone.now())
        shown = client.get(page(Memory).url("change", fact.pk)).content.decode()
        assert 'name="action" value="restore"' in shown

        assert page(Memory).act("restore", fact.pk) == ["memory.restored"]
        fact.refresh_from_db()
        assert (fact.status, fact.ended_at) == ("active", None)

        services.forget(fact.customer_id, memory_id=fact.pk, by="staff:1", now=timezone.now())
        shown = client.get(page(Memory).url("change", fact.pk)).content.decode()
        assert 'value="restore"' not in shown
        assert page(Memory).act("restore", fact.pk) == []

    def test_forget(self, page, fact):
        assert page(Memory).act("forget", fact.pk)
        fact.refresh_from_db()
        assert (fact.text, fact.value, fact.status) == ("", "", "forgotten")

    def test_approve(self, page, proposal):
        assert "memory.approved" in page(Memory).act("approve", proposal.pk)

    def test_reject(self, page, proposal):
        assert "memory.rejected" in page(Memory).act("reject", proposal.pk)

    def test_retire(self, page, answer):
        assert page(Answer).act("retire", answer.pk)
        assert not Answer.objects.filter(status="active").exists()

    def test_approve_an_answer(self, page, answer):
        Answer.objects.filter(pk=answer.pk).update(status="pending")
        assert page(Answer).act("approve", answer.pk)
        answer.refresh_from_db()
        assert answer.status == "active"

    def test_turn_down_a_how_to(self, page, answer):
        how_to = {"status": "pending", "category": "learned_procedure"}
        Answer.objects.filter(pk=answer.pk).update(**how_to)
        assert page(Answer).act("reject", answer.pk)
        answer.refresh_from_db()
        assert answer.status == "rejected"

    @pytest.mark.parametrize("action", ["confirm", "refuse"])
    def test_matches(self, page, answer, ada, action):
        match = AnswerMatch.objects.create(
            answer=answer,
            customer=ada,
            asked="parking?",
            asked_normalised="parking",
            outcome="delivered",
            created_at=timezone.now(),
        )
        assert page(AnswerMatch).act(action, match.pk)

    @pytest.mark.parametrize("action", ["keep", "replace", "both"])
    def test_conflicts(self, page, card, action):
        assert page(Conflict).act(action, card.pk)
        card.refresh_from_db()
        assert card.decision == action

        assert page(Conflict).act("undo", card.pk)
        card.refresh_from_db()
        assert card.decided_at is None

    def test_share_a_lesson(self, page):
        now = timezone.now()
        lesson = Lesson.objects.create(
            namespace=["agents", "bot"],
            about="tool:x",
            text="Send the token.",
            created_at=now,
            confirmed_at=now,
        )
        assert page(Lesson).act("share", lesson.pk) == ["lesson.promoted"]
        assert Lesson.objects.get(namespace=["shared"]).approved_by is not None

    def test_propose_a_lesson_as_a_how_to(self, page):
        now = timezone.now()
        lesson = Lesson.objects.create(
            namespace=["shared"],
            about="Rinsing",
            text="Ask for the order number first, then look it up.",
            evidence={"status": 422},
            created_at=now,
            confirmed_at=now,
        )
        assert page(Lesson).act("propose", lesson.pk)
        assert Answer.objects.get().category == "learned_procedure"

    def test_revoke_a_key(self, page, boss):
        key, _ = services.issue_key("K", user_id=boss.pk, by="staff:1", now=timezone.now())
        assert page(ApiKey).act("revoke", key.pk) == ["key.revoked"]

    def test_every_action_is_tried_here(self):
        tried = {
            Memory: {"confirm", "restore", "forget", "approve", "reject"},
            Answer: {"approve", "reject", "retire"},
            AnswerMatch: {"confirm", "refuse"},
            Conflict: {"keep", "replace", "both", "undo"},
            Lesson: {"propose", "share"},
            ApiKey: {"revoke"},
            # Each asks on a page of its own: TestErase below, and test_merging.py.
            Customer: {"erase_chosen", "merge_chosen"},
        }
        there = {m: set(admin.site._registry[m].actions or ()) for m in OURS}
        assert {m: a for m, a in there.items() if a} == tried

    def test_to_look_at_a_list_allows_none_of_them(self, rf):
        clerk = User.objects.create_user("clerk", is_staff=True)
        looking = Permission.objects.filter(codename__startswith="view_")
        clerk.user_permissions.set(looking.filter(content_type__app_label="memory"))
        request = rf.get("/")
        request.user = clerk

        pages = [admin.site._registry[m] for m in OURS]

        assert all(p.has_view_permission(request) for p in pages)
        assert not {name for p in pages for name in p.get_actions(request)}

    def test_every_form_is_tried_here(self, rf, boss):
        request = rf.get("/")
        request.user = boss
        editable = {m for m in OURS if admin.site._registry[m].has_add_permission(request)}
        assert editable == {Memory, Answer, Topic, Note, Instruction, ApiKey}


class TestErase:
    def test_asks_first_and_leaves_a_receipt(self, page, client, ada, fact):
        asked = client.post(
            page(Customer).url("changelist"),
            {"action": "erase_chosen", "_selected_action": [ada.pk]},
            follow=True,
        )
        assert "cannot be undone" in asked.content.decode()
        assert Customer.objects.filter(pk=ada.pk).exists()

        client.post(reverse("admin:memory_customer_erase"), {"pk": [ada.pk]})

        assert not Customer.objects.filter(pk=ada.pk).exists()
        receipt = ErasureReceipt.objects.get()
        assert receipt.customer_pk == ada.pk
        assert "Ada" not in str(receipt.counts)

    def test_exports_as_a_file(self, client, boss, ada, fact):
        answer = client.get(reverse("admin:memory_customer_export", args=[ada.pk]))

        assert "attachment" in answer["Content-Disposition"]
        assert "Is with Cigna" in answer.content.decode()

    def test_says_who_still_waits_for_an_answer(self, client, boss, ada):
        conversation = make_conversation(ada)
        url = f"{reverse('admin:memory_customer_erase')}?pk={ada.pk}"
        assert "Still waits" not in client.get(url).content.decode()

        waiting = Escalation.objects.create(
            conversation=conversation, reason="no_answer", opened_at=timezone.now()
        )
        for text in ("Is there a lift?", "And a ramp?"):
            Question.objects.create(
                escalation=waiting, text=text, reason="no_answer", asked_at=timezone.now()
            )

        assert "Still waits for a person: 2 questions." in client.get(url).content.decode()


class TestAHistory:
    def test_is_not_offered_where_it_is_empty_or_shown(self, client, boss, ada, fact, answer):
        for row in (ada, fact, answer, MemoryEvent.objects.first()):
            url = reverse(f"admin:memory_{row._meta.model_name}_change", args=[row.pk])
            assert "historylink" not in client.get(url).content.decode(), url

    def test_is_offered_where_forms_are_all_that_changes_it(self, client, boss, topic):
        url = reverse("admin:memory_topic_change", args=[topic.pk])
        assert "historylink" in client.get(url).content.decode()


def test_a_summary_is_no_known_fact(client, boss, ada, fact):
    for kind in ("summary", "experience"):
        Memory.objects.create(
            customer=ada, kind=kind, category="preference", text="Asked twice",
            stated_at=timezone.now(), recorded_at=timezone.now(), confirmed_at=timezone.now(),
        )  # fmt: skip

    page = client.get(reverse("admin:memory_customer_changelist")).content.decode()

    assert '<td class="field-known">1</td>' in page


def test_the_fields_of_a_topic_are_explained(client, boss, topic):
    page = client.get(reverse("admin:memory_topic_change", args=[topic.pk])).content.decode()
    for name in ("category", "cardinality", "permanent", "sensitive", "half_life_days"):
        assert f'id="id_{name}_helptext"' in page


class TestAsOf:
    def test_means_the_day_by_the_business_clock(self, client, boss, ada, fact):
        Business.objects.update_or_create(pk=1, defaults={"timezone": "Asia/Tokyo"})
        url = reverse("admin:memory_customer_as_of", args=[ada.pk])

        page = client.get(url, {"when": "2026-03-02"}).content.decode()

        assert "Believed on 2 March 2026, 23:59:" in page
        assert 'value="2026-03-02"' in page

    def test_shows_what_was_believed(self, client, boss, ada, fact):
        services.correct(
            fact.pk,
            value="Aetna",
            text="Is with Aetna",
            by="staff:1",
            staff_id=None,
            now=timezone.now() + timedelta(days=3),
        )
        url = reverse("admin:memory_customer_as_of", args=[ada.pk])

        then = client.get(url, {"when": date.today().isoformat()}).content.decode()
        before = client.get(url, {"when": "2020-01-01"}).content.decode()

        assert "Is with Cigna" in then
        assert "Aetna" not in then
        assert "Nothing was known then" in before

    def test_says_when_it_is_no_date(self, client, boss, ada):
        url = reverse("admin:memory_customer_as_of", args=[ada.pk])

        assert "That is no date" in client.get(url, {"when": "yesterday"}).content.decode()


class TestReview:
    @pytest.fixture
    def decide(self, client, boss):
        def post(kind, pk, decision):
            before = MemoryEvent.objects.count()
            answer = client.post(
                reverse("admin:memory_review_decide"),
                {"kind": kind, "pk": pk, "decision": decision},
                follow=True,
            )
            return answer.content.decode(), MemoryEvent.objects.count() - before

        return post

    def test_what_was_needed_most_stands_first(self, client, boss, ada, topic, answer):
        ben = make_customer("Ben")
        for customer in (ada, ben):
            services.propose(
                customer.pk,
                topic=topic.key,
                category="confirmed_fact",
                value="X",
                text=f"About {customer.name}",
                evidence={},
                by="agent:test",
                now=timezone.now(),
            )
        for n in range(3):
            AnswerMatch.objects.create(
                customer=ben,
                asked=f"q{n}",
                asked_normalised=f"q{n}",
                outcome="open",
                created_at=timezone.now(),
            )

        shown = client.get(reverse("admin:memory_review")).content.decode()

        assert shown.index("About Ben") < shown.index("About Ada")

    def test_approves_and_undoes(self, decide, proposal):
        shown, events = decide("memory", proposal.pk, "approve")
        assert events >= 1
        assert "ndo the last decision" in shown
        proposal.refresh_from_db()
        assert proposal.status == "active"

        _, events = decide("memory", proposal.pk, "undo")
        assert events >= 1
        proposal.refresh_from_db()
        assert proposal.status == "pending"

    def test_rejects(self, decide, proposal):
        decide("memory", proposal.pk, "reject")
        proposal.refresh_from_db()
        assert proposal.status == "rejected"

    @pytest.mark.parametrize("decision", ["keep", "replace", "both"])
    def test_decides_a_conflict_and_undoes_it(self, decide, card, decision):
        _, events = decide("conflict", card.pk, decision)
        assert events >= 1
        decide("conflict", card.pk, "undo")
        card.refresh_from_db()
        assert card.decided_at is None

    @pytest.mark.parametrize("decision", ["keep", "retire"])
    def test_decides_about_a_stale_answer(self, client, decide, answer, decision):
        Answer.objects.filter(pk=answer.pk).update(review_on=date(2020, 1, 1))
        assert "Where can I park" in client.get(reverse("admin:memory_review")).content.decode()

        shown, events = decide("answer", answer.pk, decision)

        assert events >= 1
        assert "Where can I park" not in shown

    def test_a_card_decided_by_a_colleague_says_so(self, decide, proposal):
        decide("memory", proposal.pk, "approve")
        shown, events = decide("memory", proposal.pk, "reject")

        assert "Not possible any more" in shown
        assert events == 0

    def test_nonsense_changes_nothing(self, decide, proposal):
        shown, events = decide("memory", proposal.pk, "explode")

        assert "no decision" in shown
        assert events == 0

    def test_takes_the_right_to_change_memories(self, client):
        client.force_login(User.objects.create_user("guest", is_staff=True))

        assert client.get(reverse("admin:memory_review")).status_code == 403
