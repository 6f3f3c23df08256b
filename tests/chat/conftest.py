"""The cast at the chat's door, and memory's answers put into its mouth where a test needs them."""

from datetime import UTC, datetime

import pytest

import escalations.receivers  # noqa: F401 - the desk takes what is handed over
from chat import conversations, turns
from chat.frames import Say
from chat.llm.base import SmallTalk
from chat.llm.scripted import Scripted
from memory import services
from memory.types import AnswerCandidate, AnswerFor
from tests.factories import NOW, make_customer, make_staff

RINSE = AnswerCandidate(
    answer_id=0,
    title="How long should I wait before rinsing after an extraction?",
    parts=("Wait 24 hours.  Then rinse gently.",),
    role="dental hygienist",
    author="Sam",
    said_on=datetime(2026, 2, 1, tzinfo=UTC),
    score=0.97,
)


@pytest.fixture
def ada(db):
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def ben(db):
    return make_customer("Ben", external_id="ben")


@pytest.fixture
def sam(db):
    return make_staff("sam")


@pytest.fixture
def chat(ada):
    return conversations.start(ada.pk, now=NOW, verified=True)


@pytest.fixture
def stored_answer(db):
    return services.add_answer(
        title=RINSE.title,
        parts=RINSE.parts,
        by="staff:1",
        author_name=RINSE.author,
        role=RINSE.role,
        now=NOW,
    )


@pytest.fixture
def answers(monkeypatch):
    """Say what the stored answers come to: answers(AnswerFor("gap"))."""

    def put(found: AnswerFor):
        monkeypatch.setattr(services, "answer_for", lambda *a, **k: found)

    put(AnswerFor("gap", reason="nobody answered this"))
    return put


def say(text, client_id=None):
    return Say(client_id or f"c-{abs(hash(text))}", text)


async def run(turn):
    return [event async for event in turn]


async def told(conversation_id, text, *, engine=None, now=NOW, client_id=None):
    """Take one message through a whole turn."""
    engines = [engine] if engine else None
    frame = say(text, client_id)
    return await run(turns.take_turn(conversation_id, frame, now=now, with_engines=engines))


def chatty():
    return Scripted([SmallTalk("fine")])
