"""Is something from before needed? Where the cheap gate is unsure, a small model is asked."""

import json

import pytest

from chat import conversations
from chat.models import Turn
from chat.turns import in_db_thread
from memory import services
from memory.services import gating
from tests.chat import with_model as scripted
from tests.chat.conftest import told
from tests.chat.with_model import decide, gate_asked, needs_past
from tests.factories import NOW, make_topic
from tests.llm_server import Fault, ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)

UNSURE = "when can i rinse"
SURE = "which appointment times do you have for me?"
NO_USE = "When are you open?"


@pytest.fixture
def server(settings):
    with ScriptedServer() as server:
        scripted.use(settings, server)
        server.on(tool=("probe", {"ok": True}), offers_tool="probe")
        yield server
        server.check()


@pytest.fixture
def times(db):
    return make_topic("visit_times", category="preference", examples=["I like mornings best"])


@pytest.fixture
def known(ada, ben, times):
    """Something is known of ada, and something else of ben."""
    for customer, value in ((ada, "early mornings"), (ben, "late evenings")):
        text = f"You like {value}."
        about = {"topic": "visit_times", "value": value, "text": text}
        services.remember(customer.pk, **about, by="staff:1", now=NOW)


@pytest.fixture
def by_hand(server):
    """The model that answers fetches a person: what is asked of the gate is looked at alone."""
    decide(server, "hand_over", text="nobody knows")


async def receipt(chat, text):
    await told(chat.pk, text)
    return (await in_db_thread(Turn.objects.latest)("pk")).trace


def facts_sent(server):
    """The facts in the prompt of the model that answers."""
    data = json.loads(scripted.asked(server)[-1]["messages"][1]["content"])
    return [f["fact"] for f in data["facts"]]


async def test_a_model_says_where_the_gate_is_unsure_and_its_yes_recalls(
    chat, known, server, by_hand
):
    needs_past(server, True)

    trace = await receipt(chat, UNSURE)

    assert trace["gate"]["by"] == "model"
    assert trace["gate"]["passed"]
    assert facts_sent(server) == ["You like early mornings."]
    assert trace["ms"]["gate"] > 0


async def test_its_no_leaves_the_past_alone(chat, known, server, by_hand):
    needs_past(server, False)

    trace = await receipt(chat, UNSURE)

    assert trace["gate"] == {
        "passed": False, "reason": "a model was asked", "by": "model", "skipped": True,
    }  # fmt: skip
    assert facts_sent(server) == []
    assert (await in_db_thread(Turn.objects.get)()).past_skipped


@pytest.mark.parametrize("text", [SURE, NO_USE, "thank you so much!"])
async def test_a_sure_gate_asks_nobody(chat, known, server, answers, text):
    decide(server, "hand_over", text="nobody knows")

    trace = await receipt(chat, text)

    assert gate_asked(server) == []
    assert trace["gate"]["by"] != "model"


async def test_nobody_is_asked_of_somebody_who_never_told_anything(chat, server, by_hand):
    await receipt(chat, UNSURE)

    assert gate_asked(server) == []


async def test_nobody_is_asked_without_a_key(chat, known, server, settings):
    settings.OPENAI_API_KEY = ""

    trace = await receipt(chat, UNSURE)

    assert server.journal == []
    assert trace["gate"]["by"] == "classifier"


async def test_the_model_sees_this_conversation_and_nobody_elses(chat, ben, known, server, by_hand):
    needs_past(server, True)
    other = await in_db_thread(conversations.start)(ben.pk, now=NOW, verified=True)
    await told(other.pk, "my dog is called Admiral")
    server.journal.clear()

    await receipt(chat, UNSURE)

    [request] = gate_asked(server)
    assert request["model"] == "gate"
    assert json.loads(request["messages"][1]["content"]) == {"before": [], "message": UNSURE}
    for theirs in ("Admiral", "late evenings", "ben", "Ben"):
        assert theirs not in server.sent()


FAULTS = {
    "late": Fault(delay=5.0),
    "busy": Fault(status=429, retry_after=60),
    "down": Fault(status=503),
    "another form": Fault(garbage=True),
    "cut off": Fault(finish_reason="length"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_what_does_not_answer_in_time_counts_as_yes(
    chat, known, server, by_hand, monkeypatch, name
):
    monkeypatch.setattr(gating, "SECONDS", 0.5)
    needs_past(server, False, fault=FAULTS[name])

    trace = await receipt(chat, UNSURE)

    assert trace["gate"]["passed"]
    assert trace["gate"]["reason"].endswith("recall first")
    assert facts_sent(server) == ["You like early mornings."]


async def test_a_model_that_failed_three_times_is_left_alone_for_a_while(
    chat, known, server, by_hand
):
    for _ in range(3):
        gating.chat_model("gate").breaker.failed()

    trace = await receipt(chat, UNSURE)

    assert gate_asked(server) == []
    assert trace["gate"]["passed"]


class TestWhatItCosts:
    async def test_is_the_turns(self, chat, known, server, by_hand, settings):
        settings.OPENAI_PRICES = {"gate": [1.0, 1.0], "answer": [0.0, 0.0]}
        needs_past(server, True)

        trace = await receipt(chat, UNSURE)

        assert trace["cost"] > 0
        assert trace["tokens"] > 200  # a hundred in each of the two prompts

    async def test_is_not_spent_where_the_conversation_has_cost_enough(
        self, chat, known, server, settings
    ):
        settings.OPENAI_TOKENS_PER_CONVERSATION = 0

        trace = await receipt(chat, UNSURE)

        assert server.journal == []
        assert trace["gate"]["reason"].endswith("no tokens left to ask a model: recall first")

    async def test_is_not_spent_where_the_turn_has_no_time_left(
        self, chat, known, server, settings
    ):
        settings.CHAT_TURN_SECONDS = 2

        trace = await receipt(chat, UNSURE)

        assert gate_asked(server) == []
        assert trace["gate"]["passed"]


def test_a_program_that_recalls_gets_the_models_word_too(known, ada, sam, server, client):
    needs_past(server, False, times=1)
    needs_past(server, True)
    _, key = services.issue_key(
        "shop", user_id=sam.pk, namespaces=[["customers"]], by="staff:1", now=NOW
    )

    def recalled():
        got = client.post(
            f"/api/memory/{ada.pk}/recall",
            {"message": UNSURE},
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
        return got.json()

    assert recalled()["skipped"]
    assert [f["text"] for f in recalled()["facts"]] == ["You like early mornings."]
