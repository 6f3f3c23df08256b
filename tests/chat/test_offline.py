"""The bot without a key, with all of memory behind it: a hotel, so that no trade is built in."""

import json

import pytest
from asgiref.sync import sync_to_async

from chat import conversations, listening
from chat.llm import verbatim
from chat.llm.base import Recall, Situation
from chat.llm.base import Topic as Topic_
from chat.llm.intents import Kind, Reading
from chat.management.evaluation import turns as suite
from chat.models import Message, Turn, Wording
from chat.turns import in_db_thread
from escalations.models import Escalation
from memory import services
from memory.management.evaluation import form
from memory.models import Memory, Note, Topic
from memory.types import AnswerCandidate, AnswerFor, Category, Fact
from tests.chat.conftest import told
from tests.factories import NOW, make_topic

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def hotel(db, settings):
    settings.CHAT_BURST_MS = 0
    room = make_topic(
        "room",
        category="preference",
        label="Preferred room",
        description="The kind of room or floor that the guest likes.",
        examples=["a quiet room please", "I like the top floor", "a room to the garden"],
    )
    make_topic(
        "phone",
        label="Phone number",
        description="The number at which the guest can be reached.",
        examples=["my number is 555 0142", "new mobile: 555 0188"],
    )
    return room


def last(chat):
    return chat.messages.exclude(kind="state").order_by("-seq").first()


async def said(chat, text, **fields):
    await told(chat.pk, text, **fields)
    row = await in_db_thread(last)(chat)
    turn = await in_db_thread(Turn.objects.order_by("-pk").first)()
    return row.text, turn.outcome


def remembered(customer, topic, text, value, status="active"):
    return Memory.objects.create(
        customer=customer,
        topic=topic,
        category=topic.category,
        single_valued=True,
        status=status,
        text=text,
        value=value,
        stated_at=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
    )


async def test_what_is_known_is_said_back(chat, ada, hotel):
    await sync_to_async(remembered)(ada, hotel, "A quiet room to the garden.", "a quiet room")

    text, outcome = await said(chat, "which kind of room do I like, according to you?")

    assert outcome == "recalled"
    assert "A quiet room to the garden." in text


@pytest.mark.parametrize("text", ["which room do I have?", "Which room am I on now?"])
async def test_a_plain_question_of_ones_own_is_no_question_for_everybody(chat, ada, hotel, text):
    await sync_to_async(remembered)(ada, hotel, "A quiet room to the garden.", "a quiet room")

    said_back, outcome = await said(chat, text)

    assert (outcome, "A quiet room to the garden." in said_back) == ("recalled", True)


async def test_a_note_does_not_ask_for_what_is_known(chat, ada, hotel):
    await sync_to_async(remembered)(ada, hotel, "A quiet room to the garden.", "a quiet room")
    question = "can I come in for a weekend next month?"
    await sync_to_async(services.save_note)(
        by="staff:1",
        now=NOW,
        title="Booking",
        topic=hotel,
        examples=[question],
        text="You like {room}. A person writes here.",
        hands_over=True,
    )

    text, _ = await said(chat, question)

    assert text == "You like a quiet room. A person writes here."


async def test_an_honest_gap_is_asked_and_the_reply_remembered_at_once(chat, ada):
    text, outcome = await said(chat, "which kind of room do I like?")
    assert outcome == "asked"
    assert text == ("I do not have a record of your preference for this, could you remind me?")

    _, outcome = await said(chat, "I like a room on the top floor")
    assert outcome == "noted"
    assert await in_db_thread(Memory.objects.filter(customer=ada, topic__key="room").exists)()

    text, outcome = await said(chat, "so which kind of room do I like?", client_id="again")
    assert outcome == "recalled"
    assert "top floor" in text


async def test_a_gap_is_honest_right_after_something_else_was_noted(chat, ada):
    """Plain words name a topic too, and not only what the reply before them was about."""
    await in_db_thread(make_topic)(
        "arrival",
        category="preference",
        label="Preferred times",
        description="When the guest likes to come.",
        examples=["I come in the evening", "I like to come early"],
    )
    await said(chat, "My number is 555 0142")

    text, outcome = await said(chat, "When do I like to come?")

    assert "555 0142" not in text
    assert outcome == "asked"


async def test_an_experts_question_is_never_asked_back(chat):
    _, outcome = await said(chat, "is the mole on my arm dangerous?")

    assert outcome == "handed_over"


async def test_small_talk_opens_nothing(chat):
    for n, text in enumerate(["hi", "ok thanks", "👍", "bye now"]):
        _, outcome = await said(chat, text, client_id=f"s{n}")
        assert outcome == "small_talk"

    assert not await in_db_thread(Escalation.objects.exists)()


