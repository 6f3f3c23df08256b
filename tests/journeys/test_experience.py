"""What was tried with her and what worked comes up when she asks the like again."""

import json

import pytest

from chat import conversations
from chat.models import Turn
from chat.turns import in_db_thread
from escalations import claim, reply
from escalations.capture import Keep
from memory import services
from memory.models import AnswerMatch, Memory
from tests.chat import with_model as scripted
from tests.chat.conftest import told
from tests.chat.with_model import decide
from tests.escalations.conftest import ask, queue  # noqa: F401
from tests.factories import NOW, make_customer, make_staff
from tests.llm_server import ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = "the heating will not start, what do I do?"
AGAIN = "what can I do when the heating does not start?"
LIKE = "my heating won't start, what should I do"
OTHER = "do you sell garden chairs?"
WORKED = "What worked: the answer to “Which fuse is for the heating?”"


@pytest.fixture
def ada(db):
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def chat(ada):
    return conversations.start(ada.pk, now=NOW, verified=True)


def add(title):
    return services.add_answer(title=title, parts=["Like this."], by="staff:1", now=NOW)


@pytest.fixture
def bleed(db):
    return add("How do I bleed a radiator?")


@pytest.fixture
def fuse(db):
    return add("Which fuse is for the heating?")


def turned_down(customer, text, answer):
    """She asked this, was shown that, and did not mean it."""
    match = services.answer_for(text, customer_id=customer.pk, now=NOW).match_id
    AnswerMatch.objects.filter(pk=match).update(offered=[answer.pk], outcome="open")
    services.confirm_match(match, outcome="something_else", customer_id=customer.pk, now=NOW)
    return match


def given(customer, text, answer):
    match = services.answer_for(text, customer_id=customer.pk, now=NOW).match_id
    AnswerMatch.objects.filter(pk=match).update(answer=answer, outcome="delivered")
    return match


def experiences():
    return list(Memory.objects.filter(kind="experience").values_list("text", flat=True))


@pytest.fixture
def learnt(ada, bleed, fuse):
    turned_down(ada, FIRST, bleed)
    services.helped(given(ada, AGAIN, fuse), event="accepted", now=NOW)
    assert WORKED in experiences()[0]


@pytest.mark.parametrize(("text", "known"), [(LIKE, True), (OTHER, False)])
async def test_it_is_among_the_facts_of_the_next_like_question(chat, learnt, settings, text, known):
    with ScriptedServer() as server:
        scripted.use(settings, server)
        server.on(tool=("probe", {"ok": True}), offers_tool="probe")
        scripted.needs_past(server, False)  # asked, it would say: anybody might ask that
        decide(server, "hand_over", text="nobody knows")

        await told(chat.pk, text)

        data = json.loads(scripted.asked(server)[-1]["messages"][1]["content"])
        server.check()
    assert any(WORKED in f["fact"] for f in data["facts"]) is known


async def test_without_a_model_the_receipt_names_it(chat, learnt):
    await told(chat.pk, LIKE)

    trace = (await in_db_thread(Turn.objects.get)()).trace
    [experience] = [m async for m in Memory.objects.filter(kind="experience")]
    seen = [f["id"] for f in (*trace["facts"], *trace["facts_rejected"])]
    assert experience.pk in seen
    assert trace["gate"]["passed"]


async def test_a_thumb_up_after_a_second_try_is_one(chat, ada, bleed, fuse):
    def tries():
        turned_down(ada, FIRST, bleed)
        match = given(ada, AGAIN, fuse)
        Turn.objects.create(
            conversation=chat, question_seq=1, outcome="answered", created_at=NOW,
            trace={"answer": {"match_id": match, "used": [fuse.pk]}},
        )  # fmt: skip

    await in_db_thread(tries)()
    await in_db_thread(conversations.rate)(chat.pk, score=-1, now=NOW)
    assert await in_db_thread(experiences)() == []

    await in_db_thread(conversations.rate)(chat.pk, score=1, now=NOW)

    assert WORKED in (await in_db_thread(experiences)())[0]


def test_what_a_person_answered_in_its_place_is_one(ada, bleed, ask):  # noqa: F811
    escalation = ask(ada, FIRST, match_id=turned_down(ada, FIRST, bleed))
    sam = make_staff("sam")
    claim.claim(escalation.pk, staff=sam, now=NOW)
    words = "Check that the main switch is on."
    said = reply.send(escalation.pk, staff=sam, text=words, seen_seq=None, now=NOW)
    title = "What if the heating does not start?"
    question = escalation.questions.get()
    keep = Keep("everyone", (said.seq,), title, question_id=question.pk)

    reply.resolve(escalation.pk, staff=sam, now=NOW, keep=[keep])

    assert experiences() == [
        f"Tried: the answer to “How do I bleed a radiator?”\nWhat worked: the answer to “{title}”"
    ]
