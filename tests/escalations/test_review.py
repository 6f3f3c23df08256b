"""What is to be checked at the desk: most needed first, taken back, hidden till seen."""

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from chat.models import Message
from escalations.models import MemoryView
from memory import services
from memory.models import Answer, AnswerMatch, Conflict, Episode, Memory
from tests.factories import NOW, make_conversation, make_customer, make_topic

SECRET = "Allergic to penicillin"


@pytest.fixture
def desk(client, sam):
    client.force_login(sam)
    return client


@pytest.fixture
def plan(db):
    return make_topic("insurance_plan", cardinality="one")


@pytest.fixture
def allergy(db):
    return make_topic("allergy", sensitive=True)


def remember(customer, text, topic, **fields):
    fields = {"stated_at": NOW, "recorded_at": NOW, "confirmed_at": NOW} | fields
    told = {"text": text, "value": text, "topic": topic, "category": topic.category}
    return Memory.objects.create(
        customer=customer, single_valued=topic.cardinality == "one", sensitive=topic.sensitive,
        **told, **fields,
    )  # fmt: skip


@pytest.fixture
def conflict(ada, plan):
    old = remember(ada, "Delta Dental", plan, corrected_by_staff=True)
    new = remember(ada, "Cigna", plan, status="pending", needs_review=True)
    due = timezone.now() - timedelta(hours=3)
    return Conflict.objects.create(
        customer=ada, topic=plan, old=old, new=new, opened_at=NOW, due_at=due
    )


@pytest.fixture
def decide(desk):
    def post(kind, pk, decision):
        told = {"kind": kind, "pk": pk, "decision": decision}
        return desk.post("/inbox/review/decide/", told, follow=True).content.decode()

    return post


def shown(desk):
    return desk.get("/inbox/review/").content.decode()


class TestTheQueue:
    def test_puts_first_what_last_week_needed(self, desk, ada, ben, plan):
        remember(ada, "Acorn", plan, status="pending", needs_review=True)
        remember(ben, "Birch", plan, status="pending", needs_review=True)
        for n in range(2):
            AnswerMatch.objects.create(
                customer=ben, asked=f"q{n}", asked_normalised=f"q{n}", outcome="open",
                created_at=timezone.now(),
            )  # fmt: skip

        page = shown(desk)

        assert page.index("Birch") < page.index("Acorn")
        assert "Part of 2 questions last week" in page

    def test_shows_before_and_after_and_leads_to_the_words(self, desk, ada, plan):
        conversation = make_conversation(ada)
        episode = Episode.objects.create(
            customer=ada, ref=f"conversation:{conversation.pk}:1-9", transcript={},
            ended_at=NOW, recorded_at=NOW,
        )  # fmt: skip
        remember(ada, "Acorn", plan)
        remember(
            ada, "Birch", plan, status="pending", needs_review=True, episode=episode, source_seq=4
        )

        page = shown(desk)

        assert page.index("Before</dt>") < page.index("Acorn") < page.index("Birch")
        assert f'href="/inbox/chat/{conversation.pk}/#said-4"' in page

    def test_says_when_a_contradiction_is_due(self, desk, conflict):
        assert "3 h overdue" in shown(desk)

    def test_holds_answers_whose_time_to_be_read_again_has_come(self, desk, decide, queue):
        answer = services.add_answer(
            title="Where can I park?", parts=["Behind the house."], by="staff:1", now=NOW,
            review_on=date(2020, 1, 1),
        )  # fmt: skip
        assert "due for another look" in shown(desk)
        assert ">1</span>" in desk.get("/inbox/").content.decode()

        decide("answer", answer.pk, "approve")

        assert "Where can I park?" not in shown(desk)
        assert Answer.objects.get(pk=answer.pk).review_on > timezone.now().date()


