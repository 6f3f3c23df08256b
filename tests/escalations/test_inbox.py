"""What comes to the desk, where it goes, and what the customer is told."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, transaction

from chat.models import Conversation, Wording
from escalations import claim, gaps, inbox, lists, promise, reply, tasks
from escalations.models import Calendar, Escalation, Gap, Queue
from tests.factories import NOW, make_customer, make_topic

NEW_YORK = ZoneInfo("America/New_York")
FRIDAY_EVENING = datetime(2026, 3, 6, 19, 0, tzinfo=NEW_YORK)


def test_escalation_one_open_per_conversation(escalation):
    name = "escalation_one_open_per_conversation"
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        Escalation.objects.create(
            conversation=escalation.conversation, reason="no_answer", opened_at=NOW
        )


def test_escalation_claim_is_whole(escalation, sam):
    with pytest.raises(IntegrityError, match="escalation_claim_is_whole"), transaction.atomic():
        Escalation.objects.filter(pk=escalation.pk).update(claimed_by=sam)


class TestAQuestionNobodyHasAnswered:
    def test_opens_an_escalation_with_the_customers_words(self, escalation):
        question = escalation.questions.get()

        assert question.text == "How long should I wait before rinsing after an extraction?"
        assert question.reason == Escalation.Reason.NO_ANSWER
        assert escalation.conversation.handler == Conversation.Handler.WAITING

    def test_is_due_within_the_target_in_opening_hours(self, escalation):
        assert escalation.due_at == datetime(2026, 3, 2, 12, 0, tzinfo=NEW_YORK)

    def test_is_promised_by_the_calendar(self, ask, ada, log):
        escalation = ask(ada, now=FRIDAY_EVENING)

        assert escalation.promise == (
            "A person has been asked. We are open again on Monday at 8:00 (New York time),"
            " and you will find the answer here."
        )
        assert log(escalation.conversation_id)[-1] == ("system", "state", escalation.promise)

    def test_is_promised_for_today_while_open(self, escalation):
        assert escalation.promise == (
            "A person has been asked. We are open now:"
            " you will usually have the answer here today by 12:00 (New York time)."
        )

    def test_joins_what_is_open_as_one_more_question(self, ask, ada, escalation, log):
        again = ask(ada, "Do you sell night guards?", conversation=escalation.conversation)

        assert again.pk == escalation.pk
        assert again.questions.count() == 2
        assert log(escalation.conversation_id)[-1][2].startswith("This has been passed on too.")

    def test_opens_without_a_time_when_the_calendar_cannot_be_read(self, ask, ada, queue):
        Calendar.objects.update(timezone="Mars/Base")

        escalation = ask(ada)

        assert escalation.due_at is None
        assert escalation.promise == ("A person has been asked. You will find the answer here.")

    def test_opens_where_there_is_no_queue_at_all(self, ask, ada, queue):
        Queue.objects.all().delete()
        assert ask(ada).queue is None

    def test_says_the_zone_to_a_customer_who_lives_by_another_clock(self, ask, queue):
        far = make_customer("Far", timezone="Europe/Berlin")
        assert "Monday at 8:00 (New York time)" in ask(far, now=FRIDAY_EVENING).promise


class TestAnEmergency:
    def test_is_due_at_once_and_raises_what_is_open(
        self, ask, ada, escalation, django_capture_on_commit_callbacks
    ):
        later = NOW + timedelta(minutes=5)
        more = {"reason": "emergency", "now": later, "conversation": escalation.conversation}
        with django_capture_on_commit_callbacks(execute=True):
            ask(ada, "I cannot breathe", **more)

        escalation.refresh_from_db()
        assert escalation.reason == Escalation.Reason.EMERGENCY
        assert escalation.due_at == later


class TestSomebodyInPain:
    def test_stands_above_what_is_overdue_and_is_due_at_once(self, ask, ada, ben, sam):
        ask(ben, now=NOW - timedelta(days=7))
        hurts = ask(ada, "I am in terrible pain", reason="distress")

        first, second = lists.listed("unclaimed", staff=sam, now=NOW).rows
        assert (first.title, first.why) == ("I am in terrible pain", "strong pain or distress")
        assert first.urgent
        assert second.late
        assert not second.urgent
        assert hurts.due_at == NOW

    def test_stands_beneath_an_emergency(self, ask, ada, ben, sam):
        ask(ada, "I am in terrible pain", reason="distress", now=NOW - timedelta(hours=1))
        ask(ben, "I cannot breathe", reason="emergency")

        rows = lists.listed("unclaimed", staff=sam, now=NOW).rows
        assert [row.title for row in rows] == ["I cannot breathe", "I am in terrible pain"]

    def test_raises_what_is_open_and_takes_nothing_from_an_emergency(
        self, ask, ada, ben, django_capture_on_commit_callbacks
    ):
        calm, alarm = ask(ada, detail="Visit times"), ask(ben, "I bleed", reason="emergency")
        with django_capture_on_commit_callbacks(execute=True):
            for one in (calm, alarm):
                customer = one.conversation.customer
                ask(customer, "It hurts", reason="distress", conversation=one.conversation)

        calm.refresh_from_db()
        alarm.refresh_from_db()
        assert (calm.reason, calm.detail, calm.due_at) == ("distress", "", NOW)
        assert alarm.reason == "emergency"

    def test_is_raised_by_the_sweep_where_the_web_process_died(self, ask, ada, escalation):
        ask(ada, "It hurts", reason="distress", conversation=escalation.conversation)
        escalation.refresh_from_db()
        assert escalation.reason == "no_answer"  # nothing is committed in this test

        tasks.watch()

        escalation.refresh_from_db()
        assert escalation.reason == "distress"

    def test_is_read_before_it_is_closed(self, ask, ada, escalation, sam):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        reply.send(escalation.pk, staff=sam, text="Soon.", seen_seq=None, now=NOW)
        ask(ada, "It hurts", reason="distress", conversation=escalation.conversation, awaited=False)

        with pytest.raises(claim.MoreAsked):
            reply.resolve(escalation.pk, staff=sam, now=NOW)


class TestRoute:
    @pytest.fixture
    def billing(self, queue):
        billing = Queue.objects.create(name="Billing", calendar=queue.calendar)
        billing.topics.add(make_topic("insurance_plan", label="Insurance plan"))
        return billing

    def test_takes_the_queue_of_the_topic_that_the_question_names(self, billing, queue):
        assert inbox.route("Which insurances do you take?", {}) == billing
        assert inbox.route("When do you open?", {}) == queue

    def test_takes_the_queue_of_the_topic_that_the_request_carries(self, billing, queue):
        assert inbox.route("Please do it", {"topic": "insurance_plan"}) == billing

    def test_takes_the_queue_of_the_topic_that_the_turn_found_named(self, ask, ada, billing):
        trace = {"named": [["visit_times", 0.6], ["insurance_plan", 0.4]]}
        assert ask(ada, "And does it pay for that?", trace=trace).queue == billing

    def test_passes_over_a_topic_that_the_turn_was_not_sure_of(self, ask, ada, billing, queue):
        trace = {"named": [["insurance_plan", 0.1]]}
        assert ask(ada, "And does it pay for that?", trace=trace).queue == queue

    def test_takes_the_queue_of_the_topic_whose_examples_say_nearly_the_same(self, billing, queue):
        fees = make_topic("fees", label="Money", examples=["How much does a crown cost?"])
        billing.topics.add(fees)

        assert inbox.route("What would I pay for a crown?", {}) == billing
        assert inbox.route("Is there a lift in your building?", {}) == queue


class TestMyQueues:
    def test_are_a_list_of_their_own(self, ask, ada, ben, queue, sam, client):
        other = Queue.objects.create(name="Billing", calendar=queue.calendar)
        mine, theirs = ask(ada), ask(ben)
        Escalation.objects.filter(pk=mine.pk).update(queue=other)
        other.members.add(sam)
        client.force_login(sam)

        page = client.get("/inbox/?queue=mine").content.decode()

        assert f'id="row-{mine.pk}"' in page
        assert f'id="row-{theirs.pk}"' not in page
        assert page.count("My queues") == 1

    def test_are_not_offered_who_is_in_none(self, ask, ada, queue, kim, client):
        Queue.objects.create(name="Billing", calendar=queue.calendar)
        client.force_login(kim)

        page = client.get("/inbox/").content.decode()

        assert "My queues" not in page
        assert "All queues" in page


class TestTheSameQuestionFromSeveral:
    def test_is_one_gap(self, ask, ada, ben, escalation):
        ask(ben, "how long should i wait before rinsing after an extraction?")

        gap = Gap.objects.get()
        assert gap.questions.count() == 2

    def test_stands_before_what_fewer_asked_and_then_before_what_waits_less(self, ask, ada, ben):
        for name, text, days in (
            ("C", "Do you whiten teeth?", 1),
            ("D", "Is there a lift?", 3),
            ("E", "May I bring my dog?", 2),
            ("F", "May I bring my dog?", 0),
        ):
            ask(make_customer(name), text, now=NOW - timedelta(days=days))

        ranked = [gap.title for gap in gaps.ledger()]

        assert ranked == ["May I bring my dog?", "Is there a lift?", "Do you whiten teeth?"]

    @pytest.mark.parametrize(
        "text",
        [
            "My knee hurts so bad, I can't stand it",
            "actually no, I do have the nut allergy",
            "my card is [removed: card number]",
            "can you charge it to [removed: card number]?",
            "The heating in our room is broken",
            "I moved to the house next door",
            "please move my lesson to Friday",
            "which insurance do I have?",
        ],
    )
    def test_is_no_gap_when_no_answer_for_everyone_can_settle_it(self, ask, ada, text):
        ask(ada, text, reason="unsure")
        assert not Gap.objects.exists()

        ask(ada, "Is there a lift?", now=NOW + timedelta(minutes=1))
        assert Gap.objects.get().title == "Is there a lift?"

    @pytest.mark.parametrize(
        "text", ["parking?", "wondering if gift cards expire", "My back is stiff. Should I rest?"]
    )
    def test_is_a_gap_however_it_is_asked(self, ask, ada, text):
        ask(ada, text)
        assert Gap.objects.get().title == text

    def test_is_no_gap_when_it_is_for_a_person_to_judge(self, ask, ada):
        ask(ada, "Should I worry about my knee?", reason="unsure", private=True)
        assert not Gap.objects.exists()

    def test_is_no_gap_when_it_is_a_personal_matter(self, ask, ada):
        ask(ada, "Is my crown in?", reason="personal")
        assert not Gap.objects.exists()


def test_the_promise_says_what_happens_next_when_it_goes_back(queue, escalation):
    told = promise.make(queue, FRIDAY_EVENING)
    assert told.said(escalation.conversation, first="queued_again") == (
        "Your question is back with the team. We are open again on Monday at 8:00 (New York time),"
        " and you will find the answer here."
    )


class TestTheBusinesssOwnWords:
    @pytest.fixture
    def own(self, db):
        for key, words in {
            "queued": "Sister Joy has it.",
            "queued_too": "And that too.",
            "queued_again": "It is on the pile again.",
            "reply_when_open": "She calls {when}.",
            "reply_when_closed": "The house wakes {when}.",
            "reply_some_time": "Look in again.",
            "queued_urgent": "Stay! She runs.",
            "who_role": "The {role}",
            "claimed": "{who} sits down with you.",
        }.items():
            Wording.objects.create(key=key, variants=[words])

    def said(self, log, escalation):
        return [text for sender, kind, text in log(escalation.conversation_id) if kind == "state"]

    @pytest.mark.parametrize(
        ("when", "words"),
        [
            (NOW, "Sister Joy has it. She calls today by 12:00 (New York time)."),
            (
                FRIDAY_EVENING,
                "Sister Joy has it. The house wakes on Monday at 8:00 (New York time).",
            ),
        ],
    )
    def test_say_that_it_is_queued(self, own, ask, ada, log, when, words):
        escalation = ask(ada, now=when)

        assert self.said(log, escalation) == [words]
        assert escalation.promise == words

    def test_say_that_a_second_question_came_along(self, own, ask, ada, log, escalation):
        ask(ada, "And tea?", conversation=escalation.conversation)
        assert self.said(log, escalation)[-1].startswith("And that too. She calls")

    def test_say_so_without_opening_hours(self, own, ask, ada, log, queue):
        Queue.objects.all().delete()
        assert self.said(log, ask(ada)) == ["Sister Joy has it. Look in again."]

    def test_say_that_somebody_is_told_at_once(self, own, ask, ada, log):
        assert self.said(log, ask(ada, reason="emergency")) == ["Stay! She runs."]

    def test_say_who_has_it_and_that_it_is_back(self, own, escalation, sam, log):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        claim.release(escalation.pk, staff=sam, now=NOW)

        claimed, back = self.said(log, escalation)[-2:]
        assert claimed == "The dental hygienist sits down with you."
        assert back.startswith("It is on the pile again. She calls")

    @pytest.mark.django_db(transaction=True)  # the page is made in a thread of its own
    def test_greet_at_the_door(self, client):
        Wording.objects.create(key="welcome", variants=["Come in & sit down."])
        assert "Come in &amp; sit down." in client.get("/chat/").content.decode()
