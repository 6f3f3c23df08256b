"""A visitor turns out to be somebody known: all goes over, nothing wins over what is known."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from chat import conversations, identity
from escalations.models import Delivery, MemoryView, StaffNote
from memory import services
from memory.models import AnswerMatch, Conflict, Customer, Episode, Memory, MemoryEvent
from tests.factories import NOW, make_conversation, make_customer, make_topic


@pytest.fixture
def known(db):
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def visitor(db):
    return make_customer("", kind="visitor")


@pytest.fixture
def plan(db):
    return make_topic("plan", cardinality="one")


def remember(customer, text, topic, **fields):
    return Memory.objects.create(
        customer=customer, topic=topic, category=topic.category, text=text, value=text,
        single_valued=topic.cardinality == "one", stated_at=NOW, recorded_at=NOW,
        confirmed_at=NOW, **fields,
    )  # fmt: skip


def merge(visitor, known):
    return services.merge(visitor.pk, known.pk, by="staff:1", now=NOW)


def test_everything_of_any_app_goes_over(visitor, known, plan):
    chat = make_conversation(visitor)
    conversations.record_customer_message(chat.pk, client_id="a", text="mornings only", now=NOW)
    identity.issue(visitor.pk, address="", now=NOW)
    old, new = remember(visitor, "Acorn", plan), remember(visitor, "Oak", plan, status="pending")
    Conflict.objects.create(
        customer=visitor, topic=plan, old=old, new=new, opened_at=NOW, due_at=NOW
    )
    Episode.objects.create(customer=visitor, ref="r", transcript={}, ended_at=NOW, recorded_at=NOW)
    AnswerMatch.objects.create(
        customer=visitor, asked="q", asked_normalised="q", outcome="open", created_at=NOW
    )
    MemoryEvent.objects.create(customer=visitor, kind="memory.created", at=NOW, actor="customer")
    Delivery.objects.create(
        customer=visitor, kind="link_back", to="v@example.org", subject="s", body="b",
        created_at=NOW,
    )  # fmt: skip
    MemoryView.objects.create(customer=visitor, topics=["plan"], at=NOW)
    StaffNote.objects.create(customer=visitor, text="Calls herself Ada", created_at=NOW)
    held = list(Customer._meta.related_objects)
    empty = [
        r.related_model.__name__
        for r in held
        if not r.related_model._base_manager.filter(**{r.field.name: visitor}).exists()
    ]
    assert empty == [], "give the visitor one of each, so that this test sees it move"

    merge(visitor, known)

    lost = [
        r.related_model.__name__
        for r in held
        if not r.related_model._base_manager.filter(**{r.field.name: known}).exists()
    ]
    assert lost == ["VisitorToken"]  # a browser is signed in by nobody's word but its own
    assert not Customer.objects.filter(pk=visitor.pk).exists()
    assert MemoryEvent.objects.get(kind="customer.merged").customer == known
    chat.refresh_from_db()
    assert chat.close_reason == "identified"
    texts = [m["text"] for e in Episode.objects.exclude(ref="r") for m in e.transcript["messages"]]
    assert texts == ["mornings only"]  # what the open chat held is read, too


def test_what_contradicts_what_is_known_waits_for_a_person(visitor, known, plan):
    own, told = remember(known, "Birch", plan), remember(visitor, "Acorn", plan)

    merge(visitor, known)

    own.refresh_from_db()
    told.refresh_from_db()
    assert own.status == "active"
    assert (told.status, told.needs_review, told.customer) == ("pending", True, known)
    assert [w.pk for w in services.to_review(NOW)] == [told.pk]
    assert MemoryEvent.objects.filter(memory=told, kind="memory.merged").exists()


def test_what_says_the_same_stands_once(visitor, known, plan):
    own, told = remember(known, "Birch", plan), remember(visitor, "birch", plan)

    merge(visitor, known)

    told.refresh_from_db()
    assert (told.status, told.superseded_by) == ("superseded", own)


def test_what_was_not_known_is_known_now(visitor, known, plan):
    remember(visitor, "Acorn", plan)
    merge(visitor, known)
    assert Memory.objects.get(status="active").customer == known


def test_a_vote_for_the_same_words_counts_once(visitor, known):
    answer = services.add_answer(title="T?", parts=["x"], by="staff:1", now=NOW)
    for customer in (visitor, known):
        AnswerMatch.objects.create(
            customer=customer, asked="q", asked_normalised="q", outcome="chosen", answer=answer,
            created_at=NOW,
        )  # fmt: skip
    Episode.objects.create(customer=known, ref="r", transcript={}, ended_at=NOW, recorded_at=NOW)
    Episode.objects.create(customer=visitor, ref="r", transcript={}, ended_at=NOW, recorded_at=NOW)

    merge(visitor, known)

    assert AnswerMatch.objects.get().customer == known
    assert Episode.objects.filter(customer=known).count() == 2


@pytest.mark.parametrize("which", ["known into visitor", "visitor into visitor", "to be erased"])
def test_only_a_visitor_goes_into_somebody_named(visitor, known, which):
    if which == "to be erased":
        services.request_erase(known.pk, now=NOW)
    pair = {
        "known into visitor": (known, visitor),
        "visitor into visitor": (visitor, make_customer("", kind="visitor")),
        "to be erased": (visitor, known),
    }[which]
    with pytest.raises(ValueError, match=r"visitor is merged|asked to be forgotten"):
        merge(*pair)
    assert Customer.objects.filter(pk=visitor.pk).exists()


def test_the_admin_asks_first(client, visitor, known, plan):
    client.force_login(User.objects.create_superuser("boss"))
    remember(visitor, "Acorn", plan)
    chosen = {"action": "merge_chosen", "_selected_action": [visitor.pk, known.pk]}

    page = client.post(reverse("admin:memory_customer_changelist"), chosen, follow=True)
    assert "Merge them" in page.content.decode()
    assert Customer.objects.count() == 2

    client.post(reverse("admin:memory_customer_merge"), {"visitor": visitor.pk, "into": known.pk})
    assert Customer.objects.get() == known

    one = {"action": "merge_chosen", "_selected_action": [known.pk]}
    page = client.post(reverse("admin:memory_customer_changelist"), one, follow=True)
    assert "Choose two" in page.content.decode()


def test_what_staff_confirmed_for_both_can_be_confirmed_again(visitor, known, ben):
    answer = services.add_answer(
        title="Where can I park?", parts=["Behind the house."], by="staff:1", author_name="Sam",
        role="", now=NOW,
    )  # fmt: skip
    for customer in (visitor, known):
        services.confirm_wording(
            answer.pk, asked="a place for my car", customer_id=customer.pk, now=NOW
        )
    merge(visitor, known)

    services.confirm_wording(answer.pk, asked="a place for my car", customer_id=known.pk, now=NOW)

    found = services.answer_for("A place for my car?", customer_id=ben.pk, now=NOW, ref="t")
    assert (found.way, found.candidates[0].answer_id) == ("deliver", answer.pk)
