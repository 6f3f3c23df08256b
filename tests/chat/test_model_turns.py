"""Whole turns with a model at the other end of a wire: what is sent, shown, counted and kept."""

import asyncio
import json

import pytest
from asgiref.sync import sync_to_async

from chat import conversations
from chat.events import Delta
from chat.llm import prompt
from chat.models import Message, Tool, Turn
from chat.turns import in_db_thread
from escalations.models import Escalation, StaffNote
from memory import services
from memory.models import Answer, Lesson, Memory
from memory.types import AnswerFor
from tests.chat import with_model as scripted
from tests.chat.conftest import told
from tests.chat.with_model import CALLS, asked, decide
from tests.factories import NOW, make_topic
from tests.llm_server import Fault, ScriptedServer
from tests.tool_service import TOKEN, ToolService

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = [
    "Wait 24 hours.  Then rinse\u00a0gently: “salt”,\r\n\tthree times\u200b. ",
    "{and} no <b>more</b>",
]
GAP = AnswerFor("gap", reason="nobody answered this")


@pytest.fixture(params=[True, False], ids=CALLS)
def server(request, settings):
    with ScriptedServer(tool_calling=request.param) as server:
        scripted.use(settings, scripted.probed(server))
        yield server
        server.check()


@pytest.fixture
def one_server(settings):
    """For what does not depend on how the endpoint is asked."""
    with ScriptedServer() as server:
        scripted.use(settings, scripted.probed(server))
        yield server
        server.check()


@pytest.fixture
def service(settings, monkeypatch):
    settings.CHAT_TOOL_HOSTS = settings.CHAT_TOOL_PRIVATE_HOSTS = ["127.0.0.1"]
    monkeypatch.setenv("RAPPORT_TOOL_ORDERS", TOKEN)
    with ToolService() as service:
        yield service


@pytest.fixture
def rinse(db):
    return services.add_answer(
        title="When may I rinse?", parts=WORDS, by="staff:1", role="dental hygienist", now=NOW
    )


def said(chat):
    rows = chat.messages.exclude(sender="customer").exclude(kind="state").order_by("seq")
    return [m.text for m in rows]


async def receipt():
    return (await in_db_thread(Turn.objects.latest)("pk")).trace


async def is_asked(server):
    async with asyncio.timeout(20):
        while not asked(server):
            await asyncio.sleep(0.02)


async def escalation():
    return await in_db_thread(Escalation.objects.get)()


class TestVerbatim:
    """The very bytes, whoever decides."""

    async def card(self, chat):
        return await in_db_thread(chat.messages.get)(kind="answer")

    async def test_with_a_model_that_picks_it(self, chat, answers, server, rinse):
        answers(scripted.offer(rinse))
        decide(server, "use_answer", ids=[rinse.pk], text="This is what our hygienist says:")

        await told(chat.pk, "when can i rinse")

        card = await self.card(chat)
        assert card.meta["parts"] == WORDS
        assert card.text == "\n\n".join(WORDS)
        assert (await in_db_thread(said)(chat))[0] == "This is what our hygienist says:"

    async def test_with_a_model_that_would_say_it_in_other_words(
        self, chat, answers, server, rinse
    ):
        answers(scripted.offer(rinse))
        decide(server, "use_answer", ids=[rinse.pk], text="Wait 24 hours, then rinse gently:")

        await told(chat.pk, "when can i rinse")

        assert await in_db_thread(said)(chat) == ["\n\n".join(WORDS)]

    async def test_without_a_model(self, chat, answers, settings, rinse):
        settings.CHAT_BURST_MS = 0
        answers(scripted.deliver(rinse))

        await told(chat.pk, "when can i rinse")

        card = await self.card(chat)
        assert (card.text, card.meta["parts"]) == ("\n\n".join(WORDS), WORDS)

    async def test_where_the_rules_are_sure_the_model_is_not_asked(
        self, chat, answers, one_server, rinse
    ):
        answers(scripted.deliver(rinse))

        await told(chat.pk, "when can i rinse")

        assert (await self.card(chat)).meta["parts"] == WORDS
        assert one_server.journal == []


