"""More than one agent: a graph that learns, what each agent sees, what becomes everybody's."""

from datetime import UTC, datetime, timedelta

import pytest

from memory import services
from memory.langgraph import MemoryStore, NotThisCustomer
from memory.langgraph.example import LearningAgent, Result
from memory.models import Lesson, Memory, MemoryEvent, StoreItem
from memory.types import Said, Transcript
from tests.factories import make_customer, make_topic

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)


@pytest.fixture
def ada():
    return make_customer("Ada")


@pytest.fixture
def ben():
    return make_customer("Ben")


@pytest.fixture
def plan():
    return make_topic("insurance_plan", label="Insurance plan", cardinality="one")


def remember(customer, topic, value, *, now=NOW):
    return services.remember(
        customer.pk,
        topic=topic.key,
        value=value,
        text=f"Is with {value}",
        by="staff:1",
        now=now,
    )


class Orders:
    """Knows orders, wants a token, counts its calls."""

    def __init__(self, *, broken=False):
        self.calls, self.broken = [], broken

    def __call__(self, request):
        self.calls.append(request)
        if self.broken:
            return Result(403)
        return Result(200, {"order": "on its way"}) if request.get("token") else Result(401)


def reflect(request, result):
    return ({"token": "from the vault"}, "send the token") if result.status == 401 else None


class TestGraph:
    def agent(self, tool, reflect=reflect):
        return LearningAgent(
            "shop", "order_status", tool=tool, reflect=reflect, store=MemoryStore()
        )

    def test_learns_once_and_knows_next_time(self):
        first, later = Orders(), Orders()

        assert self.agent(first).run({"id": 7}).outcome == "worked"
        assert self.agent(later).run({"id": 8}).outcome == "worked"

        assert len(first.calls) == 2
        assert len(later.calls) == 1  # at once, after what was in effect a restart
        lesson = MemoryStore().search(("agents", "shop", "lessons"))[0].value
        assert lesson["text"] == "send the token"
        assert lesson["evidence"] == {"status": 401, "then": 200}

    def test_keeps_nothing_of_a_failure(self):
        tool = Orders(broken=True)

        assert self.agent(tool).run({"id": 7}).outcome.startswith("gave up")

        assert len(tool.calls) == 1
        assert not StoreItem.objects.exists()

    def test_never_makes_a_retry_that_changes_nothing(self):
        tool = Orders(broken=True)
        same = self.agent(tool, lambda request, result: ({"id": request["id"]}, "again"))

        assert same.run({"id": 7}).outcome == "gave up: a retry would change nothing"
        assert len(tool.calls) == 1

    def test_retries_twice_at_most(self):
        tool = Orders(broken=True)
        hopeful = self.agent(tool, lambda request, result: ({"n": request.get("n", 0) + 1}, "?"))

        assert hopeful.run({"id": 7}).outcome == "failed"
        assert len(tool.calls) == 3

    def test_another_agent_does_not_have_its_lesson(self):
        self.agent(Orders()).run({"id": 7})
        other, tool = MemoryStore(), Orders()
        LearningAgent("desk", "order_status", tool=tool, reflect=reflect, store=other).run({})

        assert len(tool.calls) == 2


class TestFlaskToFastApi:
    def test_what_is_built_three_weeks_later_follows_what_was_said(self, ada, ben):
        """ "I don't use Flask anymore. Use FastAPI." """
        topic = make_topic(
            "web_framework",
            label="Web framework",
            category="preference",
            cardinality="one",
            description="The Python web framework that this developer wants to be used.",
            examples=["I use Flask", "we build with Django", "use FastAPI for my services"],
        )
        said = ["I use Flask for my web services.", "I don't use Flask anymore. Use FastAPI."]
        for n, text in enumerate(said):
            at = NOW + timedelta(days=n)
            episode = services.remember_later(
                Transcript((Said(1, "customer", text, at),)),
                customer_id=ada.pk,
                ref=f"chat:{n}",
                now=at,
            )
            assert episode
            services.run_agent(episode.pk, now=at)
        later = NOW + timedelta(weeks=3)

        def build(customer):
            store = MemoryStore(customer_id=customer.pk, verified=True, clock=lambda: later)
            found = store.search(("customers", str(customer.pk), topic.key))
            return "import " + (found[0].value["value"].lower() if found else "anything")

        assert "fastapi" in build(ada)
        assert "flask" not in build(ada)
        assert build(ben) == "import anything"