class TestChatsThatDidNotHelp:
    @pytest.fixture
    def helpless(self, ada, db):
        def chat(*titles):
            made = make_conversation(ada, rating=-1)
            for seq, title in enumerate(titles, 1):
                given = services.add_answer(
                    title=title, parts=["So."], by="import", review_on=date(2999, 1, 1), now=NOW
                )
                Message.objects.create(
                    conversation=made, seq=seq, sender="bot", kind="answer", text="So.",
                    meta={"answer_id": given.pk}, created_at=NOW,
                )  # fmt: skip
            return made

        return chat

    def test_name_the_answer_that_was_given_last(self, desk, helpless):
        helpless("Where can I park?", "When do you open?")
        helpless("What does a crown cost?")
        helpless()

        page = desk.get("/inbox/review/").content.decode()

        assert "When do you open?" in page
        assert "What does a crown cost?" in page
        assert "Where can I park?" not in page

    def test_cost_the_same_number_of_queries_however_many_there_are(
        self, desk, helpless, django_assert_max_num_queries
    ):
        def queries():
            with django_assert_max_num_queries(100) as counted:
                desk.get("/inbox/review/")
            return len(counted.captured_queries)

        for n in range(2):
            helpless(f"Question {n}?")
        queries()  # what a first request asks once
        few = queries()
        for n in range(5):
            helpless(f"Another {n}?")

        assert queries() == few


class TestADecision:
    @pytest.mark.parametrize("decision", ["approve", "reject"])
    @pytest.mark.parametrize("status", ["pending", "active"])
    def test_about_a_memory_is_taken_back(self, desk, decide, ada, plan, status, decision):
        memory = remember(ada, "Birch", plan, status=status, needs_review=True)

        page = decide("memory", memory.pk, decision)
        memory.refresh_from_db()
        assert memory.status == ("active" if decision == "approve" else "rejected")
        assert not memory.needs_review
        assert "Undo the last decision" in page

        decide("memory", memory.pk, "undo")
        memory.refresh_from_db()
        assert (memory.status, memory.needs_review, memory.confirmed_at) == (status, True, NOW)
        assert "Undo the last decision" not in shown(desk)

    @pytest.mark.parametrize("decision", ["keep", "replace", "both"])
    def test_about_a_contradiction_is_taken_back(self, decide, conflict, decision):
        decide("conflict", conflict.pk, decision)
        conflict.refresh_from_db()
        assert conflict.decision == decision

        decide("conflict", conflict.pk, "undo")
        conflict.refresh_from_db()
        assert conflict.decided_at is None
        assert conflict.new.status == "pending"

    def test_is_not_taken_back_over_something_newer(self, decide, ada, plan, sam):
        memory = remember(ada, "Birch", plan, status="pending", needs_review=True)
        decide("memory", memory.pk, "approve")
        services.correct(memory.pk, value="Cedar", text="", by="staff:2", now=timezone.now())

        assert "changed meanwhile" in decide("memory", memory.pk, "undo")

    def test_that_is_none_changes_nothing(self, decide, conflict):
        assert "That is no decision" in decide("conflict", conflict.pk, "explode")
        conflict.refresh_from_db()
        assert conflict.decided_at is None


