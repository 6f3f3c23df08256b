"""What is to hold from a later day on: today's value stays till then, and gives way by itself."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from config.demo.topics import TOPICS
from memory import pipeline, services
from memory.lifecycle import propose
from memory.models import Memory, Topic
from memory.speech import times
from memory.types import Candidate, Category, Said, Transcript
from tests.factories import make_topic
from tests.memory.episodes import transcript

MONDAY = datetime(2026, 2, 2, 15, 0, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")
APRIL = datetime(2026, 4, 1, tzinfo=NEW_YORK)
DAY = timedelta(days=1)


def since(text, said_at=MONDAY):
    found = times.holds(text, said_at=said_at, timezone="America/New_York").since
    return found and found.at


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("from April I'm with Delta", (2026, 4, 1)),
        ("I'm with Delta from April 15th on", (2026, 4, 15)),
        ("starting next Monday I can only do mornings", (2026, 2, 9)),
        ("Starting Thursday, please e-mail me", (2026, 2, 5)),
        ("from the 3rd of March my address is 4 Hill Rd", (2026, 3, 3)),
        ("as of March 1, 2026 we're on Business", (2026, 3, 1)),
        ("effective May 1 my plan is Gold", (2026, 5, 1)),
        ("from next month I'm with Delta", (2026, 3, 1)),
        ("from next week I work from home", (2026, 2, 9)),
        ("from tomorrow call my mobile", (2026, 2, 3)),
        ("starting in two weeks it's Delta", (2026, 2, 16)),
        ("next month I'm switching to Delta", (2026, 3, 1)),
        ("we're moving to Leeds in April", (2026, 4, 1)),
        ("I'll switch to the Pro plan on March 5", (2026, 3, 5)),
        ("from the 15th it's Delta", (2026, 2, 15)),
    ],
)
def test_a_day_to_come_is_understood(text, first):
    assert since(text) == datetime(*first, tzinfo=NEW_YORK)


@pytest.mark.parametrize(
    "text",
    [
        "from now on mornings only",
        "I work from Monday to Friday",
        "from Mondays on I'm tired",
        "I'm free from 3 on",
        "the invoice from January",
        "I switched to Delta in January",
        "I moved in April",
        "I come from Leeds",
        "I may come from the north",
        "as of last month I'm with Delta",
        "I'm with Delta",
    ],
)
def test_what_holds_already_or_every_week_has_no_first_day(text):
    assert since(text) is None


@pytest.mark.parametrize("said_in", [1, 2, 3, 9, 10, 11, 12])
def test_a_month_is_the_next_one_of_that_name(said_in):
    at = datetime(2026, said_in, 10, 12, tzinfo=UTC)
    year = 2026 if said_in < 4 else 2027

    found = since("from April I'm with Delta", at)

    assert found == (datetime(year, 4, 1, tzinfo=NEW_YORK) if said_in != 9 else None)


def test_a_range_begins_and_ends():
    found = times.holds(
        "from April to June I'm in Leeds", said_at=MONDAY, timezone="America/New_York"
    )

    assert found.since.at == APRIL
    assert found.until.at.date() == datetime(2026, 6, 30).date()


def test_a_time_is_counted_from_its_beginning():
    found = times.holds("from April for two weeks", said_at=MONDAY, timezone="America/New_York")

    assert found.until.at.date() == datetime(2026, 4, 15).date()


@pytest.fixture
def insurance(db):
    of_the_demo = next(t for t in TOPICS if t["key"] == "insurance_plan")
    return make_topic(**of_the_demo | {"key": "insurance"})


def says(customer, *texts, at):
    said = transcript(*texts, at=at)
    said = Transcript(said.messages, "America/New_York")
    row = services.remember_later(said, customer_id=customer.pk, ref=at.isoformat(), now=at)
    pipeline.run(row.pk, now=at)


def stands(customer, now):
    values = plans(services.known_about(customer.pk, now=now))
    found = services.recall(customer.pk, "which insurance plan do I have?", now=now, gate=False)
    assert plans(found.facts) == values
    return values


def plans(facts):
    names = ("Cigna PPO", "Delta PPO", "Cigna", "Delta Dental", "Aetna", "Guardian")
    return [next(n for n in names if n in f.value) for f in facts]


@pytest.mark.django_db
class TestTheRows:
    @pytest.fixture(autouse=True)
    def told(self, ada, insurance):
        says(ada, "I'm with Cigna.", at=MONDAY - 9 * DAY)
        says(ada, "From April I'm with Delta Dental.", at=MONDAY)

    def test_todays_value_stays_till_the_day_and_the_new_one_takes_over(self, ada):
        assert stands(ada, MONDAY + DAY) == ["Cigna"]
        assert stands(ada, APRIL - timedelta(seconds=1)) == ["Cigna"]
        assert stands(ada, APRIL) == ["Delta Dental"]

    def test_the_nightly_run_relabels_and_changes_no_answer(self, ada):
        for now in (MONDAY + DAY, APRIL + DAY, APRIL + DAY):
            before = stands(ada, now)
            services.nightly(now=now)
            assert stands(ada, now) == before

        old, new = Memory.objects.filter(kind="fact").order_by("pk")
        assert (old.status, old.superseded_by, old.ended_at) == ("superseded", new, APRIL)
        assert new.status == "active"

    def test_said_again_it_changes_nothing(self, ada):
        says(ada, "As I said: from April I'm with Delta Dental.", at=MONDAY + DAY)

        assert stands(ada, MONDAY + 2 * DAY) == ["Cigna"]
        assert stands(ada, APRIL) == ["Delta Dental"]

    def test_a_change_in_between_holds_till_the_day_that_was_named(self, ada):
        says(ada, "I'm with Aetna now.", at=MONDAY + 5 * DAY)

        assert stands(ada, MONDAY + 6 * DAY) == ["Aetna"]
        assert stands(ada, APRIL + DAY) == ["Delta Dental"]

    def test_another_plan_for_another_day_takes_the_first_ones_place(self, ada):
        says(ada, "From May I'm with Guardian.", at=MONDAY + 5 * DAY)

        assert stands(ada, APRIL + DAY) == ["Cigna"]
        assert stands(ada, APRIL + 40 * DAY) == ["Guardian"]

    def test_what_came_sooner_than_planned_holds_at_once(self, ada):
        says(ada, "I'm with Delta Dental now.", at=MONDAY + 20 * DAY)

        assert stands(ada, MONDAY + 21 * DAY) == ["Delta Dental"]
        assert stands(ada, APRIL + DAY) == ["Delta Dental"]

    def test_read_late_it_comes_to_the_same(self, ada, ben):
        for text, at in (
            ("I'm with Cigna.", MONDAY),
            ("From April I'm with Delta Dental.", MONDAY + DAY),
        ):
            said = Transcript(transcript(text, at=at).messages, "America/New_York")
            services.remember_later(said, customer_id=ben.pk, ref=at.isoformat(), now=at)
        services.nightly(now=APRIL + 9 * DAY)

        assert stands(ben, APRIL + 10 * DAY) == ["Delta Dental"]

    def test_what_staff_correct_today_leaves_the_day_to_come(self, ada):
        today = Memory.objects.get(kind="fact", value__contains="Cigna")
        services.correct(today.pk, value="Cigna PPO", text="", by="staff:1", now=MONDAY + DAY)

        assert stands(ada, MONDAY + 2 * DAY) == ["Cigna PPO"]
        assert stands(ada, APRIL + DAY) == ["Delta Dental"]

    def test_what_staff_correct_of_the_day_to_come_leaves_today(self, ada):
        planned = Memory.objects.get(kind="fact", value__contains="Delta")
        services.correct(planned.pk, value="Delta PPO", text="", by="staff:1", now=MONDAY + DAY)

        assert stands(ada, MONDAY + 2 * DAY) == ["Cigna"]
        assert stands(ada, APRIL + DAY) == ["Delta PPO"]

    def test_forgotten_both_are_gone(self, ada):
        services.forget(ada.pk, topic="insurance", by="customer", now=MONDAY + DAY)

        assert stands(ada, MONDAY + 2 * DAY) == []
        assert stands(ada, APRIL + DAY) == []


@pytest.mark.django_db
@pytest.mark.parametrize("decision", ["replace", "both"])
def test_a_card_about_a_day_to_come_leaves_today_alone(ada, insurance, decision):
    old = services.remember(
        ada.pk, topic="insurance", value="Cigna", text="", by="staff:1", now=MONDAY - DAY
    )
    says(ada, "From April I'm with Delta Dental.", at=MONDAY)
    card = ada.conflicts.get()
    assert card.old == old
    services.decide_conflict(card.pk, decision=decision, now=MONDAY + DAY)

    assert stands(ada, MONDAY + 2 * DAY) == ["Cigna"]
    assert stands(ada, APRIL + DAY) == ["Delta Dental"]


@pytest.mark.django_db
class TestAcceptedBesideAPlan:
    """Staff corrected today's value, and another one is to take over in April."""

    @pytest.fixture
    def card(self, ada, insurance):
        says(ada, "I'm with Cigna.", at=MONDAY - 9 * DAY)
        says(ada, "From April I'm with Delta Dental.", at=MONDAY - 5 * DAY)
        today = Memory.objects.get(kind="fact", value__contains="Cigna")
        services.correct(today.pk, value="Cigna PPO", text="", by="staff:1", now=MONDAY - 4 * DAY)
        says(ada, "I'm with Guardian now.", at=MONDAY)
        return ada.conflicts.get()

    @pytest.fixture(params=["card", "queue"])
    def way(self, request, card):
        """Decide and undo, by the card or by the queue."""
        if request.param == "card":
            return (
                lambda: services.decide_conflict(card.pk, decision="replace", now=MONDAY + DAY),
                lambda: services.undo_conflict(card.pk, now=MONDAY + DAY),
            )
        return (
            lambda: services.review(card.new_id, approve=True, by="staff:1", now=MONDAY + DAY),
            lambda: services.undo_review(card.new_id, by="staff:1", now=MONDAY + DAY),
        )

    def test_one_value_holds_today_and_the_plan_stays(self, ada, way):
        way[0]()

        assert stands(ada, MONDAY + 2 * DAY) == ["Guardian"]
        assert stands(ada, APRIL + DAY) == ["Delta Dental"]

    def test_undone_all_is_as_it_was(self, ada, card, way):
        def rows():
            kept = Memory.objects.order_by("pk")
            return list(kept.values_list("value", "status", "valid_until", "superseded_by"))

        before = rows()
        way[0]()
        way[1]()

        assert rows() == before


