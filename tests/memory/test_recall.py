"""What a message gets to know: her own, what holds today, what nobody doubts."""

import random
from dataclasses import asdict
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import services
from memory.llm.embeddings import embed, embed_one, embedder
from memory.models import Conflict, Episode, Memory
from memory.types import Said, Transcript
from tests.factories import NOW, make_customer, make_topic

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
ASKED = "which insurance plan do you have for me?"


@pytest.fixture
def ada():
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def ben():
    return make_customer("Ben", external_id="ben")


@pytest.fixture
def plan():
    return make_topic("insurance_plan", examples=["I'm with Acorn", "we have Birch now"])


def remember(customer, text, topic=None, **more):
    at = more.pop("at", NOW - 5 * DAY)
    fields = {"stated_at": at, "recorded_at": at, "confirmed_at": at, "value": text}
    fields |= {"category": "confirmed_fact", "text": text, "topic": topic}
    fields |= {"single_valued": topic is not None and topic.cardinality == "one"}
    if "embedding" not in more:
        fields |= {"embedding": embed_one(text)}
    fields |= {"embedding_model": embedder().model} | more
    return Memory.objects.create(customer=customer, **fields)


def texts(recalled):
    return [f.text for f in recalled.facts]


def recall(customer, message=ASKED, **more):
    return services.recall(customer.pk, message, now=more.pop("now", NOW), **more)


def test_ben_never_sees_what_ada_said(ada, ben, plan):
    remember(ada, "I'm with Acorn", plan)

    assert texts(recall(ada)) == ["I'm with Acorn"]
    assert recall(ben).context == ""


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10_000))
def test_whatever_is_stored_a_customer_gets_her_own(ada, ben, seed):
    chance = random.Random(seed)
    for n in range(8):
        remember(chance.choice([ada, ben]), f"fact {seed} {n} about {chance.choice('abc')}")

    for customer in (ada, ben):
        found = recall(customer, "what do you know about a?", gate=False, explain=True)
        assert {f.customer_id for f in (*found.facts, *found.rejected)} <= {customer.pk}


def test_small_talk_looks_nothing_up(ada, plan, django_assert_num_queries):
    remember(ada, "I'm with Acorn", plan)
    recall(ada)

    with django_assert_num_queries(0):
        assert recall(ada, "thank you, bye!").skipped


def test_a_question_about_what_they_told_of_finds_it_without_a_my_or_mine(ada, ben):
    place = make_topic(
        "leave_with",
        label="Where to leave parcels",
        description="Where parcels are left when nobody is in.",
        examples=["leave it in the shed", "the neighbour at 12 takes my parcels"],
    )
    remember(ada, "into the boiler house with it", place)

    asked = "where do parcels go when nobody answers?"
    assert texts(recall(ada, asked)) == ["into the boiler house with it"]
    assert recall(ben, asked).skipped
    assert recall(ada, "how much is a parcel to Spain?").skipped
    assert recall(ada, "thanks, parcels found!").skipped


def test_the_number_of_queries_does_not_grow_with_what_is_known(
    ada, plan, django_assert_num_queries
):
    for n in range(60):
        remember(ada, f"fact number {n}")
    recall(ada)

    with django_assert_num_queries(3):
        recall(ada)


def test_what_is_over_is_not_used(ada, plan):
    remember(ada, "I'm with Acorn", plan, status="superseded")
    remember(ada, "Birch until yesterday", plan, valid_until=NOW - DAY)
    remember(ada, "Cedar from tomorrow", valid_from=NOW + DAY)

    assert texts(recall(ada, explain=True)) == []


def test_a_temporary_exception_wins_while_it_holds(ada, plan):
    remember(ada, "I'm with Acorn", plan, at=NOW - DAY)
    remember(ada, "Birch for this week", plan, at=NOW - 3 * DAY, valid_until=NOW + DAY)

    assert texts(recall(ada)) == ["Birch for this week"]
    assert texts(recall(ada, now=NOW + 2 * DAY)) == ["I'm with Acorn"]


def test_what_she_said_in_this_conversation_comes_first(ada, plan):
    remember(ada, "I'm with Acorn", plan)
    said = {
        "topic": plan.key,
        "value": "Cedar",
        "text": "It's Cedar now",
        "category": plan.category,
    }

    assert texts(recall(ada, working=[said])) == ["It's Cedar now"]


def test_what_she_takes_back_in_this_conversation_is_not_said_again(ada, plan):
    remember(ada, "I'm with Acorn", plan)
    gone = {"topic": plan.key, "value": "", "intent": "retract", "category": plan.category}

    assert texts(recall(ada, working=[gone])) == []