class TestWhatIsSensitive:
    def test_is_hidden_in_a_card_until_a_look_that_is_recorded(self, desk, ada, sam, allergy):
        memory = remember(ada, SECRET, allergy, quote=SECRET, status="pending", needs_review=True)
        assert SECRET not in shown(desk)
        assert not MemoryView.objects.exists()

        told = {"kind": "memory", "pk": memory.pk}
        page = desk.post("/inbox/review/look/", told, follow=True).content.decode()

        assert SECRET in page
        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (sam, ada, ["allergy"])

    def test_is_hidden_again_later_and_from_colleagues(self, desk, ada, kim, allergy, time_machine):
        memory = remember(ada, SECRET, allergy, status="pending", needs_review=True)
        desk.post("/inbox/review/look/", {"kind": "memory", "pk": memory.pk})

        time_machine.move_to(timezone.now() + timedelta(minutes=11))
        assert SECRET not in shown(desk)
        time_machine.move_to(timezone.now() - timedelta(minutes=11))
        desk.force_login(kim)
        assert SECRET not in shown(desk)

    def test_is_hidden_in_both_halves_of_a_contradiction(self, desk, ada, allergy):
        old = remember(ada, SECRET, allergy)
        new = remember(ada, "Allergic to latex", allergy, status="pending")
        card = Conflict.objects.create(
            customer=ada, topic=allergy, old=old, new=new, opened_at=NOW, due_at=NOW
        )
        page = shown(desk)
        assert SECRET not in page
        assert "latex" not in page

        told = {"kind": "conflict", "pk": card.pk}
        page = desk.post("/inbox/review/look/", told, follow=True).content.decode()

        assert SECRET in page
        assert "latex" in page
        assert set(MemoryView.objects.values_list("customer", flat=True)) == {ada.pk}

    def test_is_hidden_in_what_a_note_asks_for(self, desk, ask, ada, sam, allergy):
        facts = [
            {"label": allergy.label, "text": SECRET},
            {"label": "Preferred time", "text": "Comes in the mornings"},
        ]
        escalation = ask(ada, reason="request", request={"note": "Move a visit", "facts": facts})
        page = desk.get(f"/inbox/{escalation.pk}/").content.decode()
        assert SECRET not in page
        assert "Comes in the mornings" in page

        page = desk.post(f"/inbox/{escalation.pk}/look/", follow=True).content.decode()

        assert SECRET in page
        assert MemoryView.objects.get().topics == ["allergy"]

    def test_stays_hidden_when_its_topic_is_renamed(self, desk, ask, ada, sam, allergy):
        told = {"topic": "allergy", "sensitive": True}
        facts = [
            {"label": allergy.label, "text": SECRET} | told,
            {"label": "Time", "text": "Mornings", "topic": "time", "sensitive": False},
        ]
        escalation = ask(ada, reason="request", request={"note": "Move a visit", "facts": facts})
        allergy.label = "What she cannot bear"
        allergy.save()

        page = desk.get(f"/inbox/{escalation.pk}/").content.decode()
        assert SECRET not in page
        assert ">Text: Mornings; Label: Time<" in page  # and nothing of how it is hidden

        page = desk.post(f"/inbox/{escalation.pk}/look/", follow=True).content.decode()
        assert SECRET in page
        assert MemoryView.objects.get().topics == ["allergy"]

    def test_is_hidden_too_where_its_topic_became_sensitive_later(self, desk, ask, ada, allergy):
        fact = {"label": "Old name", "text": SECRET, "topic": "allergy", "sensitive": False}
        escalation = ask(ada, reason="request", request={"note": "Move", "facts": [fact]})

        assert SECRET not in desk.get(f"/inbox/{escalation.pk}/").content.decode()


class TestTheWayToAnAnswer:
    @pytest.fixture
    def doubtful(self, ada):
        answer = services.add_answer(
            title="Old?", parts=["Yes."], by="staff:1", review_on=NOW.date(), now=NOW
        )
        rated = make_conversation(ada, rating=-1)
        Message.objects.create(
            conversation=rated, seq=9, sender="bot", kind="answer", text="Yes.", created_at=NOW,
            meta={"answer_id": answer.pk},
        )  # fmt: skip
        return answer

    @pytest.mark.parametrize("page", ["/inbox/review/", "/inbox/reports/"])
    def test_leads_to_a_page_that_this_person_may_see(self, desk, doubtful, sam, page):
        change = reverse("admin:memory_answer_change", args=[doubtful.pk])
        shown = desk.get(page).content.decode()
        assert change not in shown
        assert shown.count(reverse("escalations:answer", args=[doubtful.pk])) >= 1

        sam.user_permissions.add(Permission.objects.get(codename="change_answer"))
        assert change in desk.get(page).content.decode()


