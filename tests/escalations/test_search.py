"""The desk's search: by words, and by letters when a word is misspelt."""

import pytest

from memory.models import Answer, Memory
from tests.factories import NOW, make_topic


def test_leads_from_an_answer_to_its_page_and_to_where_it_was_said(desk, escalation, sam):
    said = f"conversation:{escalation.conversation_id}:3"
    answer = Answer.objects.create(
        title="Rinsing after an extraction", parts=["24 h"], said_at=NOW, recorded_at=NOW,
        owner=sam, source_ref=said, review_on=NOW.date(),
    )  # fmt: skip

    found = desk.get("/inbox/search/?q=rinsing").content.decode()
    assert f'href="/inbox/answers/{answer.pk}/"' in found

    page = desk.get(f"/inbox/answers/{answer.pk}/").content.decode()
    assert "24 h" in page
    assert f'href="/inbox/chat/{escalation.conversation_id}/"' in page
    assert "2 March 2026, by Sam" in page


@pytest.fixture
def desk(client, sam):
    client.force_login(sam)
    return client


def remember(customer, text, *, topic, **fields):
    return Memory.objects.create(
        customer=customer,
        topic=topic,
        category=topic.category,
        text=text,
        stated_at=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
        **fields,
    )


def test_finds_words_in_messages_customers_answers_and_memories(desk, escalation, ada):
    Answer.objects.create(
        title="Rinsing after an extraction", parts=["24 h"], said_at=NOW, recorded_at=NOW
    )
    remember(ada, "Rinses with salt water", topic=make_topic("habit"))

    page = desk.get("/inbox/search/?q=rinsing").content.decode()

    for heading in ("Answers", "Messages", "Remembered"):
        assert f"<h2>{heading}</h2>" in page
    assert "Ada" in desk.get("/inbox/search/?q=ada").content.decode()


def test_forgives_a_wrong_letter(desk, escalation):
    page = desk.get("/inbox/search/?q=extracton").content.decode()
    assert "<h2>Messages</h2>" in page


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("salt rinses", True),  # in another order, and not side by side
        ("rinsing", True),
        ("watr", True),
        ("salt bicycle", False),
        ("of", False),
    ],
)
def test_finds_a_memory_that_holds_each_word(desk, ada, queue, words, found):
    remember(ada, "Rinses with salt water", topic=make_topic("habit"))

    page = desk.get("/inbox/search/", {"q": words}).content.decode()

    assert ("<h2>Remembered</h2>" in page) is found


def test_finds_what_is_only_spelt_alike_where_nothing_holds_the_word(desk, escalation, ada):
    Answer.objects.create(title="Coming late", parts=["Call us."], said_at=NOW, recorded_at=NOW)
    assert "Coming late" in desk.get("/inbox/search/?q=latex").content.decode()

    Answer.objects.create(title="Gloves", parts=["No latex."], said_at=NOW, recorded_at=NOW)
    remember(ada, "Comes late", topic=make_topic("habit"))
    page = desk.get("/inbox/search/?q=latex").content.decode()

    assert "Gloves" in page
    assert "Coming late" not in page
    assert "Comes late" not in page


def test_does_not_find_what_is_sensitive(desk, ada, queue):
    topic = make_topic("allergy", sensitive=True)
    remember(ada, "Allergic to penicillin", topic=topic, sensitive=True)
    assert "Allergic to" not in desk.get("/inbox/search/?q=penicillin").content.decode()


@pytest.mark.parametrize("words", ["'", '"a', "a & | !", "%", "\x00", "(" * 50, "' OR 1=1 --"])
def test_survives_whatever_is_typed(desk, words, queue):
    assert desk.get("/inbox/search/", {"q": words}).status_code == 200