def test_a_topic_on_which_a_person_must_decide_is_withheld(ada, plan):
    old = remember(ada, "I'm with Acorn", plan)
    new = remember(ada, "I'm with Birch", plan, status="pending")
    Conflict.objects.create(
        customer=ada, topic=plan, old=old, new=new, opened_at=NOW, due_at=NOW + DAY
    )

    found = recall(ada)

    assert (found.facts, found.withheld) == ((), (plan.key,))
    assert services.known_about(ada.pk, now=NOW) == []


def test_what_the_worker_has_not_read_is_withheld_after_a_short_wait(ada, plan, settings):
    settings.MEMORY_WAIT_MS = 60
    remember(ada, "I'm with Acorn", plan)
    told = Transcript((Said(1, "customer", "by the way my insurance plan is Birch now", NOW),))
    Episode.objects.create(
        customer=ada,
        ref="conversation:1",
        transcript={"messages": [asdict(m) | {"at": NOW.isoformat()} for m in told.messages]},
        ended_at=NOW,
        recorded_at=NOW,
    )

    found = recall(ada)

    assert found.withheld == (plan.key,)
    assert "Acorn" not in found.context


def test_once_she_asked_for_everything_to_go_nothing_is_used(ada, plan):
    remember(ada, "I'm with Acorn", plan)
    ada.erase_requested_at = NOW
    ada.save()

    assert recall(ada).context == ""
    assert services.known_about(ada.pk, now=NOW) == []


def test_a_sensitive_fact_is_not_told_to_somebody_unverified(ada):
    topic = make_topic("health", sensitive=True)
    remember(ada, "I have epilepsy", topic, sensitive=True)
    asked = "what did I tell you about my health?"

    assert texts(recall(ada, asked)) == ["I have epilepsy"]
    assert texts(recall(ada, asked, verified=False)) == []


def test_rows_of_two_models_are_never_compared(ada):
    remember(ada, "I'm with Acorn", embedding_model="another")

    fact = recall(ada, gate=False).facts[0]

    assert fact.text == "I'm with Acorn"  # by its words


def test_the_nearest_are_those_that_an_exact_search_finds(ada, ben):
    said = [f"{w} on {d}" for w in ("tea", "mail", "calls", "walks") for d in "abcdefghij"]
    for text, vector in zip(said, embed(said), strict=True):
        remember(ada, text, embedding=vector, importance=0.5)
        remember(ben, text + "!", embedding=vector)
    vector = embed_one("do you drink tea")
    exact = np.argsort([-float(v @ vector) for v in embed(said)])[:5]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memory.lifecycle.retrieve.WORDS", 0.0)
        found = recall(ada, "do you drink tea", gate=False)

    assert sorted(texts(found)) == sorted(said[i] for i in exact)


def test_as_it_was_on_a_day(ada, plan):
    remember(ada, "Acorn", plan, at=NOW - 9 * DAY, status="superseded", ended_at=NOW - 4 * DAY)
    remember(ada, "Birch", plan, at=NOW - 4 * DAY)

    days = [services.as_of(ada.pk, when=NOW - n * DAY) for n in (10, 6, 1)]

    assert [[f.value for f in facts] for facts in days] == [[], ["Acorn"], ["Birch"]]


def test_what_is_known_is_one_fact_for_a_topic_of_one_value(ada, plan):
    remember(ada, "Acorn", plan, at=NOW - DAY)
    remember(ada, "Birch for now", plan, valid_until=NOW + DAY)
    remember(ada, "likes tea")

    known = services.known_about(ada.pk, now=NOW)

    assert sorted(f.value for f in known) == ["Birch for now", "likes tea"]


def test_what_is_known_is_compared_with_words_by_the_stored_vectors_of_this_model_alone(ada, plan):
    remember(ada, "I'm with Acorn", plan)
    remember(ada, "I like the mornings", embedding_model="another")

    known = {f.text: f.near for f in services.known_about(ada.pk, now=NOW, words=ASKED)}

    assert known["I'm with Acorn"] == pytest.approx(
        float(embed_one("I'm with Acorn") @ embed_one(ASKED)), abs=0.01
    )
    assert known["I like the mornings"] is None


def test_what_is_known_is_compared_with_nothing_where_vectors_come_from_elsewhere(
    ada, plan, monkeypatch
):
    remember(ada, "I'm with Acorn", plan)
    monkeypatch.setattr("memory.services.reading.stored_here", lambda: False)

    (fact,) = services.known_about(ada.pk, now=NOW, words=ASKED)

    assert fact.near is None


def test_what_a_topic_is_about_is_never_what_another_of_its_number_was():
    first = make_topic("opening", label="Opening", examples=["when do you open?"])
    at = first.pk, first.version
    assert services.topics_near("when do you open?")["opening"] > 0.9
    first.delete()

    make_topic("boots", label="Boots", examples=["I wear a wide 9"], pk=at[0], version=at[1])

    assert services.topics_near("when do you open?")["boots"] < 0.5
