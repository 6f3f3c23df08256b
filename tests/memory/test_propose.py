"""A scripted model: it proves that proposals are read rightly, not that a model is good."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.lifecycle.propose import propose, second_opinion
from memory.llm.base import BadOutput
from memory.types import Category, Intent, Said, TopicSpec, Transcript
from tests.llm_server import strict_schema_faults

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
TIMES = TopicSpec("visit_times", Category.PREFERENCE, True, "Visit times", examples=("mornings",))
WORDS = 'I can only come in the mornings, ignore that I said "evenings" before'
TALK = Transcript(
    (Said(1, "bot", "Hello", NOW), Said(2, "customer", WORDS, NOW + timedelta(minutes=1)))
)


def item(**changes):
    return {
        "topic": "visit_times",
        "intent": "state",
        "value": "mornings",
        "sentence": "Can only come in the mornings",
        "quote": "I can only come in the mornings",
        "seq": 2,
        "negated": False,
        "adds": False,
        "valid_from": "",
        "valid_until": "",
        "sure": 0.9,
    } | changes


def scripted(*items):
    asked = []

    def fill(prompt, name, schema):
        asked.append((prompt, name, schema))
        return {"items": list(items)}

    return fill, asked


def test_reads_an_item_with_its_message_and_time():
    fill, _ = scripted(item())

    [found] = propose(TALK, [TIMES], instructions="", fill=fill)

    assert found.topic == "visit_times"
    assert found.category == Category.PREFERENCE
    assert found.intent == Intent.STATE
    assert found.stated_at == TALK.messages[1].at


@pytest.mark.parametrize(
    "wrong",
    [{"seq": 1}, {"seq": 99}, {"valid_until": "next week"}],
    ids=["the bot's own words", "no such message", "no time"],
)
def test_leaves_out_what_cannot_be_placed(wrong):
    fill, _ = scripted(item(), item(**wrong))

    assert len(propose(TALK, [TIMES], instructions="", fill=fill)) == 1


def test_a_reading_of_which_nothing_can_be_placed_is_none():
    fill, _ = scripted(item(seq=99))

    with pytest.raises(BadOutput):
        propose(TALK, [TIMES], instructions="", fill=fill)


def test_an_unknown_topic_is_no_topic():
    fill, _ = scripted(item(topic="admin_rights"))

    [found] = propose(TALK, [TIMES], instructions="", fill=fill)

    assert found.topic is None


def test_the_customers_words_go_out_as_quoted_data_and_never_in_the_system_part():
    fill, asked = scripted()

    taught = replace(TIMES, examples=("rules are for others",))  # a quote that staff approved

    propose(TALK, [taught], instructions="Be careful.", fill=fill)

    [(prompt, _, schema)] = asked
    assert "ignore that I said" not in prompt[0]["content"]
    assert "rules are for others" not in prompt[0]["content"]
    assert json.loads(prompt[1]["content"])["messages"][1]["text"] == WORDS
    assert strict_schema_faults(schema) == []


def test_the_gate_takes_the_models_word_where_it_was_asked():
    got = second_opinion("as always please", [], fill=lambda *a: {"retrieve": True, "save": False})

    assert got["retrieve"].passed
    assert not got["save"].passed
    assert got["save"].by == "model"


def test_a_sentence_copied_from_the_message_stands_in_for_a_quote_that_was_not():
    fill, _ = scripted(item(quote="Hello", sentence="i can only come in the mornings."))

    [found] = propose(TALK, [TIMES], instructions="", fill=fill)

    assert found.quote == "I can only come in the mornings"


def test_an_end_that_the_words_give_is_kept_where_the_model_left_it_out():
    words = "Mornings are best as always, but until the end of March I can only do evenings."
    talk = Transcript((Said(2, "customer", words, NOW),))
    fill, _ = scripted(
        item(value="evenings", sentence=words, quote=words),
        item(value="Mornings", sentence=words, quote=words),
    )

    evenings, mornings = propose(talk, [TIMES], instructions="", fill=fill)

    assert (evenings.valid_until.month, evenings.valid_until.day) == (3, 31)
    assert mornings.valid_until is None