async def test_what_do_you_know_about_me(chat, ada, hotel):
    text, _ = await said(chat, "What do you know about me?")
    assert "not noted anything" in text

    await sync_to_async(remembered)(ada, hotel, "A quiet room.", "quiet")
    text, _ = await said(chat, "What do you know about me?", client_id="again")
    assert "A quiet room." in text


async def test_forgets_on_request(chat, ada, hotel):
    memory = await sync_to_async(remembered)(ada, hotel, "A quiet room.", "a quiet room")

    text, outcome = await said(chat, "please forget which room I prefer")

    await sync_to_async(memory.refresh_from_db)()
    assert outcome == "forgot"
    assert memory.status == "forgotten"
    assert "Preferred room" in text


@pytest.mark.parametrize(
    "text",
    [
        "please remove my phone number from my record",
        "could you wipe my phone number, the quiet room was for my son",
    ],
)
async def test_what_else_is_known_stays_where_one_thing_is_to_be_forgotten(chat, ada, hotel, text):
    phone = await sync_to_async(Topic.objects.get)(key="phone")
    await sync_to_async(remembered)(ada, hotel, "A quiet room to the garden.", "a quiet room")
    await sync_to_async(remembered)(ada, phone, "My number is 555 0142.", "555 0142")

    _, outcome = await said(chat, text)

    left = await sync_to_async(list)(Memory.objects.filter(status="active").values("topic__key"))
    assert (outcome, left) == ("forgot", [{"topic__key": "room"}])


async def test_the_number_of_an_order_is_none_of_hers(chat, ada, hotel):
    await told(chat.pk, "please cancel order 55102")

    turn = await in_db_thread(Turn.objects.order_by("-pk").first)()
    assert (turn.outcome, turn.trace["told"]) == ("handed_over", [])


async def test_a_note_is_filled_and_the_desk_gets_the_request(chat, ada, hotel):
    await sync_to_async(remembered)(ada, hotel, "A quiet room.", "a quiet room")
    await sync_to_async(Note.objects.create)(
        title="Booking again",
        examples=["I'd like to book again", "can I book a room for May"],
        topic=hotel,
        text="How nice. I ask for {room}, as you like it.",
        updated_at=NOW,
    )

    text, _ = await said(chat, "I'd like to book a room for May again")

    escalation = await in_db_thread(Escalation.objects.get)()
    assert text == "How nice. I ask for a quiet room, as you like it."
    assert escalation.reason == "request"
    told = {"topic": hotel.key, "sensitive": False}  # by which the desk hides, whatever its label
    assert escalation.request["facts"][0] == {"label": hotel.label, "text": "A quiet room."} | told


async def test_braces_in_a_customers_words_fill_no_other_slot(chat, ada, hotel):
    plan = await sync_to_async(make_topic)("plan")
    await sync_to_async(remembered)(ada, plan, "Acorn.", "Acorn")
    await sync_to_async(remembered)(ada, hotel, "A {plan} room.", "a {plan} room")
    await sync_to_async(Note.objects.create)(
        title="Booking again",
        examples=["I'd like to book again", "can I book a room for May"],
        topic=hotel,
        text="I ask for {room} now.",
        updated_at=NOW,
    )

    text, _ = await said(chat, "I'd like to book a room for May again")

    assert "Acorn" not in text


async def test_a_business_words_its_own_sentences(chat):
    await sync_to_async(Wording.objects.create)(key="greeting", variants=["Ahoy!"])

    text, _ = await said(chat, "hello")

    assert text == "Ahoy!"


async def test_ben_never_hears_what_ada_said(ada, ben, hotel):
    await sync_to_async(remembered)(ada, hotel, "A quiet room.", "a quiet room")
    chat = await in_db_thread(conversations.start)(ben.pk, now=NOW, verified=True)

    texts = [
        (await said(chat, text, client_id=str(n)))[0]
        for n, text in enumerate(
            ["What do you know about me?", "which room do I like?", "what did ada tell you?"]
        )
    ]

    assert "quiet" not in " ".join(texts)


HEADER = {
    "topics": [],
    "timezone": "UTC",
    "now": "2026-06-10T10:30:00+00:00",
    "emergency": ["fire"],
}


def test_the_suite_names_the_line_that_breaks_the_form(tmp_path):
    file = tmp_path / "x.turns.jsonl"
    file.write_text(json.dumps(HEADER) + '\n{"id": "t1", "text": "hi"}\n')

    with pytest.raises(form.FormError, match="line 2"):
        suite.read(file)


