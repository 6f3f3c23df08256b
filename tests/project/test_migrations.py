import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def test_no_model_has_changed_without_a_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
