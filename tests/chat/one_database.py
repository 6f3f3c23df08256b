"""One set-up for a whole module: hundreds of short turns need no fresh database each.

Turns run in threads of their own and commit, so a transaction that is rolled back will not do.
A module imports both fixtures, and marks itself `django_db`, so that the database is made at all.
"""

import pytest
from django.core.management import call_command
from django.db import connections

from tests.at_rest import wait_for_threads


@pytest.fixture(scope="module")
def one_database(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        yield
        wait_for_threads()
        call_command("flush", verbosity=0, interactive=False)
        connections.close_all()


@pytest.fixture
def _django_db_helper(one_database):
    """Takes the place of pytest-django's, which empties every table after each test."""
