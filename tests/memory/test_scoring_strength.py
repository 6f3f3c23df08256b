"""How much a memory still counts."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scoring import strength

NOW = datetime(2026, 3, 2, tzinfo=UTC)
YEAR = timedelta(days=365)


def test_is_half_after_one_half_life():
    assert strength(confirmed_at=NOW - YEAR, now=NOW, half_life=YEAR) == pytest.approx(0.5)


def test_what_is_permanent_never_fades():
    assert strength(confirmed_at=NOW - 80 * YEAR, now=NOW, half_life=None) == 1.0


def test_usefulness_slows_it():
    plain = strength(confirmed_at=NOW - YEAR, now=NOW, half_life=YEAR)

    assert strength(confirmed_at=NOW - YEAR, now=NOW, half_life=YEAR, usefulness=1.0) > plain


def test_a_half_life_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        strength(confirmed_at=NOW, now=NOW, half_life=timedelta(0))


@given(st.integers(-1000, 10**5), st.integers(1, 10**5), st.floats(0, 1))
def test_stays_above_zero_and_never_grows_with_age(age, half_life, usefulness):
    def at(days):
        return strength(
            confirmed_at=NOW - timedelta(days=days),
            now=NOW,
            half_life=timedelta(days=half_life),
            usefulness=usefulness,
        )

    assert 0 < at(age + 1) <= at(age) <= 1
