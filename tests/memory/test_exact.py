"""Recall finds what an exact search over her own rows finds, however many others there are."""

import numpy as np
import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

from memory import services
from memory.llm.embeddings import embed_one, embedder
from memory.models import Customer, Memory
from tests.factories import NOW, make_customer

pytestmark = pytest.mark.django_db

ASKED = "do you drink tea"
OURS = {"memory", "chat", "escalations"}


def test_no_table_of_a_customers_own_has_an_index_that_finds_only_nearly_all():
    """With a customer's filter such an index leaves rows out, and says nothing of it."""
    hers = {
        model._meta.db_table
        for model in apps.get_models()
        if model._meta.app_label in OURS
        and any(field.related_model is Customer for field in model._meta.fields)
    }
    assert Memory._meta.db_table in hers
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.relname, i.relname, am.amname FROM pg_index x"
            " JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid"
            " JOIN pg_am am ON am.oid = i.relam WHERE t.relname = ANY(%s)",
            [sorted(hers)],
        )
        found = cursor.fetchall()

    assert {table for table, _, _ in found} == hers
    exact = {"btree", "hash", "gin", "gist"}
    assert [row for row in found if row[2] not in exact] == []


@pytest.fixture
def crowd():
    """Sixty customers, from one fact to a hundred each, around two meanings: everybody's rows lie
    among everybody else's, so that the nearest of all are hardly ever hers."""
    chance = np.random.default_rng(7)
    asked = np.array(embed_one(ASKED))
    away = np.roll(asked, 11)
    rows, vectors = [], {}
    for n in range(60):
        customer = make_customer(f"C{n}")
        size = int(chance.integers(1, 101))
        near = chance.uniform(0, 1, (size, 1))
        drawn = near * asked + (1 - near) * away + chance.normal(0, 0.05, (size, len(asked)))
        stored = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)
        vectors[customer.pk] = stored.astype(float)
        rows += [
            Memory(
                customer=customer, category="preference", text=f"{at}", value=f"{at}",
                embedding=vector, embedding_model=embedder().model, stated_at=NOW,
                recorded_at=NOW, confirmed_at=NOW,
            )
            for at, vector in enumerate(stored)
        ]  # fmt: skip
    Memory.objects.bulk_create(rows)
    return vectors


def test_recall_of_every_customer_is_whole_and_in_the_order_of_an_exact_search(crowd, monkeypatch):
    monkeypatch.setattr("memory.lifecycle.retrieve.WORDS", 0.0)  # likeness in meaning alone
    message = np.array(embed_one(ASKED)).astype(np.float16).astype(float)
    found_of_all = 0
    for customer, stored in crowd.items():
        cosines = stored @ message / np.linalg.norm(stored, axis=1) / np.linalg.norm(message)
        exact = [str(at) for at in np.argsort(-cosines, kind="stable")]

        found = services.recall(customer, ASKED, now=NOW, gate=False, explain=True)

        ranked = [f.text for f in (*found.facts, *found.rejected)]
        assert ranked == exact
        assert len(found.facts) == min(len(exact), settings.MEMORY_RECALLED)
        low, high = cosines.min(), cosines.max()
        if high > low:
            told = [f.parts["relevance"] for f in (*found.facts, *found.rejected)]
            wanted = (np.sort(cosines)[::-1] - low) / (high - low)
            assert told == pytest.approx(wanted, abs=1e-3)
        found_of_all += len(ranked)
    assert found_of_all == Memory.objects.count()
