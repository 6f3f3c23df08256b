import pytest

from memory import pipeline
from memory.models import Customer, Topic
from tests.memory.episodes import reading
from tests.memory.statements import NOW

WORDS = {"Acorn": "Acorn Basic", "Birch": "Birch Plus", "Cedar": "Cedar One"}


@pytest.fixture
def ada(db):
    return Customer.objects.create(name="Ada", created_at=NOW)


@pytest.fixture
def ben(db):
    return Customer.objects.create(name="Ben", created_at=NOW)


@pytest.fixture
def plan(db):
    return Topic.objects.create(
        key="plan",
        category="confirmed_fact",
        cardinality="one",
        label="Plan",
        examples=["I'm on the Acorn plan", "we switched to Birch"],
    )


@pytest.fixture
def allergies(db):
    return Topic.objects.create(
        key="allergies",
        category="confirmed_fact",
        cardinality="many",
        label="Allergies",
        permanent=True,
        examples=["I'm allergic to nickel"],
    )


@pytest.fixture
def reads_plans(plan, monkeypatch):
    """The knowledge agent finds the plans of WORDS; how it finds them is tested elsewhere."""
    monkeypatch.setattr(pipeline, "consider", reading(plan, WORDS))
    return plan
