"""Mails: to the queue at once, to everybody when nobody comes, again until they go."""

from datetime import timedelta

import pytest
from django.core import mail

from chat import conversations
from escalations import alerts, claim, delivery, lists
from escalations.models import Delivery
from memory import services
from memory.models import Answer
from tests.factories import NOW


@pytest.fixture
def members(queue, kim):
    queue.members.add(kim)


class TestAlerts:
    def test_go_to_the_queues_members_once(self, escalation, sam, kim, members):
        assert alerts.alert(escalation.pk, now=NOW) == 1
        assert alerts.alert(escalation.pk, now=NOW) == 0
        assert Delivery.objects.get().to == kim.email

    def test_go_to_everybody_when_nobody_comes_in_opening_hours(
        self, escalation, sam, kim, members
    ):
        alerts.alert(escalation.pk, now=NOW)

        assert alerts.realert(NOW + timedelta(minutes=9)) == 0
        assert alerts.realert(NOW + timedelta(minutes=11)) == 2
        assert alerts.realert(NOW + timedelta(minutes=12)) == 0

    def test_wait_for_the_morning(self, ask, ada, sam):
        evening = NOW + timedelta(hours=8)
        escalation = ask(ada, now=evening)
        alerts.alert(escalation.pk, now=evening)

        assert alerts.realert(evening + timedelta(hours=3)) == 0
        assert alerts.realert(evening + timedelta(hours=15)) == 1

    def test_leave_alone_what_somebody_has(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        assert alerts.alert(escalation.pk, now=NOW) == 0

    def test_respect_who_wants_no_mail(self, escalation, kim, members):
        kim.staff_profile.notify_by_email = False
        kim.staff_profile.save()
        assert alerts.alert(escalation.pk, now=NOW) == 0


class TestAnswersThatAreDueForALook:
    @pytest.fixture
    def due(self, sam, kim):
        def make(title, owner, day):
            return services.add_answer(
                title=title, parts=["Yes."], by="staff:1", owner_id=owner and owner.pk,
                review_on=day, now=NOW - timedelta(days=99),
            )  # fmt: skip

        today = NOW.date()
        make("Due?", sam, today)
        make("Long due?", sam, today - timedelta(days=9))
        make("Not due?", kim, today + timedelta(days=1))
        make("Nobody's?", None, today)

    def test_are_told_to_their_owner_in_one_mail_once(self, due, sam, kim):
        assert alerts.tell_owners(now=NOW) == 1
        assert alerts.tell_owners(now=NOW + timedelta(hours=2)) == 0

        mail = Delivery.objects.get()
        assert mail.to == sam.email
        assert "2 answers of yours" in mail.subject
        assert "/inbox/review/" in mail.body

    def test_are_told_again_when_their_next_date_has_come(self, due, sam, kim):
        alerts.tell_owners(now=NOW)
        for answer in Answer.objects.filter(owner=sam):
            services.still_right(answer.pk, by="staff:1", now=NOW)

        assert alerts.tell_owners(now=NOW + timedelta(days=30)) == 1  # Kim's own
        assert alerts.tell_owners(now=NOW + timedelta(days=300)) == 1
        assert Delivery.objects.order_by("-pk")[0].to == sam.email

    def test_are_no_mail_to_who_wants_none(self, due, sam):
        sam.staff_profile.notify_by_email = False
        sam.staff_profile.save()
        assert alerts.tell_owners(now=NOW) == 0

    def test_stand_on_their_owners_desk_and_in_everybodys_list(
        self, client, due, sam, kim, time_machine
    ):
        time_machine.move_to(NOW)
        seen = {}
        for who in (sam, kim):
            client.force_login(who)
            seen[who.username] = lists.counts(staff=who, now=NOW)["review"]
        page = client.get("/inbox/review/").content.decode()

        assert seen == {"sam": 3, "kim": 1}  # what nobody owns is anybody's
        assert "Long due?" in page
        assert "Sam looks at it" in page
        assert "due since 21 February 2026" in page
        assert "Not due?" not in page


class TestAMailThatDoesNotGo:
    @pytest.fixture
    def broken(self, monkeypatch):
        def fail(self, **kwargs):
            raise ConnectionRefusedError("no mail server")

        monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)

    def test_is_tried_again_later_each_time_and_then_shown(self, escalation, kim, broken):
        alerts.alert(escalation.pk, now=NOW)
        at = NOW
        for attempt in range(1, delivery.TRIES + 1):
            assert delivery.send_due(at) == 0
            row = Delivery.objects.get()
            assert row.attempts == attempt
            assert row.error == "no mail server"
            assert delivery.send_due(at) == 0
            assert Delivery.objects.get().attempts == attempt
            at = row.next_at or at

        assert Delivery.objects.get().next_at is None

    def test_goes_when_the_server_is_back(self, escalation, kim, broken, monkeypatch):
        alerts.alert(escalation.pk, now=NOW)
        delivery.send_due(NOW)
        monkeypatch.undo()

        assert delivery.send_due(NOW + timedelta(minutes=2)) == 1
        assert len(mail.outbox) == 1
        assert delivery.send_due(NOW + timedelta(hours=2)) == 0


def test_a_visitor_who_left_an_address_gets_one_link(escalation, settings):
    settings.CHAT_LINK_DAYS = 3
    conversations.set_reply_email(
        escalation.conversation_id, email="v@example.org", link="/chat/back/abc/", now=NOW
    )
    row = Delivery.objects.get()
    assert row.kind == "link_back"
    assert "/chat/back/abc/" in row.body
    assert "valid for 3 days" in row.body
    assert "rinsing" not in row.body
