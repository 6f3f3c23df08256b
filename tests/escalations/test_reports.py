"""The figures: each from rows that were really written, by the business's own weeks."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from chat.models import Message, Turn
from escalations import claim, reply, reports
from escalations.models import Escalation
from escalations.templatetags.charts import chart
from memory.models import Answer, AnswerMatch, MemoryEvent
from tests.factories import NOW, make_conversation, make_customer

NEW_YORK = ZoneInfo("America/New_York")


@pytest.fixture
def charts():
    def draw(until=NOW + timedelta(days=1), weeks=8):
        period = reports.Period(until - timedelta(weeks=weeks), until, NEW_YORK)
        return {chart.name: chart for chart in reports.report(period)}

    return draw


def sums(chart):
    return [sum(series.values.values()) for series in chart.series]


def turn(conversation, outcome, at, **trace):
    return Turn.objects.create(
        conversation=conversation, question_seq=1, outcome=outcome, trace=trace, created_at=at
    )


def match(outcome, at):
    return AnswerMatch.objects.create(
        asked="x", asked_normalised="x", outcome=outcome, created_at=at
    )


def test_say_in_whose_words_messages_were_answered(charts, ask, ada):
    match("delivered", NOW)
    match("delivered", NOW)
    match("chosen", NOW)
    ask(ada)

    ways = charts()["ways"]

    assert ways.said == "3 in stored words, 1 handed to a person."
    assert sums(ways)[:2] == [2, 1]


def test_count_each_message_that_went_to_a_person(charts, ask, ada):
    first = ask(ada)
    ask(ada, "And may I drink?", conversation=first.conversation)
    ask(ada, "I cannot breathe", reason="emergency", conversation=first.conversation)

    assert charts()["ways"].said == "0 in stored words, 3 handed to a person."


@pytest.mark.parametrize(
    ("answers", "said"),
    [(0, "0 minutes"), (1, "3 minutes"), (20, "60 minutes"), (40, "2 hours"), (60, "3 hours")],
)
def test_give_back_only_the_time_that_a_person_was_spared(charts, queue, ada, answers, said):
    conversation = make_conversation(ada)
    for outcome in ("answered",) * answers:
        turn(conversation, outcome, NOW)
    for outcome in ("noted", "forgot", "offered", "asked", "small_talk", "handed_over", "dropped"):
        turn(conversation, outcome, NOW)

    assert charts()["given-back"].said == f"{said} in all."


def test_give_back_what_was_known_and_what_a_note_said(charts, queue, ada):
    conversation = make_conversation(ada)
    for outcome in ("recalled", "note"):
        turn(conversation, outcome, NOW)

    assert charts()["given-back"].said == "6 minutes in all."


def test_tell_of_the_first_week_though_it_is_not_over(charts, queue, ada):
    conversation = make_conversation(ada)
    night = NOW + timedelta(hours=9)
    for outcome in ("answered", "handed_over"):
        turn(conversation, outcome, night)

    drawn = charts()

    assert drawn["after-hours"].said == "50% in this week so far."
    assert not chart(drawn["after-hours"])["empty"]


def test_count_a_repeat_that_needed_a_person(charts, ask, ada, sam):
    week_ago = NOW - timedelta(days=7)
    answer = Answer.objects.create(
        title="T", parts=["x"], said_at=week_ago, recorded_at=week_ago - timedelta(days=1)
    )
    escalation = ask(ada, now=week_ago)
    escalation.questions.update(answer=answer)
    for _ in range(3):
        match("delivered", week_ago)

    assert list(charts()["repeats"].series[0].values.values()) == [25.0]


def test_measure_the_wait_in_opening_hours(charts, ask, ada, sam):
    friday = NOW + timedelta(days=4, hours=6, minutes=30)  # 16:30 in New York
    escalation = ask(ada, now=friday)
    monday = friday + timedelta(days=2, hours=15)  # 8:30: the clock was changed on Sunday
    claim.claim(escalation.pk, staff=sam, now=monday)
    reply.send(escalation.pk, staff=sam, text="24 h", seen_seq=None, now=monday)

    waits = charts(until=monday + timedelta(days=1))["first-reply"].series[0].values

    assert sum(waits.values()) == 60


def test_see_what_was_asked_again(charts, ask, ada, sam):
    first = ask(ada)
    claim.claim(first.pk, staff=sam, now=NOW)
    reply.resolve(first.pk, staff=sam, now=NOW)

    ask(ada, now=NOW + timedelta(hours=1))

    assert Escalation.objects.get(pk=first.pk).reopened_at is not None
    assert charts()["reopened"].said == "1 of 1 came back."


def test_leave_alone_what_another_customer_asks(charts, ask, ada, ben, sam):
    first = ask(ada)
    claim.claim(first.pk, staff=sam, now=NOW)
    reply.resolve(first.pk, staff=sam, now=NOW)

    ask(ben, now=NOW + timedelta(hours=1))

    assert charts()["reopened"].said == "0 of 1 came back."


def test_tell_what_was_settled_while_the_door_was_shut(charts, queue, ada):
    conversation = make_conversation(ada)
    sunday = NOW - timedelta(days=8)
    for outcome in ("answered", "answered", "handed_over", "small_talk"):
        turn(conversation, outcome, sunday)
    turn(conversation, "handed_over", NOW - timedelta(days=7))  # Monday at ten: open

    assert list(charts()["after-hours"].series[0].values.values()) == [67.0]


def test_tell_confirmed_from_assumed(charts, queue):
    week_ago = NOW - timedelta(days=7)
    for rating in (1, None, None, -1):
        conversation = make_conversation(
            make_customer("C"), rating=rating, last_message_at=week_ago, closed_at=week_ago
        )
        turn(conversation, "answered", week_ago)

    assert sums(charts()["resolved"]) == [1, 2, 0]


def test_count_what_was_left_alone_and_what_a_model_wrote(charts, queue, ada):
    conversation = make_conversation(ada)
    week_ago = NOW - timedelta(days=7)
    turn(conversation, "answered", week_ago, gate={"skipped": True}, engine="offline")
    turn(conversation, "answered", week_ago, gate={"skipped": False}, moves=["Remark"])

    drawn = charts()

    assert list(drawn["gate"].series[0].values.values()) == [50.0]
    assert sums(drawn["ways"])[4] == 1
    assert sums(drawn["given-back"]) == [6.0]


def test_tell_how_messages_ended_that_no_stored_words_answered(charts, queue, ada):
    conversation = make_conversation(ada)
    for outcome in ("offered", "offered", "asked"):
        turn(conversation, outcome, NOW - timedelta(days=7))

    assert sums(charts()["ways"])[2:4] == [2, 1]


def test_tell_what_was_learnt_said_again_replaced_and_forgotten(charts, queue):
    for kind, number in (("created", 4), ("reinforced", 3), ("superseded", 2), ("forgotten", 1)):
        for _ in range(number):
            MemoryEvent.objects.create(kind=f"memory.{kind}", at=NOW - timedelta(days=7), actor="x")

    assert sums(charts()["memory"]) == [4, 3, 2, 1]


def test_count_a_week_by_the_clock_of_the_business(charts, queue, ada):
    conversation = make_conversation(ada)
    monday = datetime(2026, 2, 23, tzinfo=NEW_YORK)  # five hours earlier by the other clock
    for minutes in (-30, 30):
        turn(conversation, "asked", monday + timedelta(minutes=minutes))

    asked = charts()["ways"].series[3].values

    assert {week: n for week, n in asked.items() if n} == {
        date(2026, 2, 16): 1.0,
        date(2026, 2, 23): 1.0,
    }


def test_draw_a_share_of_nought_and_no_bars_of_nought(charts, queue, ada):
    turn(make_conversation(ada), "answered", NOW - timedelta(days=7))
    drawn = charts()

    assert drawn["gate"].series[0].values
    assert not sum(sums(drawn["gate"]))
    assert not chart(drawn["gate"])["empty"]
    assert chart(drawn["reopened"])["empty"]


def test_cost_few_queries_for_a_year(charts, queue, ada, django_assert_max_num_queries):
    turn(make_conversation(ada), "answered", NOW)
    charts()  # what a first request asks once
    with django_assert_max_num_queries(13):
        charts(weeks=52)


class TestAQuestionThatCameBack:
    """Asked again within the days of the rule: what the bot settled before was not settled."""

    @pytest.fixture
    def asked(self, queue):
        def ask_the_bot(customer, text, at, answer=None):
            conversation = make_conversation(customer, last_message_at=at, closed_at=at)
            turn(conversation, "answered", at)
            message = Message.objects.create(
                conversation=conversation, seq=1, sender="customer", text=text, created_at=at
            )
            AnswerMatch.objects.create(
                customer=customer, asked=text, asked_normalised=text, answer=answer,
                outcome="delivered", ref=f"message:{message.pk}", created_at=at,
            )  # fmt: skip

        return ask_the_bot

    @pytest.fixture
    def answer(self, db):
        return Answer.objects.create(title="T", parts=["x"], said_at=NOW, recorded_at=NOW)

    @pytest.mark.parametrize(
        ("days", "expected"), [(3, [0, 1, 1]), (8, [0, 2, 0])], ids=["soon", "late"]
    )
    def test_takes_the_first_answer_back_if_it_came_soon(self, charts, asked, ada, days, expected):
        asked(ada, "may i eat?", NOW - timedelta(days=days + 1))
        asked(ada, "may i eat?", NOW - timedelta(days=1))

        assert sums(charts()["resolved"]) == expected

    def test_is_known_by_the_answer_when_the_words_differ(self, charts, asked, ada, answer):
        asked(ada, "may i eat?", NOW - timedelta(days=3), answer)
        asked(ada, "is food allowed?", NOW - timedelta(days=2), answer)
        assert sums(charts()["resolved"]) == [0, 1, 1]

    def test_is_nobody_elses(self, charts, asked, ada, answer):
        asked(ada, "may i eat?", NOW - timedelta(days=3), answer)
        asked(make_customer("Ben"), "may i eat?", NOW - timedelta(days=2), answer)
        assert sums(charts()["resolved"]) == [0, 2, 0]
