"""Everything that goes wrong at a model's end, at every place that asks one.

Each cell ends in an answer, a question or a person, within the turn's time, and nothing half is
kept as whole. What went wrong is on the escalation or in the receipt.
"""

import asyncio
from itertools import count

import pytest

from chat import conversations
from chat.models import Turn
from chat.turns import in_db_thread
from escalations.models import Escalation, Question
from memory import pipeline, services
from memory.llm import configured, openai, remote_embeddings
from memory.models import Answer, Episode, Memory
from memory.types import AnswerFor, GateResult, Said, Transcript
from tests.chat import with_model as scripted
from tests.chat.conftest import told
from tests.chat.one_database import _django_db_helper, one_database  # noqa: F401
from tests.chat.with_model import decide
from tests.factories import NOW, make_customer, make_topic
from tests.llm_server import Fault, ScriptedServer

pytestmark = pytest.mark.django_db
one_loop = pytest.mark.asyncio(loop_scope="module")  # and so one client for all

TURN_SECONDS = 4  # of them two are kept for storing
LATE = 30.0  # seconds: longer than anybody waits
NUMBERS = count(1)
HALF = "You like early mornings, and one two three"

DEAD = "http://127.0.0.1:9/v1"  # nobody listens there
FAULTS = {
    "time-out": Fault(delay=LATE),
    "slow first byte": Fault(first_byte=LATE),
    "429": Fault(status=429),
    "429 and wait a minute": Fault(status=429, retry_after=60),
    "429 and wait a moment": Fault(status=429, retry_after=0.05),
    "500": Fault(status=500),
    "503": Fault(status=503),
    "401": Fault(status=401),
    "dropped stream": Fault(drop_after=2),
    "truncated stream": Fault(truncate_after=2),
    "malformed chunk": Fault(malformed=True),
    "no JSON at all": Fault(garbage=True),
    "cut off at the token limit": Fault(finish_reason="length"),
    "content filter": Fault(finish_reason="content_filter"),
}
OTHERS = (
    "refused connection",
    "open breaker",
    "refusal",
    "empty text",
    "unknown tool",
    "wrong ids",
    "another form",
)
CELLS = (*FAULTS, *OTHERS)


@pytest.fixture(autouse=True)
def quick(settings, monkeypatch):
    settings.CHAT_TURN_SECONDS = TURN_SECONDS
    monkeypatch.setattr(openai, "PAUSE", 0.02)
    monkeypatch.setattr(openai, "WORKER_SECONDS", 1.5)
    monkeypatch.setattr(remote_embeddings, "SECONDS", 0.3)
    monkeypatch.setattr(remote_embeddings, "SECONDS_FOR_ONE", 0.3)


@pytest.fixture(scope="module")
def rinse(one_database):  # noqa: F811
    return services.add_answer(
        title="When may I rinse after an extraction?",
        parts=["Wait 24 hours.  Then gently."],
        by="staff:1",
        now=NOW,
    )


@pytest.fixture(scope="module")
def times(one_database):  # noqa: F811
    return make_topic(
        "visit_times",
        label="Appointment times",
        description="When the customer wants to come",
        category="preference",
        examples=["I like mornings best", "I prefer appointments before 10"],
    )


@pytest.fixture
def chat(one_database, times):  # noqa: F811
    customer = make_customer("Ada", external_id=f"ada-{next(NUMBERS)}")
    services.remember(
        customer.pk,
        topic="visit_times",
        value="early mornings",
        text="You like early mornings.",
        by="staff:1",
        now=NOW,
    )
    return conversations.start(customer.pk, now=NOW, verified=True)


def put(server, name, way, settings, **good):
    """Script the fault of that name where `way` would have been a good decision."""
    if name == "refused connection":
        settings.OPENAI_BASE_URL = DEAD
    elif name == "open breaker":
        for purpose in ("answer", "knowledge", "gate"):
            for _ in range(3):
                configured.chat_model(purpose).breaker.failed()
    elif name == "refusal":
        server.on(refusal="I cannot help with that")
    elif name == "empty text":
        decide(server, "reply", text="  ")
    elif name == "unknown tool":
        decide(server, "call_tool", tool="erase_everything", arguments='{"customer": 1}')
    elif name == "wrong ids":
        decide(server, "use_answer", ids=[999_999], text="")
    elif name == "another form":
        other_form(server)
    elif FAULTS[name].retry_after == 0.05:
        decide(server, way, fault=FAULTS[name], times=1, **good)
        decide(server, way, **good)
    else:
        decide(server, way, fault=FAULTS[name], **good)


def other_form(server):
    fault = Fault(unchecked=True)
    if server.tool_calling:
        server.on(tool=("use_answer", {"id": "first", "note": None}), offers_tool="hand_over")
    else:
        server.on(data={"way": "think", "ids": "none"}, schema="turn_decision", fault=fault)


@pytest.fixture(params=[True, False], ids=scripted.CALLS)
def server(request, settings):
    with ScriptedServer(tool_calling=request.param) as server:
        scripted.use(settings, scripted.probed(server))
        yield server
        server.check()