class TestCustomersInTheStore:
    @pytest.fixture
    def store(self, ada):
        return MemoryStore(customer_id=ada.pk, verified=True, agent="scheduler", clock=lambda: NOW)

    def test_reads_what_may_be_used_of_that_customer(self, store, ada, ben, plan):
        remember(ada, plan, "Cigna")
        fact = remember(ada, plan, "Aetna")
        remember(ben, plan, "MetLife")
        mine = ("customers", str(ada.pk))

        assert [i.value["value"] for i in store.search(mine)] == ["Aetna"]
        assert store.get((*mine, plan.key), str(fact.pk)).value["text"] == "Is with Aetna"
        assert store.search(mine, filter={"value": "Cigna"}) == []
        assert store.list_namespaces(prefix=("customers",)) == [(*mine, plan.key)]

    def test_answers_a_query_as_recall_would(self, store, ada, plan):
        remember(ada, plan, "Aetna")

        found = store.search(("customers", str(ada.pk)), query="Which insurance plan do I have?")

        assert [i.value["value"] for i in found] == ["Aetna"]

    @pytest.mark.parametrize("built", ["for nobody", "for ada"])
    def test_refuses_another_customer(self, ada, ben, plan, built):
        remember(ben, plan, "MetLife")
        store = MemoryStore(customer_id=ada.pk if built == "for ada" else None, verified=True)
        his = ("customers", str(ben.pk))

        for call in (
            lambda: store.search(his),
            lambda: store.search(his, query="plan"),
            lambda: store.get(his, "1"),
            lambda: store.put(his, "k", {"text": "x"}),
            lambda: store.delete(his, "1"),
        ):
            with pytest.raises(NotThisCustomer):
                call()
        assert Memory.objects.get().value == "MetLife"

    def test_a_wide_search_never_reaches_customers(self, ada, ben, plan):
        remember(ben, plan, "MetLife")
        store = MemoryStore(customer_id=ada.pk, verified=True)

        assert store.search(()) == []
        assert store.search(("customers",)) == []

    def test_keeps_sensitive_facts_from_a_store_that_does_not_know_her(self, ada):
        secret = make_topic("allergies", sensitive=True, cardinality="many")
        remember(ada, secret, "latex")
        mine = ("customers", str(ada.pk))

        assert MemoryStore(customer_id=ada.pk, clock=lambda: NOW).search(mine) == []
        assert MemoryStore(customer_id=ada.pk, clock=lambda: NOW, verified=True).search(mine)

    def test_put_proposes_and_a_person_decides(self, store, ada, plan):
        mine = ("customers", str(ada.pk), plan.key)
        store.put(mine, "guess", {"text": "Is with Aetna", "value": "Aetna"})

        made = Memory.objects.get()
        assert (made.status, made.value) == ("pending", "Aetna")
        assert store.search(mine) == []
        services.review(made.pk, approve=True, by="staff:1", now=NOW)
        assert [i.value["value"] for i in store.search(mine)] == ["Aetna"]
        assert MemoryEvent.objects.filter(actor="agent:scheduler").exists()

    def test_delete_forgets(self, store, ada, plan):
        fact = remember(ada, plan, "Aetna")
        store.delete(("customers", str(ada.pk)), str(fact.pk))

        fact.refresh_from_db()
        assert (fact.text, fact.status) == ("", "forgotten")

    def test_nothing_of_a_customer_lies_among_the_items(self, store, ada, plan):
        store.put(("customers", str(ada.pk), plan.key), "k", {"text": "Is with Aetna"})

        assert not StoreItem.objects.exists()


