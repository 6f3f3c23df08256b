"""What every test may use: a database of our own cluster."""

from collections.abc import Iterator

import pytest
from django.conf import settings

from config import embedded

pytest_plugins = ["tests.browser.harness"]


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rounds upon rounds take their time on a busy machine; a hang is still a hang."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(1200))
