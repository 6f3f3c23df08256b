"""A message's way, with the database as it is in life: threads of their own, real commits."""

import asyncio
from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async

from chat import conversations, handoff, steps, turns
from chat.events import Ack, Delta, Failed, Typing
from chat.frames import Choose, Person
from chat.llm.base import Answer, NeedsHuman, Offer, SmallTalk, TextDelta, Unavailable
from chat.llm.scripted import Scripted
from chat.models import Business, Conversation, Message, Turn
from chat.turns import in_db_thread
from escalations.models import Escalation, Question
from memory import services
from memory.models import AnswerMatch
from memory.types import AnswerFor
from tests.chat.conftest import RINSE, chatty, run, say, told
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)


def rows(chat):
    return [(m.sender, m.kind, m.text) for m in chat.messages.order_by("seq")]


def states(chat):
    return [m.meta["state"] for m in chat.messages.filter(kind="state").order_by("seq")]


@pytest.fixture(autouse=True)
def no_waiting(settings):
    settings.CHAT_BURST_MS = 0


async def test_says_that_it_is_stored_and_answers(chat):
    events = await told(chat.pk, "hello there", engine=chatty())

    assert events[0] == Ack(say("hello there").client_id, 1, chat.pk)
    assert [r[0] for r in await in_db_thread(rows)(chat)] == ["customer", "bot"]


async def test_the_same_message_again_is_acknowledged_and_not_answered_twice(chat):
    first = await told(chat.pk, "hello there", engine=chatty())
    second = await told(chat.pk, "hello there", engine=chatty())

    assert second == [first[0]]
    assert len(await in_db_thread(rows)(chat)) == 2


async def test_a_draft_is_streamed_and_its_row_holds_the_whole(chat):
    engine = Scripted([TextDelta("Go"), TextDelta("od."), SmallTalk("fine")])

    events = await told(chat.pk, "hello there", engine=engine)

    assert "".join(e.text for e in events if isinstance(e, Delta)) == "Good."


async def test_a_model_at_work_is_said_before_anything_is_looked_up(chat, monkeypatch):
    seen = []
    gather = steps.Turn.gather
    monkeypatch.setattr(steps.Turn, "gather", lambda self: seen.append("looked") or gather(self))
    turn = turns.take_turn(chat.pk, say("hello there"), now=NOW, with_engines=[chatty()])

    async for event in turn:
        seen.append(type(event).__name__)

    assert seen.index("Typing") < seen.index("looked") < seen.index("StateChanged")


async def test_nobody_is_told_to_wait_for_what_comes_at_once(chat):
    assert not [e for e in await told(chat.pk, "hello there") if isinstance(e, Typing)]


async def test_several_quick_messages_get_one_answer(chat):
    slow = Scripted([0.2, SmallTalk("fine")])

    first = asyncio.create_task(told(chat.pk, "I have a question", engine=slow, client_id="a"))
    await asyncio.sleep(0.08)
    await told(chat.pk, "about the garden chair", engine=slow, client_id="b")
    await first

    said = await in_db_thread(rows)(chat)
    assert [r[0] for r in said] == ["customer", "customer", "bot"]
    assert slow.seen[-1].text == "I have a question\nabout the garden chair"


async def test_the_reply_is_dropped_when_a_person_takes_over_meanwhile(chat, sam):
    slow = Scripted([0.2, SmallTalk("fine")])

    turn = asyncio.create_task(told(chat.pk, "hello there", engine=slow))
    await asyncio.sleep(0.1)
    await in_db_thread(conversations.take_over)(chat.pk, staff=sam, now=NOW)
    await turn

    assert [r[0] for r in await in_db_thread(rows)(chat)] == ["customer", "system"]


@pytest.mark.slow
async def test_never_a_bot_row_after_the_claim_in_200_rounds(ada, sam):
    for n in range(200):
        chat = await in_db_thread(conversations.start)(ada.pk, now=NOW, verified=True)
        engine = Scripted([(n % 20) / 1000 + 0.0001, SmallTalk("fine")])
        turn = asyncio.create_task(told(chat.pk, "hello there", engine=engine))
        await asyncio.sleep((n % 13) / 700)
        await in_db_thread(conversations.take_over)(chat.pk, staff=sam, now=NOW)
        await turn

        said = [r[0] for r in await in_db_thread(rows)(chat)]
        claimed = said.index("system")
        assert "bot" not in said[claimed:], n


async def test_the_bot_is_silent_while_a_person_has_it(chat, sam):
    await in_db_thread(conversations.take_over)(chat.pk, staff=sam, now=NOW)

    await told(chat.pk, "what are your opening hours?", engine=chatty())

    assert [r[0] for r in await in_db_thread(rows)(chat)] == ["system", "customer"]


