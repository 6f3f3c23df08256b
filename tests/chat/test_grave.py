"""What is grave about her is held against every answer, from the moment in which she says it."""

import pytest
from asgiref.sync import sync_to_async

from chat.llm import prompt
from chat.llm.base import Situation
from chat.llm.intents import Kind, Reading
from chat.turns import in_db_thread
from config.demo.topics import TOPICS
from escalations.models import Escalation
from memory import services
from memory.types import AnswerCandidate, AnswerFor, Category, Fact
from tests.chat.conftest import told
from tests.factories import NOW, make_topic

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "Take ibuprofen after the meal, and cool your cheek."


@pytest.fixture(autouse=True)
def practice(db, settings):
    settings.CHAT_BURST_MS = 0
    for topic in TOPICS:
        make_topic(**topic)
    services.add_answer(
        title="What helps against the pain?", parts=[WORDS], by="staff:1", role="dentist", now=NOW
    )


async def said(chat, *texts):
    for n, text in enumerate(texts):
        await told(chat.pk, text, client_id=f"c{n}")
    shown = await sync_to_async(lambda: list(chat.messages.exclude(sender="customer")))()
    return [m for m in shown if m.kind in ("answer", "offer")]


async def test_the_answer_is_given_to_who_has_said_nothing(chat):
    (card,) = await said(chat, "What helps against the pain?")

    assert card.text == WORDS


@pytest.mark.parametrize(
    "texts",
    [
        ["I'm allergic to ibuprofen. What helps against the pain?"],
        ["I'm allergic to ibuprofen.", "What helps against the pain?"],
        ["I get hives from ibuprofen, is that bad?", "What helps against the pain?"],
        ["I'm allergic to ibuprofen.", "Where do I park?", "What helps against the pain?"],
    ],
)
async def test_told_in_this_chat_it_brings_a_person(chat, texts):
    assert await said(chat, *texts) == []

    escalation = await in_db_thread(Escalation.objects.get)()
    asked = await sync_to_async(lambda: list(escalation.questions.all()))()
    assert asked[-1].reason == "personal"


def test_a_model_does_not_see_the_answer_that_it_must_not_give():
    fact = Fact(None, 1, "allergies", "Allergies", Category.CONFIRMED_FACT, "…", "ibuprofen", NOW)
    answer = AnswerCandidate(1, "Pain?", (WORDS,), "dentist", "", NOW, 0.9)
    found = AnswerFor("gap", (answer,), blocked=(fact,))

    (_, asked) = prompt.prompt_for(Situation("?", Reading(Kind.QUESTION, ""), answer=found))

    assert "cool your cheek" not in asked["content"]
