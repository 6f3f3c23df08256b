"""`MemoryStore` beside LangGraph's own in-memory store: the same calls, the same results.

Where ours differs, on purpose:

- written again, an item keeps its `created_at`; LangGraph's in-memory store forgets it
- an item has one vector, made of all its indexed fields; there, one a field and the best counts
- `$gt` and its like leave out what cannot be compared; there, they raise. Text is compared as text
- across namespaces, items without a query come in the order of the namespaces; there, of first use
- a look at an empty namespace does not make it one; there, `list_namespaces` shows it afterwards
- items may expire (`ttl`); there, this is refused. A read prolongs only when asked
- a segment of a namespace has at most 200 characters, a vector at most 512 dimensions
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from memory.langgraph import MemoryStore
from memory.langgraph.filters import matches
from memory.models import StoreItem

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def embed(texts: list[str]) -> list[list[float]]:
    """Words to numbers: the more words two texts share, the closer they are."""
    vectors = []
    for text in texts:
        vector = [0.0] * 64
        for word in text.casefold().replace('"', " ").replace(",", " ").split():
            vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1.0
        vectors.append(vector)
    return vectors


INDEX: Any = {"dims": 64, "embed": embed, "fields": ["text"]}


def plain(result):
    """What must be the same: not the times, and scores but for the rounding of half precision."""
    if isinstance(result, list):
        return [plain(each) for each in result]
    if result is None or isinstance(result, tuple):
        return result
    score = getattr(result, "score", None)
    found = (result.namespace, result.key, result.value)
    return found if score is None else (*found, pytest.approx(score, abs=2e-3))


class Both:
    """Makes each call on both stores and insists on one answer."""

    def __init__(self, **options):
        self.theirs, self.ours = InMemoryStore(**options), MemoryStore(**options)

    def __getattr__(self, name):
        def call(*args, **kwargs):
            expected = getattr(self.theirs, name)(*args, **kwargs)
            found = getattr(self.ours, name)(*args, **kwargs)
            assert plain(found) == plain(expected), f"{name}{args}{kwargs}"
            return found

        return call


@pytest.fixture
def both():
    return Both()


@pytest.fixture
def both_indexed():
    return Both(index=INDEX)


class TestSideBySide:
    def test_gets_what_was_put(self, both):
        both.put(("docs",), "a", {"text": "Tea", "tags": ["x", None, 1.5], "deep": {"ä": True}})

        assert both.get(("docs",), "a").value["deep"] == {"ä": True}
        assert both.get(("docs",), "b") is None
        assert both.get(("docs", "more"), "a") is None

    def test_replaces_the_whole_value(self, both):
        both.put(("docs",), "a", {"text": "Tea", "old": 1})
        both.put(("docs",), "a", {"text": "Coffee"})

        assert both.get(("docs",), "a").value == {"text": "Coffee"}
        both.search(("docs",))

    def test_deletes_and_deletes_again(self, both):
        both.put(("docs",), "a", {"text": "Tea"})
        both.delete(("docs",), "a")
        both.delete(("docs",), "a")
        both.delete(("never",), "was")

        assert both.get(("docs",), "a") is None

    def test_takes_any_key_as_text(self, both):
        both.put(("docs",), 7, {"n": 1})

        assert both.get(("docs",), "7").value == {"n": 1}

    def test_searches_in_pages_in_order_of_arrival(self, both):
        for i in range(25):
            both.put(("docs",), f"k{i}", {"n": i})
        both.put(("docs",), "k3", {"n": 33})

        assert len(both.search(("docs",))) == 10
        both.search(("docs",), limit=7, offset=20)
        both.search(("docs",), limit=5, offset=100)

    @pytest.mark.parametrize(
        "wanted",
        [
            {"kind": "tea"},
            {"kind": "tea", "n": 2},
            {"kind": None},
            {"missing": None},
            {"n": 2.0},
            {"deep": {"a": 1}},
            {"deep": {"a": {"$gt": 0}}} | {"kind": "tea"},
            {"deep": {}},
            {"tags": ["x", "y"]},
            {"tags": ["x"]},
            {"tags": []},
            {"rows": [{"a": 1}]},
            {"n": {"$gt": 1}},
            {"n": {"$gte": 2, "$lt": 3}},
            {"n": {"$lte": 1.5}},
            {"n": {"$ne": 2}},
            {"kind": {"$ne": "tea"}},
            {"kind": {"$eq": "tea"}},
            {"deep": {"$eq": {"a": 1, "b": 2}}},
            {"with space": "%_'\""},
        ],
        ids=str,
    )
    def test_filters(self, both, wanted):
        values = [
            {"kind": "tea", "n": 1, "deep": {"a": 1, "b": 2}, "tags": ["x", "y"]},
            {"kind": "tea", "n": 2, "deep": {"a": 2}, "tags": ["x"], "rows": [{"a": 1, "b": 2}]},
            {"kind": None, "n": 2.5, "deep": {"a": 1}, "tags": []},
            {"kind": "coffee", "n": 0, "deep": {"a": 3}, "with space": "%_'\""},
        ]
        for i, value in enumerate(values):
            both.put(("docs",), str(i), value)

        found = both.search(("docs",), filter=wanted)

        assert [i.key for i in found] == [
            str(i) for i, value in enumerate(values) if matches(value, wanted)
        ]

    def test_refuses_an_unknown_operator(self, both):
        both.put(("docs",), "a", {"n": 1})
        for store in (both.theirs, both.ours):
            with pytest.raises(ValueError, match="Unsupported operator"):
                store.search(("docs",), filter={"n": {"$near": 1}})

    def test_ignores_a_query_without_an_index(self, both):
        both.put(("docs",), "a", {"text": "Tea"})

        assert both.search(("docs",), query="tea")[0].score is None

    def test_ranks_by_likeness(self, both_indexed):
        for key, text in [("a", "green tea"), ("b", "black coffee"), ("c", "green apples")]:
            both_indexed.put(("docs",), key, {"text": text, "kind": key})

        assert both_indexed.search(("docs",), query="green tea")[0].key == "a"
        both_indexed.search(("docs",), query="green tea", limit=1, offset=1)
        both_indexed.search(("docs",), query="green tea", filter={"kind": {"$ne": "a"}})
        both_indexed.search((), query="black coffee")

    def test_puts_last_what_has_no_vector(self, both_indexed):
        both_indexed.put(("docs",), "a", {"text": "green tea"}, index=False)
        both_indexed.put(("docs",), "b", {"text": "black coffee"})
        both_indexed.put(("docs",), "c", {"other": "no text"})

        assert [i.key for i in both_indexed.search(("docs",), query="green tea")] == ["b", "a", "c"]

    def test_ranks_the_same_where_the_index_is_used(self, both_indexed, monkeypatch):
        monkeypatch.setattr("memory.langgraph.items.EXACT_UP_TO", 3)
        for i, drink in enumerate(["green tea", "black tea", "coffee", "red wine", "green wine"]):
            both_indexed.put(("docs",), str(i), {"text": drink, "kind": i % 2})

        both_indexed.search(("docs",), query="green tea", limit=3)
        both_indexed.search(("docs",), query="green wine", filter={"kind": 1}, limit=3)

    def test_indexes_other_fields_of_one_item(self, both_indexed):
        both_indexed.put(("docs",), "a", {"text": "tea", "title": "coffee"}, index=["title"])
        both_indexed.put(("docs",), "b", {"text": "tea"})

        assert both_indexed.search(("docs",), query="coffee")[0].key == "a"

    def test_does_a_batch_in_order_with_reads_before_writes(self, both):
        both.put(("docs",), "a", {"n": 1})

        results = both.batch(
            [
                PutOp(("docs",), "a", {"n": 2}),
                GetOp(("docs",), "a"),
                PutOp(("docs",), "b", {"n": 3}),
                PutOp(("docs",), "b", {"n": 4}),
                SearchOp(("docs",)),
                ListNamespacesOp(),
            ]
        )

        assert results[1].value == {"n": 1}
        assert both.get(("docs",), "b").value == {"n": 4}

    @pytest.mark.parametrize(
        "namespace",
        [(), ("",), ("a.b",), ("langgraph", "x"), (1,), ("a", "nul\x00")],
        ids=repr,
    )
    def test_refuses_what_is_no_namespace(self, both, namespace):
        for store in (both.theirs, both.ours):
            with pytest.raises(InvalidNamespaceError):
                store.put(namespace, "k", {"n": 1})

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"prefix": ("a",)},
            {"prefix": ("a", "*", "d")},
            {"suffix": ("d",)},
            {"suffix": ("*", "f")},
            {"prefix": ("a",), "suffix": ("d",)},
            {"max_depth": 2},
            {"prefix": ("a", "b"), "max_depth": 3},
            {"limit": 2},
            {"limit": 2, "offset": 3},
            {"prefix": ("a_",)},
            {"prefix": ("a%",)},
        ],
        ids=str,
    )
    def test_lists_namespaces(self, both, options):
        for path in ["a/b/c", "a/b/d/e", "a/b/d/i", "a/b/f", "a/c/f", "a/x/d", "ax/b", "a_/b"]:
            both.put(tuple(path.split("/")), "k", {"n": 1})

        both.list_namespaces(**options)

    def test_refuses_an_unknown_match(self, both):
        both.put(("a",), "k", {"n": 1})
        infix = "infix"
        for store in (both.theirs, both.ours):
            with pytest.raises(ValueError, match="match type"):
                store.batch([ListNamespacesOp((MatchCondition(infix, ("a",)),))])


SEGMENT = st.text("ab_%*\\-é", min_size=1, max_size=3)
NAMESPACE = st.lists(SEGMENT, min_size=1, max_size=4).map(tuple)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(written=st.lists(NAMESPACE, min_size=1, max_size=8), asked=NAMESPACE)
def test_segments_of_a_namespace_match_whole(written, asked):
    StoreItem.objects.all().delete()
    store = MemoryStore()
    for namespace in written:
        store.put(namespace, "k", {"n": 1})

    found = {item.namespace for item in store.search(asked, limit=100)}

    assert found == {n for n in written if n[: len(asked)] == asked}
    whole = tuple(s for s in asked if s != "*") == asked
    if whole:
        assert set(store.list_namespaces(prefix=asked)) == found


def test_acme_never_sees_acme_corp(both):
    both.put(("tenant", "acme"), "k", {"n": 1})
    both.put(("tenant", "acme-corp"), "k", {"n": 2})
    both.put(("tenant", "acme", "sub"), "k", {"n": 3})

    assert [i.value["n"] for i in both.search(("tenant", "acme"))] == [1, 3]


class TestLife:
    @pytest.fixture
    def clock(self):
        return {"now": NOW}

    @pytest.fixture
    def store(self, clock):
        return MemoryStore(clock=lambda: clock["now"])

    def test_keeps_everything_over_a_restart(self):
        MemoryStore(index=INDEX).put(("docs",), "a", {"text": "green tea"})

        again = MemoryStore(index=INDEX)
        assert again.search(("docs",))[0].value == {"text": "green tea"}
        assert (again.search(("docs",), query="green")[0].score or 0) > 0.5

    def test_remembers_when_an_item_was_first_put(self, store, clock):
        store.put(("docs",), "a", {"n": 1})
        clock["now"] += timedelta(hours=1)
        store.put(("docs",), "a", {"n": 2})

        item = store.get(("docs",), "a")
        assert (item.created_at, item.updated_at) == (NOW, NOW + timedelta(hours=1))

    def test_an_item_expires_though_it_is_read(self, store, clock):
        store.put(("docs",), "a", {"n": 1}, ttl=10)
        clock["now"] += timedelta(minutes=9)
        assert store.get(("docs",), "a")
        assert store.search(("docs",))
        clock["now"] += timedelta(minutes=2)

        assert store.get(("docs",), "a") is None
        assert store.search(("docs",)) == []
        assert store.list_namespaces() == []
        assert store.sweep_ttl() == 1
        assert not StoreItem.objects.exists()

    @pytest.mark.parametrize("read", ["get", "search"])
    def test_a_read_prolongs_it_when_asked(self, store, clock, read):
        store.put(("docs",), "a", {"n": 1}, ttl=10)
        clock["now"] += timedelta(minutes=9)
        if read == "get":
            store.get(("docs",), "a", refresh_ttl=True)
        else:
            store.search(("docs",), refresh_ttl=True)
        clock["now"] += timedelta(minutes=9)

        assert store.get(("docs",), "a")

    def test_takes_a_default_life(self, clock):
        store = MemoryStore(ttl={"default_ttl": 5}, clock=lambda: clock["now"])
        store.put(("docs",), "a", {"n": 1})
        store.put(("docs",), "b", {"n": 1}, ttl=None)
        clock["now"] += timedelta(minutes=6)

        assert [i.key for i in store.search(("docs",))] == ["b"]

    def test_what_has_expired_begins_anew(self, store, clock):
        store.put(("docs",), "a", {"n": 1}, ttl=1)
        clock["now"] += timedelta(minutes=2)
        store.put(("docs",), "a", {"n": 2})

        assert store.get(("docs",), "a").created_at == clock["now"]

    def test_never_compares_vectors_of_two_models(self):
        MemoryStore(index=INDEX).put(("docs",), "a", {"text": "green tea"})
        other = type("Other", (), {})
        store = MemoryStore(index=INDEX)
        store._model = other.__name__

        assert store.search(("docs",), query="green tea")[0].score is None

    def test_refuses_a_vector_that_does_not_fit(self):
        store = MemoryStore(
            index={"dims": 600, "embed": lambda texts: [[1.0] * 600 for _ in texts]}
        )
        with pytest.raises(ValueError, match="512"):
            store.put(("docs",), "a", {"text": "x"})

    def test_a_failing_batch_leaves_nothing(self, store):
        with pytest.raises(ValueError, match="Unknown operation"):
            store.batch([PutOp(("docs",), "a", {"n": 1}), "no operation"])

        assert store.get(("docs",), "a") is None


@pytest.mark.django_db(transaction=True)
class TestAsync:
    async def test_does_the_same(self):
        store = MemoryStore(index=INDEX)
        await store.aput(("docs",), "a", {"text": "green tea"})
        await store.aput(("docs",), "b", {"text": "black coffee"})

        item = await store.aget(("docs",), "a")
        assert item
        assert item.value == {"text": "green tea"}
        assert (await store.asearch(("docs",), query="coffee"))[0].key == "b"
        assert await store.alist_namespaces() == [("docs",)]
        await store.adelete(("docs",), "a")
        assert await store.aget(("docs",), "a") is None
