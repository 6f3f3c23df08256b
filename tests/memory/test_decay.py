"""What ends and what fades, by the clock alone."""

from io import StringIO

import pytest
from django.core.management import call_command

from memory import services
from memory.lifecycle import decay
from memory.models import Memory, MemoryEvent
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db
YEAR = 365 * DAY


def remember(customer, topic="plan", value="Acorn", **more):
    made = services.remember(customer.pk, topic=topic, value=value, text="", by="staff:1", now=NOW)
    Memory.objects.filter(pk=made.pk).update(**more)
    return made


def status(m):
    m.refresh_from_db()
    return m.status


def test_what_ended_is_relabelled_and_told_apart_by_its_end(ada, plan):
    m = remember(ada, valid_until=NOW + DAY)

    services.nightly(now=NOW)
    assert status(m) == "active"
    services.nightly(now=NOW + 2 * DAY)

    assert status(m) == "expired"
    assert m.ended_at == NOW + DAY
    assert MemoryEvent.objects.get(kind="memory.expired").memory == m


def test_what_nobody_confirmed_for_years_fades_and_can_be_restored(ada, plan):
    m = remember(ada)

    services.nightly(now=NOW + 2 * YEAR)
    assert status(m) == "active"
    services.nightly(now=NOW + 10 * YEAR)
    assert status(m) == "forgotten"
    assert m.text

    services.confirm(m.pk, by="staff:1", now=NOW + 10 * YEAR)
    assert status(m) == "active"


def test_what_faded_does_not_come_back_beside_something_newer(ada, plan):
    m = remember(ada)
    services.nightly(now=NOW + 10 * YEAR)
    remember(ada, value="Birch")

    with pytest.raises(services.Touched):
        services.confirm(m.pk, by="staff:1", now=NOW + 10 * YEAR)

    assert status(m) == "forgotten"


def test_what_is_permanent_never_fades(ada, allergies):
    m = remember(ada, "allergies", "latex")

    services.nightly(now=NOW + 80 * YEAR)

    assert status(m) == "active"


def test_a_topics_own_half_life_counts(ada, plan):
    plan.half_life_days = 1
    plan.save()
    m = remember(ada)

    services.nightly(now=NOW + 30 * DAY)

    assert status(m) == "forgotten"


def test_it_goes_in_batches_and_tells_how_far_it_is(ada, allergies, monkeypatch):
    monkeypatch.setattr(decay, "BATCH", 2)
    for value in ("latex", "nickel", "codeine"):
        remember(ada, "allergies", value, permanent=False)
    allergies.permanent = False
    allergies.save()
    seen = []

    decay.fade(now=NOW + 30 * YEAR, progress=lambda *so_far: seen.append(so_far))

    assert seen == [(2, 2), (3, 3)]


def test_running_it_twice_changes_nothing(ada, plan):
    remember(ada, valid_until=NOW + DAY)
    services.nightly(now=NOW + 2 * DAY)

    assert not any(services.nightly(now=NOW + 2 * DAY).values())


def test_the_command_says_what_it_did(ada, plan):
    remember(ada, valid_until=NOW + DAY)
    out = StringIO()

    call_command("decay_memories", stdout=out)

    assert "1 expired, 0 faded" in out.getvalue()
