"""What one message asks of the database: each thing once, however much is stored."""

import pytest

from chat import conversations, feed
from chat.steps import Turn
from memory import services
from tests.factories import NOW, make_topic

QUESTION = 14  # that a stored answer may serve


@pytest.fixture
def gather(chat, stored_answer, django_assert_max_num_queries):
    make_topic("insurance_plan", examples=["I am with Cigna"])

    def gathered(text, *, queries):
        """Say it twice: the first message of a process also fills what is kept between turns."""
        for n in range(2):
            said = conversations.record_customer_message(
                chat.pk, client_id=f"{n}", text=text, now=NOW
            )
            with django_assert_max_num_queries(queries if n else 100):
                asked = Turn(chat.pk, said.message, NOW).gather()
        return asked

    return gathered


def test_of_small_talk(gather):
    gather("thanks!", queries=6)


def test_of_a_question_about_oneself(gather, ada):
    services.remember(
        ada.pk, topic="insurance_plan", value="Cigna", text="Is with Cigna", by="staff:1", now=NOW
    )

    asked = gather("What is my insurance plan?", queries=QUESTION)

    assert [f.value for f in asked.situation.recalled.facts] == ["Cigna"]


def test_of_a_question_that_anybody_may_ask(gather):
    gather("Do you have parking?", queries=QUESTION)


def test_however_much_is_grave_about_her(gather, ada):
    for n in range(6):
        make_topic(f"allergy_{n}", permanent=True, sensitive=True, examples=["allergic to nuts"])
        services.remember(
            ada.pk, topic=f"allergy_{n}", value="nuts", text="nuts", by="staff:1", now=NOW
        )

    gather("Do you have parking?", queries=QUESTION + 3)  # fewer than there are such facts


def test_of_a_tab_that_has_everything(chat, ada, django_assert_num_queries):
    said = conversations.record_customer_message(chat.pk, client_id="1", text="hello", now=NOW)
    first = feed.since(ada.pk, conversation_id=chat.pk)
    seen = {"conversation_id": chat.pk, "after": said.message.seq, "shown": first.state}

    with django_assert_num_queries(1):
        assert feed.since(ada.pk, **seen).rows == []

    conversations.close(chat.pk, reason="ended", now=NOW)
    ended = feed.since(ada.pk, **seen)
    assert ended.state["closed"]
    assert len(ended.rows) == 1
