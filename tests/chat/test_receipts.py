"""Why this answer: what was known, what of it was used, and what was left aside."""

import pytest
from django.test import Client
from django.utils import timezone

from chat.frames import Choose
from chat.models import Message, Turn
from chat.turns import in_db_thread, take_choice
from escalations.models import Escalation, Gap, Question
from memory import services
from memory.models import AnswerMatch
from tests.chat.conftest import run, told
from tests.factories import NOW, make_conversation, make_topic

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def facts(ada):
    def known(key, label, value, example):
        topic = make_topic(key, label=label, cardinality="one", examples=[example])
        services.remember(
            ada.pk, topic=topic.key, value=value, text=f"{label}: {value}", by="staff:1", now=NOW
        )

    known("insurance_plan", "Insurance plan", "Delta Dental", "I'm with Delta Dental")
    known("visit_time", "Visit time", "mornings", "I prefer to come in the mornings")
    known("parking", "Parking", "comes by bus", "I always come by bus")


def receipt():
    return Turn.objects.latest("pk").trace


def page(sam):
    desk = Client()
    desk.force_login(sam)
    return desk.get(f"/inbox/receipt/{Turn.objects.latest('pk').pk}/").content.decode()


async def test_names_what_the_reply_used_and_what_it_left_aside(chat, facts, sam):
    await told(chat.pk, "What is my insurance plan?")

    trace = await in_db_thread(receipt)()
    assert [f["topic"] for f in trace["facts"]] == ["insurance_plan"]
    assert trace["facts"][0]["score"] > 0
    assert {f["topic"] for f in trace["facts_rejected"]} == {"visit_time", "parking"}
    shown = await in_db_thread(page)(sam)
    used, left = shown.split("Facts that were looked at, and not used")
    assert "Insurance plan" in used
    assert "Visit time" in left
    assert "The built-in rules, no model" in left


async def test_says_of_a_reply_without_facts_that_none_was_used(chat, facts):
    await told(chat.pk, "Do you remember whether the lift is broken again?")

    assert (await in_db_thread(receipt)())["facts"] == []


class TestAChoice:
    @pytest.fixture
    def offered(self, db):
        for title, words in (
            ("When may I rinse after an extraction?", "After a day."),
            ("When may I eat after an extraction?", "After two hours."),
            ("Where can I park my car?", "Behind the building."),
        ):
            services.add_answer(title=title, parts=[words], by="staff:1", now=NOW)

    async def choose(self, chat, which):
        await told(chat.pk, "after an extraction, how soon may I rinse my mouth")
        offer = await in_db_thread(Message.objects.get)(kind="offer")
        choice = which(offer.meta["choices"])
        await run(take_choice(chat.pk, Choose("k", offer.seq, choice), now=NOW))

    async def test_shows_what_was_offered_and_which_was_taken(self, chat, offered, sam):
        await self.choose(chat, lambda choices: choices[0]["choice"])

        shown = await in_db_thread(page)(sam)
        assert "The customer chose" in shown
        assert "Likely enough to offer" in shown
        assert shown.count("badge--ok") == 1
        assert "chosen</span>" in shown
        assert "The past was not needed" in shown or "past was looked up" in shown

    async def test_shows_that_none_was_taken(self, chat, offered, sam):
        await self.choose(chat, lambda choices: "none")

        shown = await in_db_thread(page)(sam)
        assert "None of what was offered" in shown
        assert "badge--ok" not in shown


class TestWouldWeKnowItToday:
    @pytest.fixture
    def ask(self, ada):
        def asked(text):
            found = Escalation.objects.create(
                conversation=make_conversation(ada), reason="no_answer", opened_at=timezone.now()
            )
            Question.objects.create(
                escalation=found,
                text=text,
                reason="no_answer",
                asked_at=timezone.now(),
                gap=Gap.objects.create(title=text, opened_at=timezone.now()),
            )

        return asked

    @pytest.fixture
    def replay(self, sam):
        def shown():
            desk = Client()
            desk.force_login(sam)
            return desk.get("/inbox/replay/").content.decode()

        return shown

    def test_says_what_a_turn_would_do_now(self, ask, replay):
        ask("Where can I park my car?")
        ask("is there somewhere to put a car")
        ask("Do you sell bicycles made of bamboo?")
        for title in ("Where can I park my car?", "When are you open?", "Can I pay by card?"):
            services.add_answer(title=title, parts=["So."], by="staff:1", now=NOW)

        shown = replay()

        assert "Of 3 questions" in shown
        assert "1 would be given an answer at once now" in shown
        assert "1 would be offered one" in shown
        assert not AnswerMatch.objects.exists()

    def test_gives_no_answer_where_a_turn_fetches_a_person(self, ask, replay):
        said = "My back hurts so bad, I can't bear it"
        ask(said)
        services.add_answer(
            title="What helps against a sore back?", parts=["Warmth."], wordings=[said],
            by="staff:1", now=NOW,
        )  # fmt: skip

        shown = replay()

        assert "0 would be given an answer at once now, and 0 would be offered one" in shown

    def test_counts_no_answer_that_touches_what_she_told(self, ask, replay, ada):
        topic = make_topic("allergy", label="Allergies", sensitive=True, permanent=True)
        services.remember(
            ada.pk, topic=topic.key, value="ibuprofen", text="Allergic to ibuprofen",
            by="staff:1", now=NOW,
        )  # fmt: skip
        ask("What helps against the pain?")
        services.add_answer(
            title="What helps against the pain?", parts=["Take ibuprofen."], by="staff:1", now=NOW
        )

        shown = replay()

        assert "0 would be given an answer at once now" in shown
        assert "touches what the customer told us" in shown
