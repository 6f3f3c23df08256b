"""What has happened and a person must know of is passed on; a bit of news is answered kindly."""

import pytest

from chat.llm.base import Offer, Situation
from chat.llm.intents import Kind, Reading
from chat.llm.verbatim import decide
from chat.models import Turn
from chat.turns import in_db_thread
from escalations.models import Escalation
from memory.types import AnswerCandidate, AnswerFor
from tests.chat.conftest import told
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_wait(settings):
    settings.CHAT_BURST_MS = 0


# None of these is among the messages that the classifier learns from.
REPORTS = [
    "I can't make it tomorrow",
    "I'm running ten minutes late",
    "we won't need the second room after all",
    "my flight was cancelled so we arrive a day later",
    "nobody called me back",
    "I never got the invoice",
    "you overcharged me",
    "you sent me someone else's bill",
    "the heating broke down again",
    "my password stopped working",
    "the parcel is damaged",
    "the link doesn't work",
    "I've been waiting for forty minutes",
    "the gate is locked and I can't get in",
    "I'm quite disappointed with the service",
    "this is a complaint",
    "it still hurts",
    "I've lost the key you gave me",
    "your colleague promised to ring me last week and never did",
    "I was told somebody would be here at nine",
]
NEWS = [
    "we just came back from the coast, lovely",
    "I'm on the train right now",
    "long day today",
    "the cake was delicious",
    "it's my birthday tomorrow",
    "traffic was horrible but I made it",
    "you explained that really well",
    "I'll read that later",
    "glad that's sorted",
    "my coffee's gone cold, never mind",
    "the snow is finally melting",
]


@pytest.mark.parametrize("text", REPORTS)
async def test_a_report_goes_to_a_person(chat, text):
    await told(chat.pk, text)

    assert await in_db_thread(Escalation.objects.count)() == 1


@pytest.mark.parametrize("text", NEWS)
async def test_news_that_asks_for_nothing_fetches_nobody(chat, text):
    await told(chat.pk, text)

    turn = await in_db_thread(Turn.objects.get)()
    assert (turn.outcome, await in_db_thread(Escalation.objects.count)()) == ("small_talk", 0)


@pytest.mark.parametrize(("likely", "moves", "person"), [(0.25, [], True), (0.6, [Offer], False)])
def test_a_report_is_offered_an_answer_only_if_that_is_likely_the_one(likely, moves, person):
    answer = AnswerCandidate(7, "Can I pay later?", ("Yes.",), "desk", "Kim", NOW, likely)
    reading = Reading(Kind.REPORT, "", {Kind.REPORT.value: 0.9})

    found, need = decide(
        Situation("nobody called me back", reading, answer=AnswerFor("offer", (answer,)))
    )

    assert [type(m) for m in found] == moves
    assert (need is not None) == person
