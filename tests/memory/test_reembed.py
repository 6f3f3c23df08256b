"""A new embedding model: vectors are made anew in the background, and nothing is lost meanwhile."""

from datetime import UTC, datetime
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from memory import reembed
from memory.llm import embeddings
from memory.models import Answer, AnswerMatch, Memory, StoreItem
from tests.factories import make_customer

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
OLD = [1.0] + [0.0] * 511


class Embedder:
    """The new one: remembers what it was asked, and stops when told to."""

    model = "new-model"

    def __init__(self):
        self.texts, self.stop_after = [], None

    def embed(self, texts):
        if self.stop_after is not None and len(self.texts) >= self.stop_after:
            raise KeyboardInterrupt
        self.texts += texts
        vector = np.zeros(512, dtype=np.float32)
        vector[1] = 1.0
        return [vector] * len(texts)


@pytest.fixture
def new(monkeypatch):
    embedder = Embedder()
    monkeypatch.setattr(embeddings, "embedder", lambda: embedder)
    monkeypatch.setattr(embeddings, "embed", embedder.embed)
    return embedder


@pytest.fixture
def rows():
    ada = make_customer("Ada")
    with_vector = {"embedding": OLD, "embedding_model": "old-model"}
    for n in range(10):
        Memory.objects.create(
            customer=ada,
            category="preference",
            text=f"fact {n}",
            stated_at=NOW,
            recorded_at=NOW,
            confirmed_at=NOW,
            **with_vector,
        )
    Answer.objects.create(
        title="Q?",
        parts=["A.", "B."],
        said_at=NOW,
        recorded_at=NOW,
        title_embedding=OLD,
        text_embedding=OLD,
        embedding_model="old-model",
    )
    AnswerMatch.objects.create(asked="q", outcome="open", created_at=NOW, **with_vector)
    for key, model in (("ours", "old-model"), ("theirs", "custom")):
        StoreItem.objects.create(
            namespace=["a"],
            key=key,
            value={},
            embedded_text="tea",
            created_at=NOW,
            updated_at=NOW,
            embedding=OLD,
            embedding_model=model,
        )
    Memory.objects.create(
        customer=ada,
        category="preference",
        text="not embedded yet",
        stated_at=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
    )


def test_makes_every_vector_anew_but_those_of_others(new, rows):
    list(reembed.reembed(batch=3))

    assert [p.left for p in reembed.progress()] == [0, 0, 0, 0]
    assert Memory.objects.filter(embedding_model="new-model").count() == 10
    answer = Answer.objects.get()
    assert answer.title_embedding[1] == answer.text_embedding[1] == 1.0
    assert {"Q?", "A.\n\nB.", "q", "tea"} <= set(new.texts)
    assert StoreItem.objects.get(key="theirs").embedding_model == "custom"
    assert Memory.objects.get(text="not embedded yet").embedding_model == ""


def test_goes_on_where_it_was_broken_off(new, rows):
    new.stop_after = 6
    with pytest.raises(KeyboardInterrupt):
        list(reembed.reembed(batch=2))
    done = set(Memory.objects.filter(embedding_model="new-model").values_list("text", flat=True))
    assert 0 < len(done) < 10

    new.stop_after, new.texts = None, []
    list(reembed.reembed(batch=2))

    assert not done & set(new.texts)
    assert not Memory.objects.filter(embedding_model="old-model").exists()


def test_old_rows_keep_their_vectors_till_their_turn(new, rows):
    steps = reembed.reembed(batch=2)
    next(steps)  # the answer
    next(steps)  # two memories

    waiting = Memory.objects.filter(embedding_model="old-model")
    assert waiting.count() == 8
    assert all(m.embedding[0] == 1.0 for m in waiting)


def test_leaves_what_changed_meanwhile_to_the_next_round(new, rows, monkeypatch):
    def embed(texts):
        if "fact 3" in texts:
            Memory.objects.filter(text="fact 3").update(text="fact three")
        return new.embed(texts)

    monkeypatch.setattr(embeddings, "embed", embed)
    list(reembed.reembed(batch=20))

    assert Memory.objects.get(text="fact three").embedding_model == "old-model"
    list(reembed.reembed())
    assert Memory.objects.get(text="fact three").embedding_model == "new-model"


def test_tells_how_far_it_is(new, rows):
    out = StringIO()
    call_command("reembed", "--status", stdout=out)
    assert "Memory: 0 of this model, 10 of another" in out.getvalue()

    call_command("reembed", stdout=out)
    assert "Memory: 10 of this model, 0 of another" in out.getvalue()


def test_a_run_of_the_worker_is_bounded(new, rows, monkeypatch):
    monkeypatch.setattr(reembed, "BATCHES_A_RUN", 2)
    monkeypatch.setattr(reembed.reembed, "__kwdefaults__", {"batch": 2})

    reembed.reembed_some()

    assert 0 < Memory.objects.filter(embedding_model="old-model").count() < 10
