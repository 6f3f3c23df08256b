"""Mails: to the queue at once, to everybody when nobody comes, again until they go."""

from datetime import timedelta

import pytest
from django.core import mail

from chat import conversations
from escalations import alerts, claim, delivery
from escalations.models import Delivery
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