async def taken(chat, text):
    """One turn, and what became of it: outcome, receipt, the bot's rows, the open escalation."""
    async with asyncio.timeout(TURN_SECONDS + 20):  # never in silence, on however busy a machine
        await told(chat.pk, text)

    def look():
        turn = Turn.objects.get(conversation=chat)
        rows = list(chat.messages.filter(sender="bot").values_list("kind", "text"))
        return turn, rows, Escalation.objects.filter(conversation=chat).first()

    return await in_db_thread(look)()


@one_loop
class TestAnAnswer:
    """By tools and by schema: the customer is never left alone with it."""

    @pytest.mark.parametrize("name", CELLS)
    async def test_is_offered_by_the_rules_or_given_all_the_same(
        self, chat, answers, server, rinse, settings, name
    ):
        answers(scripted.offer(rinse))
        put(server, name, "use_answer", settings, ids=[rinse.pk], text="")

        turn, rows, escalation = await taken(chat, "when can i rinse")

        if name == "429 and wait a moment":
            assert rows == [("answer", rinse.text)]
        elif name in {"unknown tool", "wrong ids"} or (
            name == "another form" and server.tool_calling
        ):
            assert escalation.reason == "unsure"
            assert escalation.detail
        else:
            assert [kind for kind, _ in rows] == ["offer"]
            assert turn.trace["failures"]
            assert escalation is None

    @pytest.mark.parametrize("name", CELLS)
    async def test_that_nobody_has_is_a_persons_who_sees_what_went_wrong(
        self, chat, answers, server, settings, name
    ):
        answers(AnswerFor("gap", reason="nobody answered this"))
        put(server, name, "reply", settings, text=HALF)

        turn, rows, escalation = await taken(chat, "do you make house calls on the island?")

        assert turn.outcome == "handed_over"
        assert escalation.reason in {"no_answer", "unsure"}
        assert escalation.detail
        if name != "429 and wait a moment":
            assert turn.trace["failures"] or escalation.reason == "unsure"
        assert not any("early mornings" in text for _, text in rows)


class TestMemory:
    """After the close: by the rules, whole, and once."""

    SAID = "I prefer appointments before 10 in the morning."
    ITEM = {
        "topic": "visit_times",
        "intent": "state",
        "value": "before 10",
        "sentence": "She prefers appointments before 10.",
        "quote": SAID,
        "seq": 1,
        "negated": False,
        "adds": False,
        "valid_from": "",
        "valid_until": "",
        "sure": 0.9,
    }

    @pytest.fixture
    def server(self, settings):
        with ScriptedServer() as server:
            scripted.use(settings, server)
            yield server
            server.check()

    def put(self, server, name, settings):
        good = {"items": [self.ITEM]}
        if name in {"refused connection", "open breaker", "refusal"}:
            put(server, name, "reply", settings)
        elif name == "empty text":
            server.on(text="", schema="memory_extract")
        elif name == "wrong ids":
            item = self.ITEM | {"seq": 77}
            server.on(data={"items": [item]}, schema="memory_extract")
        elif name in {"another form", "unknown tool"}:
            data = {"calls": []} if name == "unknown tool" else {"items": [{"topic": 1}]}
            server.on(data=data, schema="memory_extract", fault=Fault(unchecked=True))
        else:
            fault = FAULTS[name]
            once = 1 if fault.retry_after == 0.05 else None
            server.on(data=good, schema="memory_extract", fault=fault, times=once)
            server.on(data=good, schema="memory_extract")

    @pytest.mark.parametrize("name", CELLS)
    def test_is_made_by_the_rules_where_the_model_is_away(self, server, times, settings, name):
        customer = make_customer("Ben", external_id=f"ben-{next(NUMBERS)}")
        self.put(server, name, settings)
        said = Transcript((Said(1, "customer", self.SAID, NOW),))
        episode = services.remember_later(said, customer_id=customer.pk, ref="c", now=NOW)

        pipeline.run(episode.pk, now=NOW)

        [fact] = Memory.objects.filter(customer=customer, kind="fact")
        assert (fact.topic, fact.quote) == (times, self.SAID)
        by_model = name == "429 and wait a moment"
        assert fact.made_by.startswith("knowledge" if by_model else "offline")
        assert Episode.objects.get(pk=episode.pk).processed_at

    @one_loop
    async def test_of_a_model_that_is_well_says_so(self, server, times):
        server.on(data={"items": [self.ITEM]}, schema="memory_extract")
        said = Transcript((Said(1, "customer", self.SAID, NOW),))

        read = await in_db_thread(pipeline.consider)(said, by_model=True)

        assert read.engine == "knowledge"
        assert [c.value for c in read.candidates] == ["before 10"]