class TestHandOver:
    async def test_what_nobody_answered_goes_to_a_person_once(self, chat, answers):
        await told(chat.pk, "How long should I wait before rinsing after an extraction?")

        question = await in_db_thread(Question.objects.get)()
        assert question.text == "How long should I wait before rinsing after an extraction?"
        await sync_to_async(chat.refresh_from_db)()
        assert chat.handler == Conversation.Handler.WAITING
        assert await in_db_thread(states)(chat) == ["queued"]

    async def test_a_second_unknown_question_joins_the_first(self, chat, answers):
        await told(chat.pk, "How long should I wait before rinsing after an extraction?")
        await told(chat.pk, "Do you make house calls on the island?")

        assert await in_db_thread(Escalation.objects.count)() == 1
        assert await in_db_thread(Question.objects.count)() == 2

    async def test_while_it_waits_the_bot_answers_what_it_knows(self, chat, answers, stored_answer):
        await told(chat.pk, "Do you make house calls on the island?")
        known = RINSE.__class__(**{**_values(RINSE), "answer_id": stored_answer.pk})
        answers(AnswerFor("deliver", (known,)))

        await told(chat.pk, "How long should I wait before rinsing after an extraction?")

        assert (await in_db_thread(rows)(chat))[-1] == ("bot", "answer", RINSE.parts[0])

    async def test_no_loop_after_a_person_gave_it_back(self, chat, answers, sam):
        await told(chat.pk, "Do you make house calls on the island?")
        await in_db_thread(conversations.take_over)(chat.pk, staff=sam, now=NOW)
        await in_db_thread(Escalation.objects.update)(closed_at=NOW)
        await in_db_thread(conversations.release)(chat.pk, now=NOW, state="resolved")

        await told(chat.pk, "ok thanks")

        await sync_to_async(chat.refresh_from_db)()
        assert chat.handler == Conversation.Handler.BOT
        assert await in_db_thread(Question.objects.count)() == 1

    async def test_two_at_once_are_one(self, chat):
        recorded = await in_db_thread(conversations.record_customer_message)(
            chat.pk, client_id="c", text="house calls?", now=NOW
        )
        step = {"question": "house calls?", "question_seq": recorded.message.seq}
        hand = in_db_thread(handoff.hand_over)

        done = await asyncio.gather(
            *(hand(chat.pk, reason="no_answer", now=NOW, **step) for _ in range(4))
        )

        assert sorted(done) == [False, False, False, True]
        assert await in_db_thread(Question.objects.count)() == 1

    async def test_the_button_asks_for_what_was_said_last(self, chat, answers):
        await told(chat.pk, "hello there", engine=chatty())

        await run(turns.take_turn(chat.pk, Person("p"), now=NOW))
        await run(turns.take_turn(chat.pk, Person("p"), now=NOW))

        escalation = await in_db_thread(Escalation.objects.get)()
        assert escalation.reason == "asked"


class TestFailure:
    @pytest.mark.parametrize(
        "script",
        [
            [Unavailable("429")],
            [RuntimeError("a bug")],
            [],
            [TextDelta("half a")],
            [TextDelta("half a"), Unavailable("stream broke")],
        ],
    )
    async def test_of_the_engine_leads_to_a_person_with_the_reason(self, chat, script):
        await told(chat.pk, "what are your opening hours?", engine=Scripted(script))

        escalation = await in_db_thread(Escalation.objects.get)()
        assert escalation.reason == "model"
        assert escalation.detail
        said = await in_db_thread(rows)(chat)
        assert not any("half a" in r[2] for r in said)

    async def test_an_engine_that_takes_too_long_leads_to_a_person(self, chat, settings):
        settings.CHAT_TURN_SECONDS = 0.2

        await told(chat.pk, "what are your opening hours?", engine=Scripted([30.0]))

        assert (await in_db_thread(Escalation.objects.get)()).reason == "model"

    async def test_the_next_engine_answers_where_the_first_is_away(self, chat):
        engines = [Scripted([Unavailable("down")]), chatty()]

        frame = say("hello there")
        await run(turns.take_turn(chat.pk, frame, now=NOW, with_engines=engines))

        turn = await in_db_thread(Turn.objects.get)()
        assert turn.outcome == "small_talk"
        assert turn.trace["failures"] == ["scripted: down"]

    async def test_a_closed_conversation_says_so(self, chat):
        await told(chat.pk, "hello there", engine=chatty())
        await in_db_thread(conversations.close)(chat.pk, reason="ended", now=NOW)

        events = await told(chat.pk, "one more", engine=chatty())

        assert isinstance(events[0], Failed)


