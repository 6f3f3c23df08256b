"""The demo practice: in as often as you like, out without a trace, and good for the journeys."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from config.demo.answers import ANSWERS
from config.demo.clear import clear
from config.demo.load import load
from config.demo.practice import PASSWORDS, holidays
from config.management.commands.load_demo import LOGINS
from escalations.models import Calendar, Queue
from memory import services
from memory.models import Answer, Customer, Episode, Memory, Note, Topic
from tests.factories import make_customer

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
RINSE = "How long should I wait before rinsing after an extraction?"


def rows():
    labels = ("memory", "chat", "escalations", "auth")
    models = [m for m in apps.get_models() if m._meta.app_label in labels]
    return {
        m._meta.label: m._default_manager.count()
        for m in models
        if m._meta.label not in ("auth.Permission",)
    }


@pytest.fixture
def loaded(django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks():
        load(now=NOW)


@pytest.fixture
def remembered(loaded):
    """What the knowledge agent has made of the demo customers' conversations."""
    for episode in Episode.objects.order_by("ended_at"):
        services.run_agent(episode.pk, now=NOW)


def test_holds_what_was_promised(loaded):
    assert Topic.objects.count() >= 10
    assert all(t.examples and t.not_examples for t in Topic.objects.all())
    assert Answer.objects.count() == len(ANSWERS) >= 12
    assert Note.objects.count() == 3
    assert Queue.objects.get().members.count() == 3
    assert Topic.objects.get(key="allergies").permanent
    assert Topic.objects.get(key="dental_anxiety").sensitive


def test_twice_is_as_good_as_once(loaded):
    before = rows()
    Answer.objects.filter(title__contains="park").update(role="the boss")

    load(now=NOW)

    assert rows() == before
    assert Answer.objects.get(title__contains="park").role == "the boss"


def test_goes_without_a_trace():
    before = rows()
    load(now=NOW)
    assert rows() != before

    assert clear(now=NOW) == []

    assert rows() == before


def test_leaves_what_people_made_since(loaded):
    ada = make_customer("A real one")
    services.remember(
        ada.pk,
        topic="insurance_plan",
        value="Cigna",
        text="Is with Cigna",
        by="staff:1",
        now=NOW,
    )

    said = clear(now=NOW)

    assert any("insurance_plan" in sentence for sentence in said)
    assert Memory.objects.get().customer == ada
    assert Topic.objects.get().key == "insurance_plan"


def test_signs_in_with_what_is_printed(loaded):
    out = StringIO()
    call_command("load_demo", stdout=out)

    for _, name, password in LOGINS:
        assert f"{name} / {password}" in out.getvalue()
        assert authenticate(username=name, password=password)
    admin = authenticate(username="admin", password=PASSWORDS["admin"])
    assert admin.is_superuser


def test_is_refused_where_it_would_be_a_hole(settings):
    settings.RAPPORT_DEMO = False
    with pytest.raises(CommandError, match="RAPPORT_DEMO"):
        call_command("load_demo")


def test_is_closed_on_holidays(loaded):
    closed = Calendar.objects.get().exceptions

    assert closed["2026-11-26"] == []  # Thanksgiving: the fourth Thursday
    assert holidays(2027)["2027-11-25"] == []
    assert closed["2026-12-24"] == [["08:00", "12:00"]]


def test_nobody_has_answered_about_rinsing(loaded):
    found = services.answer_for(RINSE, customer_id=None, now=NOW)

    assert found.way == "gap"


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: a.key)
def test_each_answer_is_delivered_to_its_own_question(loaded, answer):
    found = services.answer_for(answer.title, customer_id=None, now=NOW)

    assert found.way == "deliver"
    assert found.candidates[0].parts == answer.parts


def test_the_customers_have_a_little_history(remembered):
    def known(key):
        customer = Customer.objects.get(external_id=f"demo:{key}")
        return {f.topic: f.value.casefold() for f in services.known_about(customer.pk, now=NOW)}

    assert "cigna" in known("ada")["insurance_plan"]
    assert "ibuprofen" in known("ben")["allergies"]
    assert known("ben")["appointment_times"] == "late afternoons"  # it fills "You like …"
    assert known("grace")["appointment_times"] == "early mornings"
    assert "drilling" in known("grace")["dental_anxiety"]


def test_an_allergy_stops_the_answer_that_names_it(remembered):
    ben = Customer.objects.get(external_id="demo:ben")
    question = "Which painkiller do you recommend?"

    assert services.answer_for(question, customer_id=ben.pk, now=NOW).blocked


def test_rescheduling_opens_with_the_reassurance(remembered):
    grace = Customer.objects.get(external_id="demo:grace")
    found = services.note_for("I need to reschedule my cleaning", customer_id=grace.pk, now=NOW)

    assert found.title == "Rescheduling, for somebody who is anxious"


def test_a_cleaning_is_booked_within_the_preference(remembered):
    grace = Customer.objects.get(external_id="demo:grace")
    found = services.note_for("I'd like to book a cleaning", customer_id=grace.pk, now=NOW)

    assert found.topic == "appointment_times"
    assert "{appointment_times}" in found.text
