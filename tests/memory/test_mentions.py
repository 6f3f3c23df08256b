"""Which topics an unread transcript may be about."""

from memory.lifecycle.mentions import topics_mentioned
from memory.llm.embeddings import embed
from memory.types import Category, Said, TopicSpec, Transcript
from tests.memory.statements import NOW, chat

PLAN = TopicSpec(
    "plan", Category.CONFIRMED_FACT, True, "Plan",
    examples=("I'm on the Acorn plan", "we switched over to Birch in January"),
)  # fmt: skip
TRANSPORT = TopicSpec(
    "transport", Category.CONFIRMED_FACT, True, "Transport",
    examples=("I come by bus", "my neighbour drives me"),
)  # fmt: skip
TOPICS = [PLAN, TRANSPORT]


def test_a_topic_is_found_by_its_name():
    assert "plan" in topics_mentioned(chat("about my plan again"), TOPICS, embed=embed)


def test_a_topic_is_found_by_its_examples():
    found = topics_mentioned(chat("we switched over to Cedar last week"), TOPICS, embed=embed)

    assert found == {"plan"}


def test_a_topic_is_found_by_the_question_that_was_asked():
    said = Transcript(
        (
            Said(1, "bot", "Could you remind me?", NOW, asks_topic="transport"),
            Said(2, "customer", "bus", NOW),
        )
    )

    assert "transport" in topics_mentioned(said, TOPICS, embed=embed)


def test_a_topic_is_found_by_what_is_known_of_it():
    said = chat("Dogwood is so yesterday, hooray")

    def found(**known):
        return topics_mentioned(said, TOPICS, embed=embed, near=0.9, known=known)

    assert "plan" not in found()
    assert "plan" in found(plan=["Dogwood Max"])


def test_a_yes_is_about_what_was_asked():
    said = Transcript(
        (
            Said(1, "bot", "Shall I note that you come by bus?", NOW),
            Said(2, "customer", "yes please", NOW),
        )
    )

    assert "transport" in topics_mentioned(said, TOPICS, embed=embed)


def test_what_the_bot_said_mentions_nothing():
    assert topics_mentioned(chat("your plan is fine", sender="bot"), TOPICS, embed=embed) == set()


def test_small_talk_mentions_nothing():
    assert topics_mentioned(chat("good morning, thank you!"), TOPICS, embed=embed) == set()