@pytest.mark.django_db
def test_a_proposal_for_now_ends_today_and_the_plan_and_undoing_brings_both_back(ada, insurance):
    says(ada, "I'm with Cigna.", at=MONDAY - 9 * DAY)
    says(ada, "From April I'm with Delta Dental.", at=MONDAY - 5 * DAY)
    waits = services.propose(
        ada.pk, topic="insurance", category="confirmed_fact", value="Guardian", text="Guardian",
        evidence={}, by="api:shop", now=MONDAY,
    )  # fmt: skip

    services.review(waits.pk, approve=True, by="staff:1", now=MONDAY + DAY)
    assert stands(ada, MONDAY + 2 * DAY) == stands(ada, APRIL + DAY) == ["Guardian"]

    services.undo_review(waits.pk, by="staff:1", now=MONDAY + DAY)
    assert stands(ada, MONDAY + 2 * DAY) == ["Cigna"]
    assert stands(ada, APRIL + DAY) == ["Delta Dental"]


@pytest.mark.django_db
def test_in_the_same_chat_todays_value_is_used_till_then(ada, insurance):
    says(ada, "I'm with Cigna.", at=MONDAY - 9 * DAY)
    said = Transcript((Said(1, "customer", "From April I'm with Delta Dental.", MONDAY),), "UTC")
    working = services.listen(said, customer_id=ada.pk, now=MONDAY)
    assert working[0]["valid_from"]

    found = services.recall(
        ada.pk, "which insurance do I have?", now=MONDAY, working=working, gate=False
    )

    assert plans(found.facts) == ["Cigna"]


def test_a_model_may_name_the_day_too():
    topic = Topic(key="insurance", category="confirmed_fact", label="Plan")
    from memory.lifecycle.known import spec

    item = {
        "topic": "insurance",
        "intent": "state",
        "value": "Delta",
        "sentence": "Is with Delta from April.",
        "quote": "from April I'm with Delta",
        "seq": 1,
        "negated": False,
        "adds": False,
        "valid_from": "2026-04-01T00:00:00-04:00",
        "valid_until": "",
        "sure": 0.9,
    }
    said = Transcript((Said(1, "customer", item["quote"], MONDAY),))

    (found,) = propose.propose(
        said, [spec(topic)], instructions="", fill=lambda *asked: {"items": [item]}
    )

    assert isinstance(found, Candidate)
    assert (found.valid_from, found.category) == (APRIL, Category.CONFIRMED_FACT)