class TestWhoSeesWhat:
    def lesson(self, namespace, text, **evidence):
        return Lesson.objects.create(
            namespace=namespace,
            about="tool:orders",
            text=text,
            evidence=evidence or {"status": 401},
            created_at=NOW,
            confirmed_at=NOW,
        )

    @pytest.fixture
    def lessons(self):
        for namespace in (
            ["shared"],
            ["agents", "bot"],
            ["agents", "knowledge agent"],
            ["agents", "staff copilot"],
            ["tasks", "7"],
        ):
            self.lesson(namespace, f"from {'/'.join(namespace)}")

    @pytest.mark.parametrize(
        ("agent", "own", "facts", "pending", "answers"),
        [
            ("bot", "from agents/bot", ["Is with Cigna"], [], ["Behind the house."]),
            (
                "knowledge agent",
                "from agents/knowledge agent",
                ["Is with Cigna"],
                ["Is with Aetna"],
                [],
            ),
            ("staff copilot", "from agents/staff copilot", [], [], ["Behind the house."]),
            ("billing", "from agents/billing", [], [], []),
        ],
    )
    def test_each_sees_its_own_and_what_is_shared(
        self, lessons, ada, ben, plan, agent, own, facts, pending, answers
    ):
        self.lesson(["agents", "billing"], "from agents/billing")
        remember(ada, plan, "Cigna")
        remember(ben, plan, "MetLife")
        proposal = {"category": "confirmed_fact", "value": "Aetna", "text": "Is with Aetna"}
        services.propose(ada.pk, topic=plan.key, **proposal, evidence={}, by="agent:test", now=NOW)
        services.add_answer(
            title="Which insurance plans do you take?",
            parts=["Behind the house."],
            by="staff:1",
            now=NOW,
        )

        seen = services.seen_by(
            agent,
            "Which insurance plan do I have?",
            customer_id=ada.pk,
            about="tool:orders",
            now=NOW,
        )

        assert {x.text for x in seen.lessons} == {"from shared", own}
        assert [f.text for f in seen.facts] == facts
        assert list(seen.pending) == pending
        assert [part for a in seen.answers for part in a.parts] == answers

    @pytest.mark.parametrize("agent", ["bot", "knowledge agent"])
    def test_nothing_sensitive_of_a_visitor_who_may_be_anybody(self, agent):
        visitor = make_customer("", kind="visitor")
        allergy = make_topic("allergies", sensitive=True, cardinality="many")
        remember(visitor, allergy, "nickel")
        proposal = {"category": "confirmed_fact", "value": "latex", "text": "Is allergic to latex"}
        services.propose(
            visitor.pk, topic=allergy.key, **proposal, evidence={}, by="agent:test", now=NOW
        )

        seen = services.seen_by(
            agent, "what are my allergies?", customer_id=visitor.pk, about="", now=NOW
        )

        assert (seen.facts, seen.pending) == ((), ())

    def test_an_agent_of_your_own_sees_no_customers(self):
        seen = services.sight("billing")

        assert seen.namespaces == (("shared",), ("agents", "billing"))
        assert (seen.customer_facts, seen.pending_facts, seen.answers) == (False, False, False)

    def test_evidence_from_outside_makes_a_lesson_everybodys(self):
        lesson = self.lesson(["agents", "bot"], "Send the token.", status=401)

        shared = services.promote(lesson.pk, by="agent:bot", now=NOW)

        assert shared.namespace == ["shared"]
        assert services.promote(lesson.pk, by="agent:bot", now=NOW) == shared
        assert MemoryEvent.objects.filter(kind="lesson.promoted").exists()

    def test_an_agents_word_alone_does_not(self):
        lesson = self.lesson(["agents", "bot"], "Send the token.", thought="I am sure")

        with pytest.raises(services.NotValidated):
            services.promote(lesson.pk, by="agent:bot", now=NOW)
        assert not Lesson.objects.filter(namespace=["shared"]).exists()

    def test_a_persons_approval_does(self, django_user_model):
        sam = django_user_model.objects.create_user("sam")
        lesson = self.lesson(["agents", "bot"], "Send the token.", thought="I am sure")

        shared = services.promote(lesson.pk, by=f"staff:{sam.pk}", approved_by=sam.pk, now=NOW)

        assert shared.approved_by == sam

    def test_scratch_is_never_shared_and_goes_with_its_task(self):
        lesson = self.lesson(["tasks", "7"], "Send the token.")
        store = MemoryStore()
        store.put(("tasks", "7", "steps"), "1", {"n": 1})
        store.put(("tasks", "70"), "1", {"n": 1})

        with pytest.raises(services.NotValidated):
            services.promote(lesson.pk, by="agent:bot", now=NOW)
        assert services.end_task("7", by="agent:bot", now=NOW) == 2
        assert [i.namespace for i in store.search(("tasks",))] == [("tasks", "70")]
        assert not Lesson.objects.exists()
