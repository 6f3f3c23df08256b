"""Mails: to the queue at once, to everybody when nobody comes, again until they go."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from chat import conversations, identity
from escalations import alerts, claim, delivery, figures, first, reply, tasks
from escalations.models import Delivery, Queue
from memory import services
from memory.models import Answer
from tests.factories import NOW, make_customer, make_staff


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

    def test_go_to_more_people_at_each_step(self, escalation, sam, kim, queue):
        queue.members.add(kim)
        other = Queue.objects.create(name="Billing", calendar=queue.calendar)
        other.members.add(make_staff("lee"))
        told = lambda: {d.to.split("@")[0] for d in Delivery.objects.all()}  # noqa: E731

        alerts.alert(escalation.pk, now=NOW)
        assert told() == {"kim"}
        alerts.realert(NOW + timedelta(minutes=11))
        assert told() == {"kim", "lee"}
        assert alerts.realert(NOW + timedelta(minutes=19)) == 0
        alerts.realert(NOW + timedelta(minutes=21))
        assert told() == {"kim", "lee", "sam"}
        assert alerts.realert(NOW + timedelta(minutes=41)) == 3
        assert alerts.realert(NOW + timedelta(minutes=99)) == 0

    def test_begin_anew_when_somebody_had_it_and_gave_it_back(self, escalation, sam, kim, members):
        alerts.alert(escalation.pk, now=NOW)
        alerts.realert(NOW + timedelta(minutes=11))
        claim.claim(escalation.pk, staff=sam, now=NOW + timedelta(minutes=12))
        claim.release(escalation.pk, staff=sam, now=NOW + timedelta(minutes=13))

        assert alerts.alert(escalation.pk, now=NOW + timedelta(minutes=14)) == 1

    def test_of_what_came_back_after_hours_are_not_all_due_at_once(
        self, escalation, sam, kim, members, time_machine
    ):
        alerts.alert(escalation.pk, now=NOW)
        claim.claim(escalation.pk, staff=sam, now=NOW)
        back = NOW + timedelta(hours=5)
        claim.release(escalation.pk, staff=sam, now=back)
        Delivery.objects.all().delete()

        told = []
        for minutes in (1, 2, 10, 12):
            time_machine.move_to(back + timedelta(minutes=minutes), tick=False)
            tasks.watch()
            told.append(Delivery.objects.count())

        assert told == [1, 1, 1, 3]  # the queue's member; ten minutes later everybody

    def test_wait_for_the_morning(self, ask, ada, sam):
        evening = NOW + timedelta(hours=8)
        escalation = ask(ada, now=evening)
        alerts.alert(escalation.pk, now=evening)

        assert alerts.realert(evening + timedelta(hours=3)) == 0
        assert alerts.realert(evening + timedelta(hours=15)) == 1

    def test_leave_alone_what_somebody_has(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        assert alerts.alert(escalation.pk, now=NOW) == 0

    def test_go_to_nobody_who_works_here_no_more(self, escalation, sam, kim, queue):
        queue.members.add(kim)
        Queue.objects.create(name="Billing", calendar=queue.calendar).members.add(kim)
        kim.is_staff = False
        kim.save()

        alerts.alert(escalation.pk, now=NOW)
        for minutes in (11, 22, 43):
            alerts.realert(NOW + timedelta(minutes=minutes))

        assert {d.to for d in Delivery.objects.all()} == {sam.email}

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

    def test_are_no_mail_to_who_works_here_no_more(self, due, sam):
        sam.is_staff = False
        sam.save()
        assert alerts.tell_owners(now=NOW) == 0

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
            seen[who.username] = figures.of_lists(staff=who, now=NOW).lists["review"]
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

    def test_is_seen_at_the_desk_and_tried_again_from_there(
        self, ask, sam, broken, client, monkeypatch
    ):
        visitor = make_customer("", kind="visitor")
        conversation = ask(visitor).conversation
        conversations.set_reply_email(
            conversation.pk, email="v@example.org", link="/chat/back/abc/", now=NOW
        )
        at = NOW
        for _ in range(delivery.TRIES):
            delivery.send_due(at)
            at += timedelta(hours=1)
        client.force_login(sam)
        assert "1 e-mail could not be sent." in client.get("/inbox/gaps/").content.decode()
        page = client.get("/inbox/mails/").content.decode()
        assert "v@example.org" in page
        assert "no mail server" in page
        monkeypatch.undo()

        row = Delivery.objects.get(kind="link_back")
        client.post(f"/inbox/mails/{row.pk}/", {"do": "again"})
        delivery.send_due(timezone.now())

        assert [m.to for m in mail.outbox] == [["v@example.org"]]
        assert "could not be sent" not in client.get("/inbox/gaps/").content.decode()

    def test_is_taken_off_the_list_by_who_has_seen_it(self, escalation, kim, broken, sam, client):
        alerts.alert(escalation.pk, now=NOW)
        delivery.send_due(NOW)
        client.force_login(sam)

        for row in Delivery.objects.all():
            client.post(f"/inbox/mails/{row.pk}/", {"do": "dismiss"})

        assert "Every mail has gone." in client.get("/inbox/mails/").content.decode()


class TestAMailThatIsBeingSent:
    """It stands on no list of what failed, and nobody at the desk can have it sent twice."""

    @pytest.mark.parametrize("tried", [0, 1, delivery.TRIES - 1])
    def test_is_neither_sent_a_second_time_nor_dropped(self, escalation, sam, monkeypatch, tried):
        sent = []

        def fail(self, **kwargs):
            raise TimeoutError  # says nothing of itself

        def send(self, **kwargs):
            sent.append(self.to)
            assert not delivery.failed().exists()
            assert not delivery.try_again(row.pk, now=NOW)
            assert not delivery.dismiss(row.pk)
            delivery.send_due(at)  # another worker, at the same time

        alerts.alert(escalation.pk, now=NOW)
        row, at = Delivery.objects.get(), NOW
        monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
        for _ in range(tried):
            delivery.send_due(at)
            assert delivery.failed().get().error == "TimeoutError"
            at += timedelta(hours=1)
        monkeypatch.setattr("django.core.mail.EmailMessage.send", send)

        assert delivery.send_due(at) == 1
        assert sent == [[sam.email]]

    def test_or_was_never_tried_cannot_be_dismissed(self, escalation, sam, client):
        alerts.alert(escalation.pk, now=NOW)
        row = Delivery.objects.get()
        client.force_login(sam)
        client.post(f"/inbox/mails/{row.pk}/", {"do": "dismiss"})

        assert delivery.send_due(NOW) == 1


class TestTheAnswer:
    """Somebody who left is told that there is something to read, and not what."""

    @pytest.fixture
    def visitor(self, ask, sam):
        escalation = ask(make_customer("", kind="visitor"))
        conversations.set_reply_email(
            escalation.conversation_id, email="v@example.org", link="/chat/back/abc/", now=NOW
        )
        Delivery.objects.all().delete()
        claim.claim(escalation.pk, staff=sam, now=NOW)
        return escalation

    def test_brings_a_visitor_who_left_an_address_back_by_a_link(self, visitor, sam):
        reply.send(visitor.pk, staff=sam, text="Wait 24 hours.", seen_seq=None, now=NOW)
        delivery.send_due(NOW + delivery.AWAY_AFTER)

        sent = mail.outbox[0]
        assert sent.to == ["v@example.org"]
        assert "24 hours" not in sent.subject + sent.body
        assert "rinsing" not in sent.subject + sent.body
        signed = re.search(r"/chat/back/([^/\s]+)/", sent.body).group(1)
        assert identity.from_link(signed) == visitor.conversation

    def test_is_no_mail_for_who_has_read_it(self, visitor, sam):
        said = reply.send(visitor.pk, staff=sam, text="Wait.", seen_seq=None, now=NOW)
        conversations.mark_seen(visitor.conversation_id, seq=said.seq)

        assert delivery.send_due(NOW + delivery.AWAY_AFTER) == 0
        assert not Delivery.objects.exists()

    def test_of_several_parts_is_one_mail(self, visitor, sam):
        for text in ("One.", "Two."):
            reply.send(visitor.pk, staff=sam, text=text, seen_seq=None, now=NOW)
        assert Delivery.objects.count() == 1

    def test_leads_who_signs_in_to_the_chat(self, ask, sam):
        cleo = make_customer("Cleo", email="cleo@example.org")
        escalation = ask(cleo)
        claim.claim(escalation.pk, staff=sam, now=NOW)
        reply.send(escalation.pk, staff=sam, text="Wait.", seen_seq=None, now=NOW)

        row = Delivery.objects.get(kind="answered")
        assert row.body.rstrip().endswith("/chat/")

    def test_to_nothing_asked_has_words_of_its_own(self, sam, queue):
        cleo = make_customer("Cleo", email="cleo@example.org")
        escalation = first.write(cleo, staff=sam, text="Your crown is in.", now=NOW)

        row = Delivery.objects.get()
        assert row.kind == "staff_first"
        assert "answer" not in (row.subject + row.body).casefold()
        assert "crown" not in row.subject + row.body
        assert row.body.rstrip().endswith("/chat/")

        later = NOW + timedelta(hours=2)
        conversations.record_customer_message(
            escalation.conversation_id, client_id="w", text="When can I come?", now=later
        )
        reply.send(escalation.pk, staff=sam, text="Tuesday.", seen_seq=None, now=later)
        assert Delivery.objects.latest("pk").kind == "answered"


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