class TestTheRequestOfANote:
    def test_names_its_topic_as_people_do(self, desk, ask, ada, plan):
        plan.label = "Insurance plan"
        plan.save()
        escalation = ask(ada, reason="request", request={"topic": plan.key, "visit": "Tuesday"})

        page = desk.get(f"/inbox/{escalation.pk}/").content.decode()

        request = page.split('class="desk__request"')[1].split("</dl>")[0]
        assert "Insurance plan" in request
        assert plan.key not in request


class TestAMemorysPage:
    @pytest.mark.parametrize(
        ("made_by", "words"),
        [
            ("offline, instructions v0, topic v1", "Read by the built-in rules; with the topic,"),
            ("offline, instructions v2", "Read by the built-in rules; with your instructions, v"),
            ("small-1, instructions v2", "Read by the model small-1; with your instructions"),
            ("staff:{sam}", "Sam"),
            ("agent:walk", "The agent “walk”"),
        ],
    )
    def test_says_who_made_it_in_words(self, admin_client, ada, sam, plan, made_by, words):
        fact = remember(ada, "Acorn", plan, made_by=made_by.format(sam=sam.pk))

        page = admin_client.get(reverse("admin:memory_memory_change", args=[fact.pk]))

        assert words in page.content.decode()


class TestLooksElsewhere:
    """Every page and call that shows a sensitive value to somebody writes the look down."""

    @pytest.fixture
    def fact(self, ada, allergy):
        episode = Episode.objects.create(
            customer=ada, ref="conversation:1:1-2", transcript={}, ended_at=NOW, recorded_at=NOW
        )
        return remember(ada, SECRET, allergy, episode=episode)

    @pytest.fixture
    def boss(self, db, client):
        boss = User.objects.create_superuser("boss")
        client.force_login(boss)
        return boss

    @pytest.mark.parametrize("page", ["memory", "customer", "as_of", "export", "episode", "review"])
    def test_in_the_admin_are_recorded(self, client, boss, ada, fact, page):
        if page == "review":
            Memory.objects.update(status="pending", needs_review=True)
        address = {
            "memory": reverse("admin:memory_memory_change", args=[fact.pk]),
            "customer": reverse("admin:memory_customer_change", args=[ada.pk]),
            "as_of": reverse("admin:memory_customer_as_of", args=[ada.pk]),
            "export": reverse("admin:memory_customer_export", args=[ada.pk]),
            "episode": reverse("admin:memory_episode_change", args=[fact.episode_id]),
            "review": reverse("admin:memory_review"),
        }[page]

        assert SECRET in client.get(address).content.decode()

        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (boss, ada, ["allergy"])

    @pytest.mark.parametrize("name", ["memory", "memoryevent", "conflict"])
    def test_are_not_needed_for_a_list(self, client, boss, ada, fact, allergy, name):
        services.correct(fact.pk, value=SECRET, text=SECRET, by="staff:1", now=timezone.now())
        new = remember(ada, SECRET, allergy, status="pending")
        Conflict.objects.create(
            customer=ada, topic=allergy, old=fact, new=new, opened_at=NOW, due_at=NOW
        )

        page = client.get(reverse(f"admin:memory_{name}_changelist")).content.decode()

        assert "sensitive" in page
        assert SECRET not in page
        assert not MemoryView.objects.exists()

    def test_by_a_program_are_recorded_for_who_has_the_key(self, client, boss, ada, ben, fact):
        _, key = services.issue_key(
            "shop", user_id=boss.pk, namespaces=[["customers"]], by="staff:1", now=NOW
        )
        headers = {"Authorization": f"Bearer {key}"}

        client.get(f"/api/memory/{ben.pk}/history", headers=headers)
        assert not MemoryView.objects.exists()
        told = client.get(f"/api/memory/{ada.pk}/history", headers=headers)

        assert SECRET in told.content.decode()
        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (boss, ada, ["allergy"])

    def test_at_what_is_not_sensitive_leave_no_record(self, client, boss, plan):
        cleo = make_customer("Cleo")
        remember(cleo, "Delta", plan)

        client.get(reverse("admin:memory_customer_change", args=[cleo.pk]))

        assert not MemoryView.objects.exists()
