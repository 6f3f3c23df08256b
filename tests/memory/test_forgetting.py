"""What is forgotten at a customer's request is gone everywhere, and stays gone."""

import pytest
from django.apps import apps
from django.core import serializers

from memory import pipeline, services
from memory.models import Customer, Memory
from memory.types import Intent
from tests.memory.episodes import claim, closed, transcript
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db


def dump():
    """Everything that memory holds, as text."""
    models = apps.get_app_config("memory").get_models()
    return serializers.serialize("json", [o for m in models for o in m._default_manager.all()])


@pytest.fixture
def told(ada, reads_plans):
    for day, text in enumerate(["it is Acorn", "it is Birch"]):
        pipeline.run(closed(ada, text, at=NOW + day * DAY).pk, now=NOW + day * DAY)


def values():
    return dump().replace("I'm on the Acorn plan", "").replace("we switched to Birch", "")


def test_every_version_and_every_copy_is_blanked(ada, told):
    assert "Acorn" in values()

    gone = services.forget(ada.pk, topic="plan", by="customer", now=NOW + 5 * DAY)

    assert (gone.topics, gone.labels, gone.count) == (("plan",), ("Plan",), 2)
    assert "Acorn" not in values()
    assert "Birch" not in values()
    rows = Memory.objects.filter(kind="fact")
    assert {m.status for m in rows} == {"forgotten"}
    assert all(m.topic.key == "plan" and m.embedding is None for m in rows)
    assert all(m.events.filter(reason="forgotten at the customer's request").exists() for m in rows)


def test_what_staff_told_her_alone_does_not_say_it_back(ada, told):
    services.capture_answer(
        title="Does it cover this, now that it is Birch?",
        parts=["With Birch Plus you pay nothing for it."],
        scope="customer",
        customer_id=ada.pk,
        now=NOW + 2 * DAY,
        source_ref="conversation:1",
    )

    services.forget(ada.pk, topic="plan", by="customer", now=NOW + 5 * DAY)

    hers = Memory.objects.get(kind="staff_answer")
    assert "Birch Plus" not in f"{hers.text} {hers.value} {hers.quotes}"
    assert "you pay nothing for it" in hers.text
    assert "Birch Plus" not in values()


def test_one_memory_takes_its_versions_with_it(ada, told):
    newest = Memory.objects.get(kind="fact", status="active")

    assert services.forget(ada.pk, memory_id=newest.pk, by="staff:1", now=NOW + 5 * DAY).count == 2


def test_one_cannot_forget_what_another_customer_told(ada, ben, told):
    newest = Memory.objects.get(kind="fact", status="active")

    with pytest.raises(Memory.DoesNotExist):
        services.forget(ben.pk, memory_id=newest.pk, by="customer", now=NOW + 5 * DAY)


def test_a_conversation_not_read_yet_does_not_bring_it_back(ada, told):
    waiting = closed(ada, "it is Cedar", at=NOW + 3 * DAY)

    services.forget(ada.pk, topic="plan", by="customer", now=NOW + 5 * DAY)
    pipeline.run(waiting.pk, now=NOW + 6 * DAY)

    assert not Memory.objects.filter(kind="fact", status="active").exists()
    assert "Cedar" not in str(Memory.objects.values())


def test_what_was_never_stored_does_not_come_either(ada, reads_plans):
    waiting = closed(ada, "it is Cedar", at=NOW)

    services.forget(ada.pk, topic="plan", by="customer", now=NOW + DAY)
    pipeline.run(waiting.pk, now=NOW + 2 * DAY)

    assert not Memory.objects.filter(kind="fact", status="active").exists()


def test_a_conversation_that_still_runs_does_not_bring_it_back(ada, reads_plans):
    services.forget(ada.pk, topic="plan", by="customer", now=NOW + DAY)

    pipeline.run(closed(ada, "it is Cedar", at=NOW).pk, now=NOW + 2 * DAY)

    assert not Memory.objects.filter(kind="fact", status="active").exists()


def test_nothing_said_before_is_kept_once_everything_is_to_go(ada, reads_plans):
    services.request_erase(ada.pk, now=NOW + DAY)

    pipeline.run(closed(ada, "it is Cedar", at=NOW).pk, now=NOW + 2 * DAY)

    assert not Memory.objects.filter(kind="fact").exists()


