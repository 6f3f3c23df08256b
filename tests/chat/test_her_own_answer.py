"""What staff answered for her alone comes back to her as their very words, and to nobody else."""

import pytest
from asgiref.sync import sync_to_async

from chat import conversations, turns
from chat.frames import Choose
from chat.llm import prompt
from chat.llm.base import Situation
from chat.llm.intents import Kind, Reading
from memory import services
from memory.types import Category, Fact, Recalled
from tests.chat.conftest import run, told
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = "When will my bridge be ready?"
WORDS = "Yours lies here since noon, Ada.\u00a0 Come by – any time."


@pytest.fixture(autouse=True)
def kept(ada, sam, settings):
    settings.CHAT_BURST_MS = 0
    return services.capture_answer(
        title=ASKED,
        parts=[WORDS],
        scope="customer",
        customer_id=ada.pk,
        staff_id=sam.pk,
        role="dental hygienist",
        now=NOW,
    )


async def shown(chat, *kinds):
    rows = await sync_to_async(lambda: list(chat.messages.order_by("seq")))()
    return [m for m in rows if m.kind in (kinds or ("answer", "offer"))]


async def test_asked_again_it_is_a_card_with_role_and_date(chat):
    await told(chat.pk, ASKED)

    (card,) = await shown(chat)
    assert (card.kind, card.text) == ("answer", WORDS)
    assert (card.meta["role"], card.meta["said_on"]) == ("dental hygienist", NOW.isoformat())
    assert card.meta["answer_id"] is None


async def test_in_other_words_she_is_asked_and_gets_them_by_her_choice(chat):
    await told(chat.pk, "is my bridge ready by now?")
    (offer,) = await shown(chat, "offer")
    choice = offer.meta["choices"][0]
    assert choice["title"] == ASKED

    picked = Choose("pick", offer.seq, choice["choice"])
    await run(turns.take_choice(chat.pk, picked, now=NOW))

    (card,) = await shown(chat, "answer")
    assert card.text == WORDS
    await told(chat.pk, "is my bridge ready by now?", client_id="again")
    assert [m.text for m in await shown(chat, "answer")] == [WORDS, WORDS]


@pytest.mark.parametrize("text", [ASKED, "is my bridge ready by now?"])
async def test_another_customer_gets_a_person(ben, text):
    his = await sync_to_async(conversations.start)(ben.pk, now=NOW, verified=True)

    await told(his.pk, text)

    assert await shown(his) == []


async def test_another_customer_cannot_choose_it(ben, kept):
    his = await sync_to_async(conversations.start)(ben.pk, now=NOW, verified=True)
    await told(his.pk, "hello")

    await run(turns.take_choice(his.pk, Choose("x", 2, f"m{kept.pk}"), now=NOW))

    assert await shown(his) == []


def test_a_model_does_not_get_them_to_word_anew(ada):
    fact = Fact(1, ada.pk, None, "told by staff", Category.ESCALATION_ANSWER, WORDS, ASKED, NOW)
    asked = Situation("?", Reading(Kind.QUESTION, ""), recalled=Recalled(facts=(fact,)))

    assert WORDS not in prompt.prompt_for(asked)[1]["content"]
