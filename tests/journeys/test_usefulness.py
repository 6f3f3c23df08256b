"""A reply rested on what a customer told; what came of it decides how long that is kept."""

from datetime import timedelta

import pytest

from chat import conversations
from chat.turns import in_db_thread
from escalations import tasks
from escalations.models import Escalation
from memory import services
from memory.models import Memory, MemoryEvent
from tests.chat.conftest import told
from tests.factories import NOW, make_conversation, make_customer, make_topic

pytestmark = pytest.mark.django_db(transaction=True)
WEEK = timedelta(days=7)


@pytest.fixture
def ada(db):
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def fact(ada):
    make_topic("insurance_plan", label="Insurance plan", cardinality="one", examples=["I'm with X"])
    return services.remember(
        ada.pk, topic="insurance_plan", value="Acorn", text="Plan: Acorn", by="staff:1", now=NOW
    )


@pytest.fixture
def chat(ada, fact):
    return conversations.start(ada.pk, now=NOW, verified=True)


async def asks(chat, now=NOW):
    await told(chat.pk, "What is my insurance plan?", now=now)


def useful(fact):
    return Memory.objects.get(pk=fact.pk).usefulness


def judged(time_machine, now):
    time_machine.move_to(now, tick=False)
    return tasks.judge_outcomes()


async def test_a_hundred_thumbs_up_are_one(chat, fact):
    await asks(chat)
    assert await in_db_thread(useful)(fact) == 0  # used, and no more

    for _ in range(100):
        await in_db_thread(conversations.rate)(chat.pk, score=1, now=NOW)

    assert await in_db_thread(useful)(fact) == pytest.approx(1 / 3)
    events = MemoryEvent.objects.filter(kind="outcome.helped")
    assert [e.actor async for e in events] == ["customer"]


async def test_a_thumb_down_takes_it_back(chat, fact):
    await asks(chat)
    await in_db_thread(conversations.rate)(chat.pk, score=1, now=NOW)

    await in_db_thread(conversations.rate)(chat.pk, score=-1, now=NOW)

    assert await in_db_thread(useful)(fact) == 0


async def test_a_chat_in_which_it_was_not_used_says_nothing_of_it(chat, fact):
    await told(chat.pk, "thank you, bye!")
    await in_db_thread(conversations.rate)(chat.pk, score=1, now=NOW)

    assert await in_db_thread(useful)(fact) == 0


async def test_silence_for_a_week_is_a_weaker_yes(chat, fact, time_machine):
    await asks(chat)

    assert await in_db_thread(judged)(time_machine, NOW + WEEK - timedelta(hours=1)) == 0
    assert await in_db_thread(judged)(time_machine, NOW + WEEK + timedelta(hours=1)) == 1
    assert await in_db_thread(judged)(time_machine, NOW + WEEK + timedelta(days=1)) == 0

    assert 0 < await in_db_thread(useful)(fact) < 1 / 3


async def test_not_if_she_came_back(chat, ada, fact, time_machine):
    await asks(chat)
    again = NOW + timedelta(days=3)
    await in_db_thread(make_conversation)(ada, started_at=again, last_message_at=again)

    assert await in_db_thread(judged)(time_machine, NOW + WEEK + timedelta(hours=1)) == 0


async def test_not_if_a_person_had_to_come(chat, fact, time_machine):
    await asks(chat)
    await Escalation.objects.acreate(conversation=chat, reason="asked", opened_at=NOW)

    assert await in_db_thread(judged)(time_machine, NOW + WEEK + timedelta(hours=1)) == 0