def test_what_is_told_afterwards_is_remembered(ada, told):
    services.forget(ada.pk, topic="plan", by="customer", now=NOW + 5 * DAY)
    pipeline.run(closed(ada, "it is Cedar", at=NOW + 7 * DAY).pk, now=NOW + 7 * DAY)

    assert Memory.objects.get(status="active", kind="fact").value == "Cedar One"


def test_a_request_that_the_agent_reads_counts_as_well(ada, told):
    pipeline.run(closed(ada, "please forget my plan", at=NOW + 5 * DAY).pk, now=NOW + 5 * DAY)

    assert {m.status for m in Memory.objects.filter(kind="fact")} == {"forgotten"}
    assert "Birch" not in values()


def test_the_customer_names_it_in_words(ada, told):
    assert services.forget(ada.pk, request="forget my plan", by="customer", now=NOW + 5 * DAY).count


@pytest.mark.parametrize("how", ["forget", "erase"])
def test_what_it_taught_its_topic_goes_too(ada, told, plan, how):
    Memory.objects.filter(kind="fact", status="active").update(status="pending")
    services.review(Memory.objects.get(status="pending").pk, approve=True, by="staff:1", now=NOW)
    plan.refresh_from_db()
    assert "it is Birch" in plan.examples

    if how == "forget":
        services.forget(ada.pk, topic="plan", by="customer", now=NOW + 5 * DAY)
    else:
        services.erase(ada.pk, by="staff:1", now=NOW + 5 * DAY)

    plan.refresh_from_db()
    assert "it is Birch" not in plan.examples


def test_a_summary_no_longer_names_what_was_forgotten(ada, told):
    services.forget(ada.pk, topic="plan", by="customer", now=NOW + 5 * DAY)

    assert all("Plan" not in m.text for m in Memory.objects.filter(kind="summary"))


def test_deleting_everything_stops_recall_and_asks_staff_with_a_due_date(ada, told):
    services.request_erase(ada.pk, now=NOW + 5 * DAY)

    ada.refresh_from_db()
    assert ada.erase_requested_at == NOW + 5 * DAY
    assert ada.erase_due_at > NOW + 5 * DAY
    assert not Memory.objects.filter(status="active").exists()
    assert "Birch" not in values()


def test_what_is_merely_taken_back_keeps_its_history(ada, told, plan):
    m = Memory.objects.get(kind="fact", status="active")
    (message,) = transcript("I am not with Birch any more", at=NOW + 9 * DAY).messages
    taken = claim(plan, "Birch Plus", message, intent=Intent.RETRACT)
    with pipeline.locks.customer_locked(ada.pk) as customer:
        pipeline.settle(customer, [taken], source=pipeline.write.Source("customer", NOW + 9 * DAY))

    m.refresh_from_db()
    assert (m.status, m.value) == ("retracted", "Birch Plus")


def test_erasing_leaves_a_receipt_that_names_nobody(ada, ben, told):
    closed(ben, "it is Cedar")
    receipt = services.erase(ada.pk, by="staff:1", now=NOW + 9 * DAY)

    assert receipt.counts["memory.Memory"] == 4
    assert not Customer.objects.filter(pk=ada.pk).exists()
    assert Customer.objects.filter(pk=ben.pk).exists()
    assert "Ada" not in dump()
    assert "Acorn" not in values()
    assert "Cedar" in values()


def test_an_export_holds_what_is_kept_of_this_customer_alone(ada, ben, told):
    closed(ben, "it is Cedar")

    told_of = str(services.export(ada.pk, now=NOW))

    assert "Birch Plus" in told_of
    assert "it is Acorn" in told_of
    assert "Cedar" not in told_of


def test_every_model_with_a_path_to_the_customer_is_registered():
    listed = {label for keeper in services.keepers().values() for label in keeper.models}
    leading = {Customer}
    while True:
        more = {
            model
            for model in apps.get_models()
            for f in model._meta.get_fields()
            if f.is_relation and f.concrete and f.related_model in leading
        } - leading
        if not more:
            break
        leading |= more
    ours = {m._meta.label for m in leading if m._meta.app_label in services.keepers()}
    assert ours - listed == set()