def test_the_suite_says_what_the_bot_did(tmp_path):
    cases = [
        {"id": "t1", "text": "hi", "expected": ["small_talk"]},
        {
            "id": "t2",
            "stored": [{"id": "s1", "question": "When is breakfast?", "answer": "At seven."}],
            "text": "When is breakfast?",
            "expected": ["answer:s1"],
        },
        {"id": "t3", "text": "there is fire in the hall", "expected": ["emergency"]},
        {"id": "t4", "text": "do you rent out kites?", "expected": ["person"]},
    ]
    file = tmp_path / "x.turns.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [HEADER, *cases]))

    out = suite.run(suite.read(file), lambda line: None)

    assert [o["did"] for o in out["outcomes"]] == ["small_talk", "answer:s1", "emergency", "person"]
    assert (out["turns"], out["right"]) == (4, 4)


def test_the_suite_counts_an_answer_that_is_shown_beside_a_fact_that_is_noted(tmp_path):
    case = {
        "id": "t1",
        "stored": [{"id": "s1", "question": "When is breakfast?", "answer": "At seven."}],
        "text": "My new mobile is 555 0142. When is breakfast?",
        "expected": ["answer:s1"],
    }
    file = tmp_path / "x.turns.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [HEADER, case]))

    out = suite.run(suite.read(file), lambda line: None)

    assert (out["outcomes"][0]["did"], out["right"]) == ("note:phone", 1)


@pytest.mark.parametrize(("sure", "confirmed"), [(0.6, False), (0.9, True)])
def test_what_led_up_to_a_question_is_confirmed_only_if_its_topic_is_clear(sure, confirmed):
    words = "We have moved to the garden wing. Can I bring my dog?"
    message = Message(seq=1, text=words)
    candidate = {"seq": 1, "quote": "We have moved to the garden wing", "sure": sure}
    reading = Reading(Kind.QUESTION, "", asks=True)

    assert listening._is_told(candidate, [message], reading, answering=False) is confirmed


def test_a_request_that_no_answer_comes_near_is_passed_on_as_one(hotel):
    far = AnswerCandidate(1, "Is there a pool?", ("Yes.",), "reception", "Sam", NOW, score=0.1)
    wish = Situation(
        "I would like to book a table",
        Reading(Kind.REQUEST, ""),
        answer=AnswerFor("offer", (far,)),
    )

    moves, need = verbatim.decide(wish)

    assert (moves, need.reason, need.wording) == ([], "request", "request")


def test_what_would_do_by_itself_is_offered_alone(hotel):
    """The others were not compared with what is known of her, and no choice of them could count."""
    near, other = (
        AnswerCandidate(
            n, "When is breakfast?", ("From seven.",), "reception", "Sam", NOW, score=0.6
        )
        for n in (1, 2)
    )
    said = Situation(
        "the breakfast times, then",
        Reading(Kind.STATEMENT, "", asks=True),
        answer=AnswerFor("deliver", (near, other)),
    )

    [offer], need = verbatim.decide(said)

    assert need is None
    assert [c.answer_id for c in offer.candidates] == [1]


def test_a_title_far_below_the_best_is_left_out_of_an_offer(hotel):
    near, other, far = (
        AnswerCandidate(n, "When is breakfast?", ("At 7.",), "reception", "Sam", NOW, score=score)
        for n, score in ((1, 0.46), (2, 0.05), (3, 0.004))
    )
    said = Situation(
        "when do I get my eggs",
        Reading(Kind.QUESTION, "", asks=True),
        answer=AnswerFor("offer", (near, other, far)),
    )

    [offer], _ = verbatim.decide(said)

    assert [c.answer_id for c in offer.candidates] == [1, 2]


@pytest.mark.parametrize(("way", "recalled"), [("gap", True), ("offer", False)])
def test_what_is_known_is_said_where_the_question_names_it_and_no_answer_is_near(way, recalled):
    other = AnswerCandidate(1, "Is there a pool?", ("Yes.",), "reception", "Sam", NOW, score=0.4)
    told = Fact(7, 1, "room", "Room", Category.PREFERENCE, "A quiet room.", "quiet", NOW)
    said = Situation(
        "where will my bags be brought?",
        Reading(Kind.QUESTION, "", {"question": 0.9}, asks=True),
        named=(("room", 0.5),),
        topics=(Topic_("room", "Room", "", may_ask=True),),
        standing=(told,),
        answer=AnswerFor(way, (other,)),
    )

    moves, _ = verbatim.decide(said)

    assert [type(m) is Recall for m in moves] == [recalled]
