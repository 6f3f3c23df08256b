"""What every test may use: a database of our own cluster."""

from collections.abc import Iterator

import hypothesis
import pytest
from django.conf import settings

from config import embedded, warmup
from tests.at_rest import wait_for_threads

pytest_plugins = ["tests.browser.harness"]

# A busy machine is slow to make examples; that says nothing about the product.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

# Importing `config.asgi` would start it: a thread that reads the tables while tests empty them.
warmup.get_ready_meanwhile = lambda: None


@pytest.fixture(scope="session")
def embedded_postgres() -> Iterator[None]:
    """Run the test cluster until the last test process is done with it."""
    if not settings.EMBEDDED_DATABASE:
        yield
        return
    with embedded.postgres_for_tests():
        yield


@pytest.fixture(scope="session")
def django_db_setup(embedded_postgres: None, django_db_setup: None) -> None:
    """Let pytest-django make its database only once there is a server to make it in."""


@pytest.fixture
def _django_db_helper(_django_db_helper: None) -> Iterator[None]:
    """Before pytest-django's own rolls back, or empties every table."""
    yield
    wait_for_threads()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rounds upon rounds take their time on a busy machine; a hang is still a hang."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(1200))