class TestWhatIsSent:
    @pytest.fixture
    def known(self, ada, ben, sam):
        make_topic("visit_times", label="Visit times", category="preference")
        for customer, value in ((ada, "Wednesday"), (ada, "early mornings"), (ben, "late Fridays")):
            services.remember(
                customer.pk,
                topic="visit_times",
                value=value,
                text=f"Visits: {value}.",
                by="staff:1",
                now=NOW,
            )
        other = conversations.start(ben.pk, now=NOW, verified=True)
        conversations.record_customer_message(
            other.pk, client_id="b", text="my door code is 4711", now=NOW
        )
        return other

    async def test_is_hers_alone_and_no_note_of_staff_and_nothing_superseded(
        self, chat, answers, server, known, sam
    ):
        for conversation in (chat, known):
            await in_db_thread(StaffNote.objects.create)(
                conversation=conversation, author=sam, text="difficult, be brief", created_at=NOW
            )
        decide(server, "hand_over", text="")

        await told(chat.pk, "please book my next visit the way I always like it")

        sent = server.sent()
        assert "early mornings" in sent
        for foreign in ("Wednesday", "Fridays", "4711", "Ben", "difficult"):
            assert foreign not in sent
        assert await in_db_thread(Memory.objects.filter(status="superseded").exists)()

    async def test_the_key_is_in_no_body(self, chat, answers, settings, one_server):
        settings.OPENAI_API_KEY = "sk-of-the-business"
        decide(one_server, "hand_over", text="")

        await told(chat.pk, "do you make house calls?")

        assert "sk-of-the-business" not in one_server.sent()

    async def test_while_she_waits_the_answering_model_alone_is_asked(
        self, chat, answers, one_server, known
    ):
        decide(one_server, "hand_over", text="")

        await told(chat.pk, "I can only come on Mondays now. Do you make house calls?")

        assert {r["model"] for r in one_server.journal} == {"answer"}


class TestReceipt:
    async def test_says_what_it_cost_and_what_it_was_asked_with(
        self, chat, answers, server, rinse, sam
    ):
        await in_db_thread(services.save_instruction)(
            "guidance", "Be brief.", staff_id=sam.pk, now=NOW
        )
        answers(scripted.offer(rinse))
        decide(server, "use_answer", ids=[rinse.pk], text="")

        await told(chat.pk, "when can i rinse")

        trace = await receipt()
        completion = trace["tokens"] - 100
        assert trace["engine"] == "answer"
        assert trace["cost"] == round((100 * 1 + completion * 10) / 1e6, 6)
        assert trace["prompt"] == {"version": prompt.version(), "guidance": 1}
        assert trace["ms"]["reply"] > 0
        assert trace["ms"]["recall"] >= 0
        assert trace["answer"]["used"] == [rinse.pk]

    async def test_counts_what_came_to_nothing_too(self, chat, answers, one_server, rinse):
        answers(scripted.offer(rinse))
        decide(one_server, "reply", text="A cleaning costs $80 or $90.")

        await told(chat.pk, "when can i rinse")

        assert (await receipt())["tokens"] > 200
        assert (await receipt())["cost"] > 0

    async def test_says_whether_a_model_wrote_the_reply(
        self, chat, answers, one_server, rinse, ada
    ):
        await in_db_thread(make_topic)("visit_times", category="preference")
        await in_db_thread(services.remember)(
            ada.pk, topic="visit_times", value="mornings", text="You like mornings.",
            by="staff:1", now=NOW,
        )  # fmt: skip
        answers(scripted.offer(rinse))
        decide(one_server, "reply", text="You like mornings.", times=1)
        decide(one_server, "use_answer", ids=[rinse.pk], text="")

        await told(chat.pk, "how early may i rinse")
        own = await in_db_thread(Turn.objects.latest)("pk")
        await told(chat.pk, "when can i rinse")
        card = await in_db_thread(Turn.objects.latest)("pk")

        assert (own.outcome, own.generated) == ("answered", True)
        assert (card.outcome, card.generated) == ("answered", False)

    async def test_names_the_failure_where_another_engine_answered(
        self, chat, answers, one_server, rinse
    ):
        answers(scripted.offer(rinse))
        one_server.on(fault=Fault(status=400))

        await told(chat.pk, "when can i rinse")

        trace = await receipt()
        assert trace["engine"] == "offline"
        assert trace["failures"] == ["answer: status 400"]

    async def test_is_shown_to_no_customer(self, chat, answers, one_server, rinse):
        answers(scripted.offer(rinse))
        decide(one_server, "use_answer", ids=[rinse.pk], text="")

        await told(chat.pk, "when can i rinse")

        shown = await in_db_thread(list)(Message.objects.values_list("text", "meta"))
        assert "tokens" not in json.dumps(shown)


