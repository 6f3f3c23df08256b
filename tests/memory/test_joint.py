"""The encoder that reads words together with what they are judged by."""

from datetime import UTC, datetime

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memory.lifecycle import extract
from memory.lifecycle.extract import rerank
from memory.llm import joint
from memory.llm.embeddings import embed_here
from memory.llm.fitted import read_here
from memory.llm.joint import read_beside
from memory.management.commands import fit_joint
from memory.types import Category, Said, TopicSpec, Transcript

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ALLERGY = TopicSpec(
    "allergy",
    Category.CONFIRMED_FACT,
    False,
    "Allergies",
    "What the customer does not tolerate. One memory each.",
    ("I'm allergic to latex", "nuts make my throat swell"),
    ("do you have anything without nuts?",),
)
PAYMENT = TopicSpec(
    "payment",
    Category.PREFERENCE,
    True,
    "Payment",
    "How the customer pays.",
    ("I pay by standing order", "put it on my card"),
)
STRANGERS = tuple(
    TopicSpec(f"t{n}", Category.PREFERENCE, True, f"Shelf {n}", f"The shelf number {n}.", ())
    for n in range(8)
)


def odds(text, topic, part=""):
    start = text.index(part)
    return read_beside(text, (start, start + len(part or text)), topic)


def test_a_statement_belongs_to_the_topic_that_it_is_read_beside():
    assert odds("penicillin brings me out in a rash", ALLERGY) > 0
    assert odds("penicillin brings me out in a rash", PAYMENT) < 0
    assert odds("I'd rather be invoiced", PAYMENT) > odds("I'd rather be invoiced", ALLERGY)


def test_a_question_states_nothing():
    assert odds("do you take cards?", PAYMENT) < 0


@pytest.mark.parametrize("before", [0, 40, 400])
def test_a_part_is_found_wherever_it_stands(before):
    filler = "The buses were late again. "
    text = filler * before + "Penicillin brings me out in a rash. " + filler * 40

    assert odds(text, ALLERGY, "Penicillin brings me out in a rash") > odds(text, ALLERGY, filler)


def test_a_message_of_thousands_of_parts_is_read_a_window_at_a_time(monkeypatch):
    text = "I'm allergic to latex. " + "a. " * 1000
    read = []
    states = joint._joint._encoder.states
    monkeypatch.setattr(joint._joint._encoder, "states", lambda *a: read.append(1) or states(*a))

    for n in range(23, len(text) - 1, 300):
        assert np.isfinite(read_beside(text, (n, n + 1), ALLERGY))
        assert np.isfinite(read_beside(text, (n, n + 1), ALLERGY))

    assert len(read) <= len(range(23, len(text) - 1, 300))


def test_weights_that_were_made_for_others_are_refused(monkeypatch, tmp_path):
    other = tmp_path / "fitted.npz"
    other.write_bytes(b"made anew")
    monkeypatch.setattr(joint, "CORRECTIONS", other)
    joint._head.cache_clear()

    with pytest.raises(ValueError, match="fit_joint"):
        read_beside("I pay by card", (0, 13), PAYMENT)


@pytest.mark.parametrize("text", ["", "  ", "???", "\N{SNOWMAN}"])
def test_words_that_it_does_not_know_say_nothing(text):
    assert np.isfinite(read_beside(text, (0, len(text)), ALLERGY))


def test_a_topic_without_examples_or_of_many_words_is_read_all_the_same():
    long = TopicSpec(
        "long", Category.PREFERENCE, True, "Long", "A word. " * 400, ("an example " * 300,)
    )

    assert np.isfinite(read_beside("I pay by card", (0, 13), long))
    assert np.isfinite(read_beside("I pay by card", (0, 13), STRANGERS[0]))


def asked_of(text, topics):
    read = []

    def beside(text, span, topic):
        read.append(topic.key)
        return read_beside(text, span, topic)

    said = Transcript((Said(1, "customer", text, NOW),))
    extract.extract(said, topics, embed=embed_here, read=read_here, beside=beside)
    return read


def test_only_the_likeliest_topics_are_read_again(monkeypatch):
    monkeypatch.setattr(rerank, "PLAIN", 1.0)

    read = asked_of("penicillin makes me itch", (ALLERGY, PAYMENT, *STRANGERS))

    assert "allergy" in read
    assert len(read) <= rerank.CLOSE


def test_what_is_plain_is_not_read_again():
    assert asked_of("I'm allergic to penicillin", (ALLERGY, PAYMENT, *STRANGERS)) == []


def test_words_that_come_near_no_topic_are_not_read_again():
    assert asked_of("hello", (ALLERGY, PAYMENT, *STRANGERS)) == []


def test_fitting_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(fit_joint, "find_spec", lambda name: None)

    with pytest.raises(CommandError, match="needs PyTorch"):
        call_command("fit_joint")
