"""The encoder that places statements: what it reads, and what it is learnt from."""

import json
from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memory.lifecycle import extract
from memory.llm import fitted
from memory.llm.embeddings import embed_here, model_file
from memory.llm.fitted import read_here
from memory.llm.joint import read_beside
from memory.management.commands import fit_encoder
from memory.management.training_files import MESSAGES, TOPICS, lines_of
from memory.types import Category, Said, TopicSpec, Transcript

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
FILLER = "The rain has not let up all week and the buses were late again, so I sat and read. "
PAYMENT = TopicSpec(
    "payment",
    Category.PREFERENCE,
    True,
    "Payment",
    "How the customer pays.",
    ("I pay by standing order", "put it on my card"),
)
ALLERGY = TopicSpec(
    "allergy",
    Category.CONFIRMED_FACT,
    False,
    "Allergies",
    "What the customer does not tolerate. One memory each.",
    ("I'm allergic to latex", "nuts make my throat swell"),
)


def told(text):
    said = (Said(1, "customer", text, NOW),)
    found = extract.extract(
        Transcript(said), (ALLERGY, PAYMENT), embed=embed_here, read=read_here, beside=read_beside
    )
    return {(c.topic, c.quote) for c in found}


@pytest.mark.parametrize("before", [0, 3, 12, 40])
def test_a_fact_is_found_wherever_it_stands_in_a_long_message(before):
    text = FILLER * before + "I'm allergic to penicillin. " + FILLER * (40 - before)

    assert ("allergy", "I'm allergic to penicillin.") in told(text)


def test_parts_of_one_text_are_read_with_what_stands_around_them():
    alone = read_here("the blue one", [(0, 12)])[0]
    beside = read_here("I pay with my card, the blue one", [(20, 32)])[0]

    assert float(alone @ beside) < 0.99
    assert float(np.linalg.norm(beside)) == pytest.approx(1.0, abs=1e-5)


def test_a_text_without_a_word_that_it_knows_has_a_vector_all_the_same():
    for text in ("", "   ", "\u200b", "🦷" * 300):
        (vector,) = read_here(text, [(0, len(text))])
        assert np.isfinite(vector).all()


def test_corrections_that_were_learnt_for_another_model_are_refused(tmp_path):
    import onnx

    model = onnx.load(model_file())
    for node in model.graph.node:
        if node.op_type == "Cast":
            node.op_type = "Identity"
    other = tmp_path / "other.onnx"
    onnx.save(model, other)

    with pytest.raises(ValueError, match=r"other\.onnx is not the model"):
        fitted.corrected(other, fitted.CORRECTIONS)


def test_what_it_is_learnt_from_is_whole():
    topics = lines_of(TOPICS)
    known = {(t["trade"], t["key"]) for t in topics}
    faults = []
    for m in lines_of(MESSAGES):
        for key in m.get("topics", ()):
            if (m["trade"], key) not in known and any(t == m["trade"] for t, _ in known):
                faults.append((m["text"], key))
        faults += [(m["text"], v) for v in m.get("values", ()) if v not in m["text"]]
        if m.get("values") and len(m["values"]) != len(m["topics"]):
            faults.append((m["text"], "values"))

    assert faults == []
    assert len({t["trade"] for t in topics}) > 300


def test_no_message_is_there_twice_in_a_trade():
    seen = Counter((m["trade"], m["text"], json.dumps(m.get("before"))) for m in lines_of(MESSAGES))

    assert [text for (_, text, _), times in seen.items() if times > 1] == []


def test_fitting_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(fit_encoder, "find_spec", lambda name: None)

    with pytest.raises(CommandError, match="needs PyTorch"):
        call_command("fit_encoder")


def test_a_business_without_topics_gets_ready_and_keeps_nothing():
    extract.get_ready((), embed=embed_here, read=read_here)

    said = (Said(1, "customer", "I'm allergic to latex", NOW),)
    assert (
        extract.extract(Transcript(said), (), embed=embed_here, read=read_here, beside=read_beside)
        == []
    )


def test_a_message_of_thousands_of_clauses_is_read_without_being_kept():
    text = "I'm allergic to latex. " + "a. " * 3000
    places = [(0, 21), *((n, n + 1) for n in range(23, len(text) - 1, 3))]

    before = fitted._fitted._kept.cache_info().currsize
    vectors = read_here(text, places)

    assert vectors.shape == (len(places), 384)
    assert np.isfinite(vectors).all()
    assert fitted._fitted._kept.cache_info().currsize == before