class TestEmergency:
    @pytest.fixture(autouse=True)
    def words(self, db):
        Business.objects.update_or_create(
            pk=1,
            defaults={
                "emergency_words": ["can't breathe", "bleeding that won't stop"],
                "emergency_text": "Call 112 now.",
            },
        )

    async def test_is_told_and_handed_over(self, chat):
        await told(chat.pk, "help, I can't breathe")

        assert (await in_db_thread(rows)(chat))[1][2] == "Call 112 now."
        assert (await in_db_thread(Escalation.objects.get)()).reason == "emergency"

    async def test_also_with_the_button_that_asks_for_a_person(self, chat):
        asked = Person("p1", "help, I can't breathe")

        await run(turns.take_turn(chat.pk, asked, now=NOW))

        assert (await in_db_thread(rows)(chat))[1][2] == "Call 112 now."
        assert (await in_db_thread(Escalation.objects.get)()).reason == "emergency"

    async def test_also_while_a_person_has_it(self, chat, sam):
        await in_db_thread(conversations.take_over)(chat.pk, staff=sam, now=NOW)

        await told(chat.pk, "help, I can't breathe")

        assert "Call 112 now." in [r[2] for r in await in_db_thread(rows)(chat)]
        await sync_to_async(chat.refresh_from_db)()
        assert chat.handler == Conversation.Handler.STAFF

    async def test_also_while_it_waits(self, chat, answers):
        await told(chat.pk, "Do you make house calls on the island?")

        await told(chat.pk, "help, I can't breathe")

        assert "Call 112 now." in [r[2] for r in await in_db_thread(rows)(chat)]

    @pytest.mark.parametrize(
        "text",
        ["that joke is killing me 😂", "I'm dying to know the price of the big one", "ok thanks"],
    )
    async def test_a_figure_of_speech_is_none(self, chat, answers, text):
        await told(chat.pk, text)

        assert "Call 112 now." not in [r[2] for r in await in_db_thread(rows)(chat)]


class TestOffers:
    @pytest.fixture
    def offer(self, chat, stored_answer):
        match = AnswerMatch.objects.create(
            customer=chat.customer,
            asked="when rinse",
            asked_normalised="when rinse",
            outcome="open",
            offered=[stored_answer.pk],
            created_at=NOW,
        )
        known = RINSE.__class__(**{**_values(RINSE), "answer_id": stored_answer.pk})
        found = AnswerFor("offer", (known,), match_id=match.pk)
        return found, Scripted([Offer((known,))])

    async def test_a_choice_brings_the_very_words_and_counts_as_a_vote(
        self, chat, answers, offer, stored_answer
    ):
        found, engine = offer
        answers(found)
        await told(chat.pk, "when rinse", engine=engine)

        pick = Choose("t1", 2, str(stored_answer.pk))
        await run(turns.take_choice(chat.pk, pick, now=NOW))

        said = await in_db_thread(rows)(chat)
        assert said[-1] == ("bot", "answer", RINSE.parts[0])
        assert await in_db_thread(
            AnswerMatch.objects.filter(outcome="chosen", answer=stored_answer).exists
        )()

    async def test_the_button_for_a_person_right_after_a_card_says_that_it_was_not_it(
        self, chat, answers, offer, stored_answer
    ):
        found, _ = offer
        answers(replace(found, way="deliver"))
        await told(chat.pk, "when rinse", engine=Scripted([Answer(found.candidates[0])]))

        await run(turns.take_turn(chat.pk, Person("p"), now=NOW))

        match = await in_db_thread(AnswerMatch.objects.get)(pk=found.match_id)
        assert match.outcome == "refused"

    async def test_something_else_hands_over_the_original_question(self, chat, answers, offer):
        found, engine = offer
        answers(found)
        await told(chat.pk, "when rinse", engine=engine)

        await run(turns.take_choice(chat.pk, Choose("t1", 2, "none"), now=NOW))

        question = await in_db_thread(Question.objects.get)()
        assert question.text == "when rinse"

    async def test_the_loser_of_two_tabs_is_told(self, chat, answers, offer, stored_answer):
        found, engine = offer
        answers(found)
        await told(chat.pk, "when rinse", engine=engine)
        await run(turns.take_choice(chat.pk, Choose("t1", 2, "none"), now=NOW))

        events = await run(
            turns.take_choice(chat.pk, Choose("t2", 2, str(stored_answer.pk)), now=NOW)
        )

        assert isinstance(events[0], Failed)
        assert events[0].code == "lapsed"


async def test_a_card_is_the_stored_words_byte_for_byte(chat, answers, stored_answer):
    known = RINSE.__class__(**{**_values(RINSE), "answer_id": stored_answer.pk})
    answers(AnswerFor("deliver", (known,)))

    await told(chat.pk, "rinse after an extraction, when?", engine=Scripted([Answer(known)]))

    card = await in_db_thread(chat.messages.get)(kind="answer")
    assert card.meta["parts"] == list(RINSE.parts)
    assert card.text == RINSE.parts[0]


async def test_a_request_to_forget_is_done_at_once(chat, monkeypatch):
    seen = []
    forgotten = services.Forgotten(("phone",), ("Phone number",), 1)
    monkeypatch.setattr(services, "forget", lambda *a, **k: seen.append(k) or forgotten)

    await told(chat.pk, "please forget my phone number")

    assert seen
    assert "Phone number" in (await in_db_thread(rows)(chat))[-1][2]


async def test_what_needs_a_human_says_so_to_both_sides(chat):
    need = NeedsHuman("personal", detail="allergy", wording="personal")

    await told(chat.pk, "can I take ibuprofen", engine=Scripted([need]))

    escalation = await in_db_thread(Escalation.objects.get)()
    assert (escalation.reason, escalation.detail) == ("personal", "allergy")
    assert (await in_db_thread(Message.objects.filter(sender="bot").count)()) == 1


def _values(candidate):
    return {f: getattr(candidate, f) for f in candidate.__dataclass_fields__}