class TestBudgets:
    async def test_turns_then_a_person(self, chat, answers, one_server, settings):
        settings.CHAT_TURNS_PER_PERSON = 2
        for text in ("hello", "thanks", "hello again"):
            await told(chat.pk, text)

        found = await escalation()
        assert (found.reason, found.detail) == ("unsure", "2 turns without a person")

    async def test_tool_calls_then_a_person(self, chat, answers, server, settings, service):
        settings.CHAT_TOOL_CALLS = 1
        await in_db_thread(scripted.order_status)(service)
        for order in ("A-17", "A-18"):
            wanted = f'{{"order_id": "{order}"}}'
            decide(server, "call_tool", times=1, tool="order_status", arguments=wanted)

        await told(chat.pk, "where are A-17 and A-18 now, those orders?")

        found = await escalation()
        assert (found.reason, found.detail) == ("tool", "too many tool calls")
        assert [token for _, token in service.seen] == ["", TOKEN]

    async def test_tokens_of_a_turn_then_the_offline_engine(
        self, chat, answers, server, settings, rinse
    ):
        settings.OPENAI_TOKENS_PER_TURN = 100
        answers(scripted.offer(rinse))

        await told(chat.pk, "when can i rinse")

        assert asked(server) == []
        assert (await receipt())["failures"] == ["answer: the turn's tokens are spent"]
        assert await in_db_thread(chat.messages.filter(kind="offer").exists)()

    async def test_tokens_of_a_conversation_then_the_offline_engine(
        self, chat, answers, one_server, settings, rinse
    ):
        settings.OPENAI_TOKENS_PER_CONVERSATION = 150
        answers(scripted.offer(rinse))
        decide(one_server, "use_answer", ids=[rinse.pk], text="")
        for text in ("when can i rinse", "when can i rinse then", "when can i rinse again"):
            await told(chat.pk, text)

        assert len(asked(one_server)) == 2
        assert (await receipt())["engine"] == "offline"

    async def test_seconds_then_the_offline_engine(self, chat, answers, server, settings, rinse):
        settings.CHAT_TURN_SECONDS = 4
        answers(scripted.offer(rinse))
        decide(server, "use_answer", ids=[rinse.pk], fault=Fault(delay=8))

        await told(chat.pk, "when can i rinse")

        assert (await receipt())["failures"] == ["answer: no time left"]
        assert await in_db_thread(chat.messages.filter(kind="offer").exists)()


class TestManyMessages:
    async def test_quick_ones_get_one_answer_and_the_first_draft_is_dropped(
        self, chat, answers, one_server, rinse
    ):
        answers(scripted.offer(rinse))
        decide(one_server, "use_answer", ids=[rinse.pk], fault=Fault(delay=1.0), times=1)
        decide(one_server, "use_answer", ids=[rinse.pk])

        first = asyncio.create_task(told(chat.pk, "when can i rinse", client_id="a"))
        await is_asked(one_server)
        await told(chat.pk, "after an extraction i mean", client_id="b")
        await first

        assert await in_db_thread(said)(chat) == ["\n\n".join(WORDS)]
        data = json.loads(asked(one_server)[-1]["messages"][1]["content"])
        assert data["message"] == "when can i rinse\nafter an extraction i mean"
        outcomes = await in_db_thread(list)(Turn.objects.values_list("outcome", flat=True))
        assert sorted(outcomes) == ["answered", "dropped"]

    async def test_the_dropped_drafts_tokens_count(self, chat, answers, one_server, rinse):
        answers(scripted.offer(rinse))
        decide(one_server, "use_answer", ids=[rinse.pk], fault=Fault(delay=1.0))

        turn = asyncio.create_task(told(chat.pk, "when can i rinse"))
        await is_asked(one_server)
        await in_db_thread(conversations.record_customer_message)(
            chat.pk, client_id="x", text="never mind", now=NOW
        )
        await turn

        await sync_to_async(chat.refresh_from_db)()
        assert await in_db_thread(conversations.tokens_since)(chat) >= 100
        assert await in_db_thread(said)(chat) == []


