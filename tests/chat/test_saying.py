"""What a customer told is said back so that it reads right inside a sentence."""

import pytest
from asgiref.sync import async_to_sync

from chat.llm.saying import in_sentence, said_back
from memory.models import Note
from tests.chat.conftest import told
from tests.factories import NOW, make_topic


@pytest.mark.parametrize(
    ("told_us", "inside"),
    [
        ("Late afternoons", "late afternoons"),
        ("Late afternoons are best.", "late afternoons are best"),
        ("Mornings; not Fridays", "mornings; not Fridays"),
        ("E-mail", "e-mail"),
        ("A quiet room to the garden.", "a quiet room to the garden"),
        ("Vegetarian", "vegetarian"),
        ("Tuesdays or Thursdays after 3", "Tuesdays or Thursdays after 3"),
        ("Acorn Health", "Acorn Health"),
        ("Cigna", "Cigna"),
        ("MetLife since May", "MetLife since May"),
        ("PPO plan", "PPO plan"),
        ("555-0188", "555-0188"),
        ("I only come in the mornings.", "“I only come in the mornings”"),
        ("Please e-mail me, don't call.", "“Please e-mail me, don't call”"),
        ("We switched to MetLife in May", "“We switched to MetLife in May”"),
        ("Ich komme nur morgens", "“Ich komme nur morgens”"),
        ("Insurance plan: Acorn Health", "Insurance plan: Acorn Health"),
        ("Phone number: my new one is 555-0188", "Phone number: “my new one is 555-0188”"),
    ],
)
def test_reads_right_in_the_middle_of_a_sentence(told_us, inside):
    assert said_back(told_us) == inside


def test_begins_a_sentence_with_a_capital():
    assert in_sentence("late afternoons", at_start=True) == "Late afternoons"


@pytest.fixture
def times(db, settings):
    settings.CHAT_BURST_MS = 0
    return make_topic(
        "visit_times",
        category="preference",
        label="Preferred times",
        description="Days and times of day that suit this customer.",
        examples=["I only ever come in the mornings", "late afternoons suit me best"],
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("message", "noted"),
    [
        ("Late afternoons suit me best.", ": “Late afternoons suit me best”."),
        ("I only ever come in the mornings.", ": “I only ever come in the mornings”."),
    ],
)
def test_what_is_noted_is_said_back_once_and_ends_once(chat, times, message, noted):
    async_to_sync(told)(chat.pk, message)

    assert chat.messages.get(seq=2).text.endswith(noted)


@pytest.mark.django_db(transaction=True)
def test_a_note_takes_it_into_its_own_sentence(chat, times):
    Note.objects.create(
        title="Another time",
        examples=["I need another appointment", "can I move my visit?"],
        topic=times,
        text="You like {visit_times}, so I have asked for that. {visit_times} it is.",
        version=1,
        updated_at=NOW,
    )
    async_to_sync(told)(chat.pk, "Late afternoons suit me best.")
    async_to_sync(told)(chat.pk, "can I move my visit?")

    said = chat.messages.filter(sender="bot", text__contains="You like").get().text
    assert said == "You like late afternoons, so I have asked for that. Late afternoons it is."