class TestTheGate:
    """Where the cheap one is unsure and the model is away, the cheap one's word stands."""

    UNSURE = "I take the bus"

    @pytest.fixture
    def server(self, settings):
        with ScriptedServer() as server:
            scripted.use(settings, server)
            server.on(data={"items": []}, schema="memory_extract")
            yield server
            server.check()

    def put(self, server, name, settings):
        good = {"retrieve": False, "save": True}
        if name in {"refused connection", "open breaker"}:
            put(server, name, "reply", settings)
        elif name == "refusal":
            server.on(refusal="no", schema="memory_gate")
        elif name == "empty text":
            server.on(text="", schema="memory_gate")
        elif name in {"another form", "unknown tool", "wrong ids"}:
            data = {"save": {"yes": 1}, "retrieve": name}
            server.on(data=data, schema="memory_gate", fault=Fault(unchecked=True))
        else:
            once = 1 if FAULTS[name].retry_after == 0.05 else None
            server.on(data=good, schema="memory_gate", fault=FAULTS[name], times=once)
            server.on(data=good, schema="memory_gate")

    def asked(self):
        said = Transcript((Said(1, "customer", self.UNSURE, NOW),))
        return pipeline.consider(said, by_model=True).gate[1]

    @pytest.mark.parametrize("name", CELLS)
    def test_decides_alone_where_the_model_is_away(self, server, times, settings, name):
        self.put(server, name, settings)

        verdict = self.asked()

        assert verdict.by == ("model" if name == "429 and wait a moment" else "classifier")

    def test_asks_a_model_that_is_well(self, server, times):
        server.on(data={"retrieve": False, "save": True}, schema="memory_gate")

        assert self.asked().by == "model"

    @one_loop
    @pytest.mark.parametrize("name", CELLS)
    async def test_looks_at_the_past_where_the_model_is_away(self, server, times, settings, name):
        """A model that is well would say that the past is not needed."""
        self.put(server, name, settings)
        unsure = GateResult(False, "hardly", by="classifier", score=0.08)

        look = await services.second_look(unsure, self.UNSURE, seconds=1.0)

        assert look.gate.passed == (name != "429 and wait a moment")


VECTORS = {
    "none": lambda data: [],
    "too few": lambda data: data[:-1],
    "too wide": lambda data: [d | {"embedding": [0.1] * 600} for d in data],
    "no direction": lambda data: [d | {"embedding": [0.0] * 512} for d in data],
    "no numbers": lambda data: [d | {"embedding": None} for d in data],
    "of another form": lambda data: [{"vector": d["embedding"]} for d in data],
}
FAULTS_OF_VECTORS = (
    *(n for n, f in FAULTS.items() if f.delay or f.first_byte or f.status or f.garbage),
    "dropped stream",
    "refused connection",
    "open breaker",
    *VECTORS,
)


class TestVectors:
    """Without them answers are found by their letters, and facts by their words."""

    @pytest.fixture
    def server(self, settings):
        with ScriptedServer() as server:
            settings.CHAT_BURST_MS = 0
            settings.OPENAI_EMBEDDING_MODEL = "vectors"
            settings.OPENAI_EMBEDDING_BASE_URL = server.url
            settings.OPENAI_EMBEDDING_API_KEY = "k"
            yield server

    def put(self, server, name, settings):
        if name in VECTORS:
            server.embedded = VECTORS[name]
        elif name == "refused connection":
            settings.OPENAI_EMBEDDING_BASE_URL = DEAD
        elif name == "open breaker":
            away = remote_embeddings.remote_embedder("vectors", server.url, "k")
            for _ in range(2):
                away.breaker.failed()
        else:
            server.embedding_fault = FAULTS[name]

    @one_loop
    @pytest.mark.parametrize("name", FAULTS_OF_VECTORS)
    async def test_that_do_not_come_leave_no_customer_alone(
        self, chat, server, rinse, settings, name
    ):
        self.put(server, name, settings)

        turn, rows, escalation = await taken(chat, "When may I rinse after an extraction?")

        assert rows
        assert turn.outcome in {"answered", "offered", "handed_over"}
        assert escalation is None or escalation.reason in {"no_answer", "unsure", "personal"}

    @pytest.mark.parametrize("name", FAULTS_OF_VECTORS)
    def test_that_do_not_come_leave_the_fact_whole_and_its_vector_for_later(
        self, server, times, settings, name
    ):
        self.put(server, name, settings)
        customer = make_customer("Ben", external_id=f"ben-{next(NUMBERS)}")
        said = Transcript((Said(1, "customer", TestMemory.SAID, NOW),))
        episode = services.remember_later(said, customer_id=customer.pk, ref="c", now=NOW)

        pipeline.run(episode.pk, now=NOW)

        fact = Memory.objects.get(customer=customer, kind="fact")
        assert fact.text
        assert (fact.embedding, fact.embedding_model) == (None, "")


@one_loop
async def test_nothing_of_all_this_became_an_answer(rinse):
    def look():
        return Answer.objects.count(), Question.objects.filter(text__contains="one two three")

    answers, questions = await in_db_thread(look)()

    assert answers == 1
    assert not await in_db_thread(questions.exists)()