class TestTools:
    async def test_learns_that_the_token_is_needed_and_has_it_at_once_the_next_time(
        self, chat, answers, server, service
    ):
        await in_db_thread(scripted.order_status)(service)
        reply = "Your order is on its way, expected on 2026-05-06."
        decide(server, "reply", text=reply, user='"tool_results": .*2026-05-06')
        decide(server, "call_tool", tool="order_status", arguments='{"order_id": "A-17"}')

        events = await told(chat.pk, "where is my order A-17?")
        first, service.seen[:] = list(service.seen), []
        await told(chat.pk, "and where is order A-17 by now?")

        path = "/customers/ada/orders/A-17"
        assert first == [(path, ""), (path, TOKEN)]
        assert service.seen == [(path, TOKEN)]
        lesson = await in_db_thread(Lesson.objects.get)(about="tool:order_status")
        assert lesson.conditions == {"status": 401, "change": {"with_token": True}}
        assert "".join(e.text for e in events if isinstance(e, Delta)) == reply
        assert await in_db_thread(said)(chat) == [reply, reply]
        assert [a["status"] for a in (await receipt())["tools"][0]["attempts"]] == [200]
        assert TOKEN not in server.sent()

    async def test_that_fail_bring_a_person_who_sees_which(self, chat, answers, server, service):
        await in_db_thread(scripted.order_status)(service)
        decide(server, "call_tool", tool="order_status", arguments='{"order_id": "B-1"}')

        await told(chat.pk, "where is my order B-1?")

        found = await escalation()
        assert (found.reason, found.detail) == ("tool", "order_status: status 404")

    async def test_that_fail_are_asked_in_another_way_by_who_saw_why(
        self, chat, answers, server, service
    ):
        await in_db_thread(scripted.order_status)(service)
        reply = "Your order is on its way, expected on 2026-05-06."
        decide(server, "reply", text=reply, user='"tool_results": .*2026-05-06')
        other = {"tool": "order_status", "arguments": '{"order_id": "A-17"}'}
        decide(server, "call_tool", user='"failed": .*404', **other)
        decide(server, "call_tool", tool="order_status", arguments='{"order_id": "A-171"}')

        await told(chat.pk, "where is my order A-171, or was it A-17?")

        assert await in_db_thread(said)(chat) == [reply]
        assert [path.rpartition("/")[2] for path, token in service.seen if token] == ["A-17"]

    async def test_that_fail_again_and_again_bring_a_person_after_two_more_tries(
        self, chat, answers, server, service
    ):
        await in_db_thread(scripted.order_status)(service)
        for n in (9, 8, 7, 6, 5):
            wrong = f'{{"order_id": "C-{n}"}}'
            seen = f"C-{n + 1}.*failed" if n < 9 else ""
            decide(server, "call_tool", user=seen, times=1, tool="order_status", arguments=wrong)

        await told(chat.pk, "where are my orders C-9, C-8, C-7, C-6 and C-5?")

        assert (await escalation()).reason == "tool"
        assert len(service.seen) == 3

    async def test_read_nobody_elses_order_whatever_is_asked_for(
        self, ben, answers, server, service
    ):
        chat = await in_db_thread(conversations.start)(ben.pk, now=NOW, verified=True)
        await in_db_thread(scripted.order_status)(service)
        decide(server, "call_tool", tool="order_status", arguments='{"order_id": "A-17"}')

        await told(chat.pk, "where is the order A-17 of Ada?")

        assert {path for path, _ in service.seen} == {"/customers/ben/orders/A-17"}
        assert (await escalation()).reason == "tool"

    async def test_that_need_to_know_who_asks_are_not_offered_to_a_visitor(
        self, ada, answers, server, service
    ):
        chat = await in_db_thread(conversations.start)(ada.pk, now=NOW, verified=False)
        await in_db_thread(scripted.order_status)(service)
        await in_db_thread(scripted.free_appointments)(service)
        decide(server, "call_tool", tool="order_status", arguments='{"order_id": "A-17"}')

        await told(chat.pk, "where is my order A-17?")

        offered = json.dumps(asked(server)[0].get("tools", asked(server)[0]["messages"][1]))
        assert "free_appointments" in offered
        assert "order_status" not in offered
        assert service.seen == []
        assert (await escalation()).reason == "unsure"


class TestNoteWithATool:
    @pytest.fixture(autouse=True)
    def note(self, db, service, settings):
        settings.CHAT_BURST_MS = 0
        services.save_note(
            by="staff:1",
            now=NOW,
            title="Rescheduling",
            examples=["I need to reschedule my cleaning"],
            text="We find you another time. Free right now: {free}. A person confirms it.",
            tool="free_appointments",
            hands_over=True,
        )

    async def test_fills_its_slots_with_what_the_tool_says(self, chat, answers, service):
        await in_db_thread(scripted.free_appointments)(service)

        await told(chat.pk, "I need to reschedule my cleaning")

        assert (await in_db_thread(said)(chat))[0] == (
            "We find you another time. Free right now: Tuesday 8:00 or Thursday 8:30. "
            "A person confirms it."
        )

    async def test_leaves_out_the_sentence_whose_slot_nobody_fills(self, chat, answers, service):
        await in_db_thread(scripted.free_appointments)(service, url=f"{service.url}/forbidden")

        await told(chat.pk, "I need to reschedule my cleaning")

        assert (await in_db_thread(said)(chat))[0] == (
            "We find you another time. A person confirms it."
        )
        assert (await receipt())["tools"][0]["attempts"][0]["status"] == 403

    async def test_asks_no_tool_that_is_switched_off(self, chat, answers, service):
        await in_db_thread(scripted.free_appointments)(service)
        await in_db_thread(Tool.objects.update)(active=False)

        await told(chat.pk, "I need to reschedule my cleaning")

        assert service.seen == []


async def test_the_stored_answers_are_what_they_were(chat, answers, one_server, rinse):
    answers(scripted.offer(rinse))
    decide(one_server, "use_answer", ids=[rinse.pk], text="")

    await told(chat.pk, "when can i rinse")

    assert (await in_db_thread(Answer.objects.get)()).parts == WORDS
