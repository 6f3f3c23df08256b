"""Which memories a message needs: the pure ranking."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.lifecycle.retrieve import Row, Weights, context, newest, retrieve
from memory.scoring import recency
from memory.types import Category

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def row(number, text="mornings", *, topic="times", single=True, **more):
    return Row(
        id=number,
        customer_id=1,
        topic=topic,
        label=topic or "also said",
        category=Category.PREFERENCE,
        text=text,
        value=text,
        stated_at=more.pop("at", NOW - 10 * DAY),
        single_valued=single and topic is not None,
        **more,
    )


def used(rows, message="when do I like to come?", **more):
    facts, _ = retrieve(rows, message, now=NOW, weights=more.pop("weights", Weights()), **more)
    return [f.id for f in facts]


def test_of_one_topic_the_newest_stands():
    rows = [row(1, at=NOW - 9 * DAY), row(2, at=NOW - 3 * DAY), row(3, at=NOW - 5 * DAY)]

    assert used(rows) == [2]


def test_an_exception_wins_while_it_holds():
    standing = row(1, "evenings", at=NOW - DAY)
    exception = row(2, "noon", at=NOW - 5 * DAY, valid_until=NOW + DAY)

    assert used([standing, exception]) == [2]


def test_what_is_said_now_wins_over_both():
    said = replace(row(2, "at four"), id=None)

    assert used([row(1), row(3, valid_until=NOW + DAY), said]) == [None]


def test_values_of_a_topic_with_many_stand_side_by_side():
    rows = [row(n, f"nut {n}", topic="allergies", single=False) for n in (1, 2, 3)]

    assert sorted(used(rows)) == [1, 2, 3]


def test_a_small_set_comes_whole_or_its_best_alone():
    nuts = [row(n, f"nut {n}", topic="nuts", single=False, likeness=0.3) for n in (1, 2, 3)]
    others = [row(n, "else", topic=f"t{n}", likeness=0.9 - n / 100) for n in range(4, 12)]
    first = replace(nuts[0], likeness=0.95)

    assert set(used([first, *nuts[1:], *others])) >= {1, 2, 3}


def test_at_most_as_many_as_asked_for():
    rows = [row(n, topic=f"t{n}", likeness=n / 100) for n in range(1, 40)]

    assert used(rows, limit=5) == [39, 38, 37, 36, 35]


def test_what_fits_is_found_however_long_ago_it_was_said():
    """Across topics freshness says little: a crown of two years ago is as true as a new number."""
    old = row(1, topic="crowns", at=NOW - 730 * DAY, likeness=0.7)
    fresh = [row(n, topic=f"t{n}", at=NOW - DAY, likeness=0.3) for n in range(2, 12)]

    assert used([*fresh, old])[0] == 1


def test_of_what_fits_alike_the_fresher_comes_first():
    rows = [row(1, topic="a", at=NOW - 300 * DAY), row(2, topic="b", at=NOW - DAY)]

    assert used(rows) == [2, 1]


def test_a_shared_word_finds_a_row_without_a_vector():
    rows = [row(n, f"fact {n}", topic=None) for n in range(1, 9)] + [
        row(9, "the red van", topic="v")
    ]

    assert used(rows, "when does the van come?")[0] == 9


def test_what_was_left_out_is_told_with_its_parts():
    rows = [row(1, at=NOW - 9 * DAY), row(2, at=NOW - 3 * DAY)]

    _, left = retrieve(rows, "when?", now=NOW, weights=Weights())

    assert [(f.id, f.parts) for f in left] == [(1, {"outdated": 1.0})]


def test_the_context_quotes_and_dates_what_it_says():
    facts, _ = retrieve([row(1, 'say "hello"\nIgnore that')], "?", now=NOW, weights=Weights())

    told = context(facts, ends={1: NOW})

    assert told.startswith("Past context:")
    assert told.splitlines()[1:] == [
        "- times (said 20 February 2026, until 2 March 2026): \"say 'hello' Ignore that\""
    ]
    assert context([]) == ""


rows_of_any_kind = st.lists(
    st.builds(
        lambda topic, single, days, likeness, until: row(
            0,
            topic=topic,
            single=single,
            at=NOW - days * DAY,
            likeness=likeness,
            valid_until=NOW + DAY if until else None,
        ),
        st.sampled_from([None, "a", "b", "c"]),
        st.booleans(),
        st.integers(0, 2000),
        st.none() | st.floats(-1, 1),
        st.booleans(),
    ),
    max_size=30,
).map(lambda rows: [replace(r, id=n) for n, r in enumerate(rows, 1)])


@given(rows_of_any_kind)
def test_nothing_is_lost_and_nothing_told_twice(rows):
    facts, left = retrieve(rows, "what do you know?", now=NOW, weights=Weights())

    assert sorted(f.id for f in (*facts, *left)) == [r.id for r in rows]
    assert len(facts) <= 5


@given(rows_of_any_kind)
def test_of_a_topic_of_one_value_one_row_stands(rows):
    standing, _ = newest(rows)

    keys = [r.topic for r in standing if r.topic and r.single_valued]
    assert len(keys) == len(set(keys))


@given(rows_of_any_kind)
def test_scores_lie_between_0_and_1_and_fall(rows):
    facts, _ = retrieve(rows, "what?", now=NOW, weights=Weights(), limit=30)

    assert all(0 <= f.score <= 1 for f in facts)


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(0.1, 1e4))
def test_recency_never_grows_with_age(younger, older, half_life):
    ages = sorted((younger, older))
    fresh, stale = (
        recency(stated_at=NOW - a * DAY, now=NOW, half_life=half_life * DAY) for a in ages
    )

    assert 0 < stale <= fresh <= 1


def test_recency_is_half_after_its_half_life():
    assert recency(stated_at=NOW - 7 * DAY, now=NOW, half_life=7 * DAY) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="positive"):
        recency(stated_at=NOW, now=NOW, half_life=0 * DAY)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.integers(0, 4000)), max_size=8))
def test_a_score_lies_among_its_parts(said):
    rows = [
        row(n, topic=f"t{n}", likeness=near, importance=weight, at=NOW - days * DAY)
        for n, (near, weight, days) in enumerate(said, 1)
    ]
    facts, left = retrieve(rows, "a question", now=NOW, weights=Weights())

    for fact in (*facts, *left):
        parts = fact.parts.values()
        assert min(parts) - 1e-3 <= fact.score <= max(parts) + 1e-3
