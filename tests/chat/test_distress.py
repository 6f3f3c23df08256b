"""Strong pain or distress goes to a person, in any trade; a question about pain does not."""

import pytest
from asgiref.sync import async_to_sync

from chat import agent
from chat.llm.answering import from_answers
from chat.llm.base import Answer, Situation
from chat.llm.distress import in_distress
from chat.llm.intents import Kind, Reading
from chat.llm.openai import Generative
from chat.llm.verbatim import Verbatim
from chat.models import Business, Turn
from escalations.models import Escalation
from memory.llm.openai import OpenAIChat
from memory.types import AnswerFor, Category, Fact
from tests.chat.conftest import RINSE, told
from tests.factories import NOW
from tests.llm_server import ScriptedServer

IN_PAIN = [
    "my tooth hurts a lot",
    "I'm in agony",
    "I'm in so much pain since this morning",
    "the pain is unbearable",
    "My back is killing me since the last class",
    "it really hurts, what can I do?",
    "I can't sleep because of the pain",
    "terrible toothache, can't stand the pain",
    "my son is crying in pain",
    "I've got a severe headache after your massage",
    "I have strong pain after the extraction, how long will it hurt?",
    "Will it hurt? My knee is killing me right now",
    "the toothache is getting unbearable",
    "pain is 9/10 now",
    "I'm at my wits' end with this, please",
    "I can't take this any more",
    "my stitches hurt so badly omg",
    "me duele mucho la muela",
    "ich habe starke Zahnschmerzen",
    "j'ai très mal aux dents",
]
NOT_IN_PAIN = [
    "how long will it hurt after an extraction?",
    "Does whitening hurt a lot?",
    "Will I be in a lot of pain after the implant?",
    "What helps against severe pain after surgery?",
    "what should I do if I have severe pain after hours?",
    "I'm terrified of the drill",
    "I'm scared it will hurt a lot",
    "your prices are killing me",
    "the wait is killing me",
    "this app is a pain to set up",
    "I'm desperate to get an appointment before Friday",
    "is it normal that it hurts a bit when I chew?",
    "my tooth hurt a lot last year",
    "It doesn't hurt a lot any more",
    "it hurt a lot yesterday but the pain is gone now",
    "My friend had terrible pain after hers, is that normal?",
    "late fees hurt my budget a lot",
    "I had severe pain after my last filling, please go slowly",
    "thanks a lot, that helped",
]


@pytest.mark.parametrize("text", IN_PAIN)
def test_says_that_it_hurts_now(text):
    assert in_distress(text)


@pytest.mark.parametrize("text", NOT_IN_PAIN)
def test_asks_about_pain_or_tells_of_another_time_or_means_none(text):
    assert not in_distress(text)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["offer", "deliver", "gap"])
@pytest.mark.parametrize("text", [IN_PAIN[0], IN_PAIN[1], IN_PAIN[10]])
def test_a_person_is_asked_whatever_is_stored_and_no_emergency_is_made_of_it(
    chat, answers, settings, text, way
):
    settings.CHAT_BURST_MS = 0
    answers(AnswerFor(way, () if way == "gap" else (RINSE,)))

    async_to_sync(told)(chat.pk, text)

    chat.refresh_from_db()
    assert chat.handler == "waiting"
    assert Escalation.objects.get().reason == "distress"
    assert not chat.messages.filter(meta__emergency=True).exists()
    assert "sorry" in chat.messages.get(seq=2).text


@pytest.mark.django_db(transaction=True)
def test_a_covered_question_about_pain_is_answered(chat, answers, settings):
    settings.CHAT_BURST_MS = 0
    answers(AnswerFor("deliver", (RINSE,)))

    async_to_sync(told)(chat.pk, "how long will it hurt after an extraction?")

    assert Turn.objects.get().outcome == "answered"


async def test_a_model_is_not_asked_whether_somebody_in_pain_needs_a_person():
    reading = Reading(Kind.STATEMENT, "", distress=True)
    situation = Situation(text=IN_PAIN[0], reading=reading, answer=AnswerFor("offer", (RINSE,)))
    outcome = agent.Outcome()
    with ScriptedServer() as server:
        model = OpenAIChat(model="m", api_key="k", base_url=server.url)
        async for _ in agent.run(situation, outcome, engines=[Generative(model), Verbatim()]):
            pass

        assert server.journal == []
    assert outcome.needs.wording == "distress"
    assert not any(isinstance(move, Answer) for move in outcome.moves)


@pytest.mark.django_db(transaction=True)
def test_it_is_an_emergency_where_the_business_says_so(chat, settings):
    settings.CHAT_BURST_MS = 0
    Business.objects.update_or_create(
        pk=1, defaults={"emergency_words": ["in agony"], "emergency_text": "Call 555-0111."}
    )

    async_to_sync(told)(chat.pk, "I'm in agony")

    assert chat.messages.filter(meta__emergency=True).exists()


def test_two_facts_of_one_topic_are_named_once_as_the_reason():
    hers = {"customer_id": 1, "topic": "allergies", "label": "Allergies", "value": ""}
    hers |= {"category": Category.CONFIRMED_FACT, "stated_at": NOW}
    facts = tuple(Fact(id=n, text=text, **hers) for n, text in enumerate(("latex", "nickel")))
    answer = AnswerFor("gap", blocked=facts)

    _moves, need = from_answers(
        Situation(text="Do you use latex?", reading=Reading(Kind.QUESTION, ""), answer=answer)
    )

    assert need.detail == "Allergies"
