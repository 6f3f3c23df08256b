"""A test's threads are done before its tables are emptied."""

import threading

import pytest

from chat import turns
from tests.at_rest import wait_for_threads


@pytest.mark.parametrize("executor", [turns._computing, turns._settling, turns.looking])
def test_what_was_begun_and_what_waits_behind_it_is_done(executor):
    """As many jobs again as there are threads: the last ones wait for the first."""
    never, done = threading.Event(), []

    def work(number):
        never.wait(0.05)
        done.append(number)

    for number in range(4):
        executor.submit(work, number)

    wait_for_threads()

    assert sorted(done) == [0, 1, 2, 3]
