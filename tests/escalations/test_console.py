"""The desk's pages over HTTP: who may come in, what is said to whom, and at what price."""

import json
import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone

from chat import conversations, handoff
from chat.models import Business, Conversation
from escalations import alerts, card, claim, reply, status
from escalations.capture import Keep
from escalations.models import (
    CannedReply,
    Delivery,
    Draft,
    Escalation,
    Gap,
    MemoryView,
    Presence,
    RatingLook,
    StaffNote,
)
from escalations.urls import urlpatterns as desk_urls
from memory import services
from memory.models import Answer, Conflict, Episode, Memory, MemoryEvent
from memory.types import Said, Transcript
from tests.escalations.conftest import QUESTION
from tests.factories import NOW, make_conversation, make_customer, make_topic


@pytest.fixture
def desk(client, sam):
    client.force_login(sam)
    return client


@pytest.fixture
def claimed(escalation, sam):
    claim.claim(escalation.pk, staff=sam, now=NOW)
    return escalation


@pytest.fixture
def answer(db):
    """Words that are there already, to the very question that is asked."""
    made = services.add_answer(
        title=QUESTION, parts=["Wait 24 hours."], role="dental hygienist", now=NOW, by="import"
    )
    services.embed_answers()
    return made


def htmx(client, path, data=None, *, follow=False):
    headers = {"HX-Request": "true"}
    return client.post(path, data or {}, headers=headers, follow=follow)


def seq_of(escalation):
    return conversations.latest(escalation.conversation.customer_id).last_seq


def remember(customer, text, *, topic, **fields):
    return Memory.objects.create(
        customer=customer,
        topic=topic,
        category=topic.category,
        text=text,
        value=text,
        stated_at=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
        **fields,
    )


PAGES = [
    "",
    "live/",
    "gaps/",
    "search/?q=rinsing",
    "reports/",
    "answers/add/",
    "answers/how-to/",
    "review/",
    "replay/",
    "mails/",
    "alerts/",
]


class TestWhoMayComeIn:
    @pytest.mark.parametrize("path", PAGES)
    def test_asks_a_stranger_to_sign_in(self, client, path, db):
        response = client.get(f"/inbox/{path}")
        assert response.status_code == 302
        assert "login" in response["Location"]

    @pytest.mark.parametrize("path", PAGES)
    def test_refuses_who_is_no_staff(self, client, path, db):
        client.force_login(User.objects.create_user("mallory"))
        assert client.get(f"/inbox/{path}").status_code == 403

    @pytest.mark.parametrize("path", PAGES)
    def test_lets_staff_in(self, desk, path, escalation):
        assert desk.get(f"/inbox/{path}").status_code == 200


class TestTheLists:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [("unclaimed", True), ("mine", False), ("everyone", False), ("overdue", False),
         ("resolved", False), ("customer", False), ("bot", False), ("nonsense", True)],
    )  # fmt: skip
    def test_show_what_waits_where_it_belongs(self, desk, escalation, name, shown, time_machine):
        time_machine.move_to(NOW)
        page = desk.get(f"/inbox/?list={name}").content.decode()
        assert (f'id="row-{escalation.pk}"' in page) is shown

    def test_put_what_is_late_first_and_say_so(self, desk, ask, ada, ben, time_machine):
        fresh = ask(ben, "New?", now=NOW)
        late = ask(ada, "Old?", now=NOW - timedelta(days=1))
        Escalation.objects.filter(pk=fresh.pk).update(due_at=NOW + timedelta(hours=1))
        time_machine.move_to(NOW)

        page = desk.get("/inbox/").content.decode()

        assert page.index(f"row-{late.pk}") < page.index(f"row-{fresh.pk}")
        assert "Overdue" in page

    @pytest.mark.parametrize(
        ("due", "words"),
        [
            (timedelta(minutes=40), "due 10:40"),
            (timedelta(days=1, hours=2), "due Tue 12:00"),
            (-timedelta(minutes=20), "overdue 20 min"),
        ],
    )
    def test_say_when_each_is_due(self, desk, escalation, due, words, time_machine):
        Business.objects.update_or_create(pk=1, defaults={"timezone": "America/New_York"})
        Escalation.objects.filter(pk=escalation.pk).update(due_at=NOW + due)
        time_machine.move_to(NOW, tick=False)

        assert words in desk.get("/inbox/").content.decode()

    def test_say_how_long_each_waits_and_who_it_is(self, desk, ask, ada, time_machine):
        ask(ada, "Old?", now=NOW - timedelta(hours=26))
        time_machine.move_to(NOW, tick=False)

        row = desk.get("/inbox/").content.decode().split('class="row ')[1].split("</a>")[0]

        assert ">26 h</time>" in row.split('class="row__second"')[0]  # where nothing cuts it off
        assert "no answer yet · <bdi>Ada</bdi>" in row

    def test_say_it_no_more_when_somebody_has_replied(self, desk, claimed, sam, time_machine):
        reply.send(claimed.pk, staff=sam, text="24 h", seen_seq=None, now=NOW)
        time_machine.move_to(NOW, tick=False)
        row = desk.get("/inbox/?list=mine").content.decode().split(f"row-{claimed.pk}")[1]
        assert "due " not in row.split("</a>")[0]

    def test_know_whose_turn_it_is(self, desk, claimed, sam):
        reply.send(claimed.pk, staff=sam, text="Upper or lower?", seen_seq=None, now=NOW)
        assert f"row-{claimed.pk}" in desk.get("/inbox/?list=customer").content.decode()

        conversations.record_customer_message(
            claimed.conversation_id, client_id="u", text="Upper", now=NOW
        )
        assert f"row-{claimed.pk}" not in desk.get("/inbox/?list=customer").content.decode()

    @pytest.mark.parametrize("path", ["/inbox/", "/inbox/live/", "/inbox/?list=mine"])
    def test_cost_the_same_number_of_queries_however_much_waits(
        self, desk, ask, sam, path, django_assert_max_num_queries
    ):
        def queries():
            with django_assert_max_num_queries(100) as counted:
                desk.get(path)
            return len(counted.captured_queries)

        for n in range(2):
            claim.claim(ask(make_customer(f"A{n}")).pk, staff=sam, now=NOW)
            ask(make_customer(f"B{n}"))
        queries()  # what a first request asks once
        few = queries()
        for n in range(12):
            claim.claim(ask(make_customer(f"C{n}")).pk, staff=sam, now=NOW)
            ask(make_customer(f"D{n}"))

        assert queries() == few
        assert few <= 13

    def test_are_not_fetched_anew_for_a_click_on_a_row(self, desk, escalation):
        click = {"HX-Request": "true", "HX-Target": "main-pane"}

        page = desk.get(f"/inbox/{escalation.pk}/", headers=click).content.decode()

        assert 'id="main-pane"' in page
        assert 'id="side-pane"' in page
        assert f'id="row-{escalation.pk}"' not in page
        assert f'id="row-{escalation.pk}"' in desk.get(f"/inbox/{escalation.pk}/").content.decode()


class TestWhatEveryPageSays:
    @pytest.mark.parametrize("path", PAGES)
    def test_a_claim_of_mine_goes_back_soon(self, desk, claimed, kim, path, time_machine):
        time_machine.move_to(NOW + timedelta(minutes=27), tick=False)
        words = "goes back to the queue"
        assert words in desk.get(f"/inbox/{path}").content.decode()

        desk.force_login(kim)
        assert words not in desk.get(f"/inbox/{path}").content.decode()

    def test_it_is_no_more_than_that_before_its_time(self, desk, claimed, time_machine):
        time_machine.move_to(NOW + timedelta(minutes=20), tick=False)
        assert "goes back" not in desk.get("/inbox/reports/").content.decode()

    def test_what_is_new_to_me_is_told_apart_from_what_i_did(
        self, desk, escalation, sam, kim, client
    ):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        before = status.of(sam, now=NOW).signs
        assert f"given-{escalation.pk}" not in before

        conversations.record_customer_message(
            escalation.conversation_id, client_id="m", text="And lunch?", now=NOW
        )
        handoff.hand_over(
            escalation.conversation_id, question="I cannot breathe", question_seq=4,
            reason="emergency", now=NOW, awaited=False,
        )  # fmt: skip
        after = status.of(sam, now=NOW).signs
        for sign in ("said", "urgent"):
            assert after[f"{sign}-{escalation.pk}"] > before[f"{sign}-{escalation.pk}"]
        assert not status.of(kim, now=NOW).signs

        claim.assign(escalation.pk, to=kim, expected=sam.pk, by=sam, now=NOW)
        assert f"given-{escalation.pk}" in status.of(kim, now=NOW).signs
        claim.assign(escalation.pk, to=sam, expected=kim.pk, by=sam, now=NOW)
        assert f"given-{escalation.pk}" not in status.of(sam, now=NOW).signs

    def test_however_many_wait_what_is_mine_is_told(self, ask, ada, ben, sam):
        """What nobody took for long is older than what I have, and there may be a lot of it."""
        chats = Conversation.objects.bulk_create(
            Conversation(customer=ben, started_at=NOW, last_message_at=NOW) for _ in range(201)
        )
        Escalation.objects.bulk_create(
            Escalation(
                conversation=chat, reason="no_answer", opened_at=NOW, alert_step=2, alerted_at=NOW
            )
            for chat in chats
        )
        mine = ask(ada)
        claim.claim(mine.pk, staff=sam, now=NOW)

        assert f"said-{mine.pk}" in status.of(sam, now=NOW).signs

    def test_what_nobody_took_rings_when_more_people_are_told_and_not_when_it_is_taken(
        self, ask, ada, ben, sam, kim
    ):
        first, second = ask(ada), ask(ben)
        for asked in (first, second):
            alerts.alert(asked.pk, now=NOW)
        assert "again" not in status.of(sam, now=NOW).signs
        heard = []
        for minutes in (11, 22):  # the first step, then the next
            alerts.realert(NOW + timedelta(minutes=minutes))
            heard.append(status.of(sam, now=NOW).signs["again"])
        claim.claim(first.pk, staff=kim, now=NOW + timedelta(minutes=23))
        heard.append(status.of(sam, now=NOW).signs["again"])
        assert heard[0] < heard[1] == heard[2]

        claim.claim(second.pk, staff=kim, now=NOW + timedelta(minutes=23))
        assert "again" not in status.of(sam, now=NOW).signs


class TestClaiming:
    def test_by_two_tells_the_second_who_was_faster(self, desk, escalation, kim):
        claim.claim(escalation.pk, staff=kim, now=NOW)

        page = desk.post(f"/inbox/{escalation.pk}/claim/", follow=True).content.decode()

        assert "Kim is on it." in page
        assert Escalation.objects.get(pk=escalation.pk).claimed_by == kim

    def test_from_a_colleague_holds_only_while_the_page_is_right(self, desk, escalation, sam, kim):
        claim.claim(escalation.pk, staff=kim, now=NOW)
        data = {"to": sam.pk, "expected": kim.pk}

        desk.post(f"/inbox/{escalation.pk}/assign/", data)
        assert Escalation.objects.get(pk=escalation.pk).claimed_by == sam

        claim.assign(escalation.pk, to=kim, expected=sam.pk, now=NOW)
        late = {"to": sam.pk, "expected": ""}
        page = desk.post(f"/inbox/{escalation.pk}/assign/", late, follow=True).content.decode()
        assert "Kim is on it." in page

    @pytest.mark.parametrize("gone", ["held", "settled"])
    def test_by_a_colleague_leaves_nothing_that_could_be_sent(
        self, desk, escalation, kim, gone, answer
    ):
        claim.claim(escalation.pk, staff=kim, now=NOW)
        if gone == "settled":
            reply.send(escalation.pk, staff=kim, text="Done.", seen_seq=None, now=NOW)
            reply.resolve(escalation.pk, staff=kim, now=NOW)

        page = desk.get(f"/inbox/{escalation.pk}/").content.decode()

        box = page[page.index('<textarea id="reply-text"') :].split(">")[0]
        assert "readonly" in box
        assert 'id="send' not in page
        assert "This answers it</button>" not in page
        assert 'data-do="insert"' not in page
        taken = {"held": 'form="take-it"', "settled": 'form="take-again"'}[gone]
        assert taken in page

    def test_by_a_colleague_reaches_the_page_that_is_open(self, desk, escalation, kim, answer):
        path = f"/inbox/live/?open={escalation.pk}&held=0"
        assert 'id="suggest"' not in desk.get(path).content.decode()

        claim.claim(escalation.pk, staff=kim, now=NOW)
        told = desk.get(path).content.decode()

        assert "This answers it</button>" not in told
        assert 'id="suggest"' in told
        assert "data-held" in told[told.index('id="reply-bar"') :].split(">")[0]

    def test_leads_back_to_the_list_that_was_open(self, desk, escalation):
        response = desk.post(f"/inbox/{escalation.pk}/claim/", {"list": "overdue"})
        assert response["Location"] == f"/inbox/{escalation.pk}/?list=overdue"

    def test_works_on_a_chat_with_the_bot(self, desk, ada, queue, sam):
        conversation = make_conversation(ada)
        conversations.record_customer_message(conversation.pk, client_id="h", text="Hi", now=NOW)

        desk.post(f"/inbox/chat/{conversation.pk}/take-over/")

        assert Escalation.objects.get().claimed_by == sam


class TestReplying:
    def test_is_a_plain_form_without_javascript(self, desk, claimed, log):
        desk.post(f"/inbox/{claimed.pk}/send/", {"text": "24 h", "seen_seq": seq_of(claimed)})
        assert log(claimed.conversation_id)[-1] == ("staff", "message", "24 h")

    def test_claims_what_nobody_has(self, desk, escalation, sam):
        desk.post(f"/inbox/{escalation.pk}/send/", {"text": "24 h"})
        assert Escalation.objects.get(pk=escalation.pk).claimed_by == sam

    def test_shows_what_arrived_and_keeps_the_words(self, desk, claimed, log):
        seen = seq_of(claimed)
        conversations.record_customer_message(
            claimed.conversation_id, client_id="m", text="It is an upper one", now=NOW
        )

        path = f"/inbox/{claimed.pk}/send/"
        page = htmx(desk, path, {"text": "Upper or lower?", "seen_seq": seen}).content.decode()

        assert "Not sent yet" in page
        assert "It is an upper one" in page
        assert log(claimed.conversation_id)[-1][2] == "It is an upper one"

        htmx(desk, path, {"text": "Then wait a day.", "seen_seq": seen + 1})
        assert log(claimed.conversation_id)[-1][2] == "Then wait a day."

    def test_says_who_has_it_when_somebody_else_does(self, desk, escalation, kim, log):
        claim.claim(escalation.pk, staff=kim, now=NOW)
        before = log(escalation.conversation_id)

        page = htmx(desk, f"/inbox/{escalation.pk}/send/", {"text": "Hello"}).content.decode()

        assert "Not sent: Kim is on it." in page
        assert log(escalation.conversation_id) == before

    @pytest.mark.parametrize("text", ["", "  \n ", "x" * 10_001, "a\x00b"])
    def test_refuses_with_a_reason_what_cannot_be_sent(self, desk, claimed, log, text):
        before = log(claimed.conversation_id)
        page = htmx(desk, f"/inbox/{claimed.pk}/send/", {"text": text}).content.decode()
        assert "notice--danger" in page
        assert log(claimed.conversation_id) == before

    def test_takes_line_endings_of_a_form_as_one(self, desk, claimed, log):
        desk.post(f"/inbox/{claimed.pk}/send/", {"text": "one\r\ntwo\rthree "})
        assert log(claimed.conversation_id)[-1][2] == "one\ntwo\nthree "

    def test_goes_on_to_the_keeping_step(self, desk, claimed):
        response = htmx(desk, f"/inbox/{claimed.pk}/send/", {"text": "24 h", "then": "keep"})
        assert response["HX-Redirect"] == f"/inbox/{claimed.pk}/keep/"


class TestASuggestedAnswer:
    def test_says_in_words_how_near_it_is(self, desk, answer, escalation, ask, ben):
        page = desk.get(f"/inbox/{escalation.pk}/").content.decode()
        assert 'title="1.00">almost certainly<' in page

        far = ask(ben, "When is my bill due?")
        assert "almost certainly" not in desk.get(f"/inbox/{far.pk}/").content.decode()


class TestDrafts:
    def test_wait_on_the_server_and_are_a_sign_of_life(self, desk, claimed, sam, time_machine):
        later = NOW + timedelta(minutes=20)
        time_machine.move_to(later, tick=False)
        desk.post(f"/inbox/{claimed.pk}/draft/", {"text": "Please wa", "seen_seq": 3})

        assert Draft.objects.get().text == "Please wa"
        assert Escalation.objects.get(pk=claimed.pk).active_at == later
        assert "Please wa" in desk.get(f"/inbox/{claimed.pk}/").content.decode()

    def test_show_on_return_what_arrived_meanwhile(self, desk, claimed):
        desk.post(f"/inbox/{claimed.pk}/draft/", {"text": "Up", "seen_seq": seq_of(claimed)})
        conversations.record_customer_message(
            claimed.conversation_id, client_id="l", text="A lower one!", now=NOW
        )

        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()

        assert "This came in since you began to write" in page

    def test_are_gone_when_the_box_is_emptied(self, desk, claimed):
        for text in ("Please", "  "):
            desk.post(f"/inbox/{claimed.pk}/draft/", {"text": text, "seen_seq": 3})
        assert not Draft.objects.exists()


class TestReadyMadeReplies:
    def test_have_their_variables_filled_in(self, desk, claimed):
        text = "Hello {customer}, {staff} of {business} here. {other}"
        CannedReply.objects.create(shortcut="hello", text=text)

        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()

        found = re.search(r'id="canned-replies"[^>]*>(.*?)</script>', page).group(1)
        assert json.loads(found) == [
            {"shortcut": "hello", "text": "Hello Ada, Sam of Rapport here. {other}"}
        ]


class TestWhatIsAsked:
    def test_stands_above_the_transcript_though_it_is_one_question(self, desk, escalation):
        page = desk.get(f"/inbox/{escalation.pk}/").content.decode()
        head = page.split('id="state"')[1].split("</header>")[0]
        assert escalation.questions.get().text in head


class TestTheKeepingStep:
    @pytest.fixture
    def said(self, claimed, sam):
        return [
            reply.send(claimed.pk, staff=sam, text=text, seen_seq=None, now=NOW)
            for text in ("Upper or lower?", "Please do not rinse for 24 hours.")
        ]

    def test_shows_each_message_with_its_choice_and_reason(self, desk, claimed, said):
        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()

        assert page.count("<blockquote") >= 2
        assert page.count("Suggested:") == 2
        assert "How long should I wait before rinsing" in page

    def test_says_how_many_questions_have_no_answer_yet_and_which(
        self, desk, ask, ada, sam, claimed
    ):
        for text in ("Do you have parking?", "Is Saturday open?"):
            ask(ada, text, conversation=claimed.conversation, awaited=False)
        reply_to_rinsing = "After an extraction wait 24 hours before rinsing."
        sent = reply.send(claimed.pk, staff=sam, text=reply_to_rinsing, seen_seq=None, now=NOW)

        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()

        asked = claimed.questions.order_by("pk").first()
        assert f'name="question" value="{asked.pk}" data-title="{asked.text}" checked' in page
        told = page.split('id="unanswered"')[1].split("</ul>")[0]
        shown = re.sub(r"<(span|li)[^>]* hidden>.*?</\1>", "", told)
        assert "2 questions have no answer yet" in shown
        assert "3 questions have no answer yet" not in shown
        assert "Do you have parking?" in shown
        assert "Is Saturday open?" in shown
        assert asked.text not in shown

        data = {f"keep-{sent.seq}": "everyone", "title": asked.text, "question": asked.pk}
        desk.post(f"/inbox/{claimed.pk}/keep/", data)
        assert Escalation.objects.get(pk=claimed.pk).resolution == "resolved"

    def test_says_so_where_nothing_was_written_at_all(self, desk, claimed):
        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()
        assert "1 question has no answer yet" in page
        assert 'id="unanswered" hidden' not in page

    def test_warns_of_nothing_where_the_one_question_was_answered(self, desk, claimed, said):
        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()
        assert 'id="unanswered" hidden' in page

    def test_shows_the_answer_that_says_otherwise_beside_it(self, desk, claimed, said):
        title = claimed.questions.get().text
        services.add_answer(title=title, parts=["Wait 48 hours."], by="import", now=NOW)

        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()

        sides = page.split("There is another answer to this already")[1].split("</fieldset>")[0]
        assert "Wait 48 hours." in sides
        assert "Please do not rinse for 24 hours." in sides
        assert "Upper or lower?" not in sides  # which is not kept
        assert "Mine takes its place" in sides

    def test_keeps_what_is_ticked_under_the_title_that_was_edited(self, desk, claimed, said):
        question = claimed.questions.get()
        desk.post(
            f"/inbox/{claimed.pk}/keep/",
            {
                f"keep-{said[0].seq}": "none",
                f"keep-{said[1].seq}": "everyone",
                "title": "When may I rinse after an extraction?",
                "question": question.pk,
            },
        )

        answer = Answer.objects.get()
        assert answer.title == "When may I rinse after an extraction?"
        assert answer.parts == ["Please do not rinse for 24 hours."]
        assert Escalation.objects.get(pk=claimed.pk).resolution == "resolved"

    def test_asks_for_the_question_when_it_was_wiped_out(self, desk, claimed, said):
        data = {f"keep-{said[1].seq}": "everyone", "title": " "}
        response = desk.post(f"/inbox/{claimed.pk}/keep/", data)

        assert response.status_code == 422
        assert "Which question does this answer?" in response.content.decode()
        assert Escalation.objects.get(pk=claimed.pk).closed_at is None

    @pytest.mark.parametrize(
        ("typed", "end"), [(None, "2026-03-03"), ("2026-03-05", "2026-03-06"), ("", None)]
    )
    def test_shows_the_end_that_the_words_name_and_lets_it_be_edited(
        self, desk, claimed, sam, time_machine, typed, end
    ):
        time_machine.move_to(NOW)
        words = "We are closed today because of the storm, all counters of ours."
        sent = reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()
        shown = re.search(r'name="valid_until" value="([^"]*)"', page)[1]
        assert shown == "2026-03-02"
        assert "<details open>" in page

        data = {f"keep-{sent.seq}": "everyone", "title": "Open?"}
        desk.post(
            f"/inbox/{claimed.pk}/keep/", data | {"valid_until": shown if typed is None else typed}
        )

        until = Answer.objects.get().valid_until
        assert (until and f"{until:%Y-%m-%d}") == end

    def test_takes_who_looks_at_it_again_and_when(self, desk, claimed, said, kim, time_machine):
        time_machine.move_to(NOW)
        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()
        assert f'<option value="{kim.pk}">Kim</option>' in page

        data = {f"keep-{said[1].seq}": "everyone", "title": "Rinsing?", "owner": kim.pk}
        refused = desk.post(f"/inbox/{claimed.pk}/keep/", data | {"review_on": "2026-03-01"})
        assert refused.status_code == 422
        desk.post(f"/inbox/{claimed.pk}/keep/", data | {"review_on": "2026-04-01"})

        answer = Answer.objects.get()
        assert (answer.owner, answer.review_on.isoformat()) == (kim, "2026-04-01")
        assert answer.author.username == "sam"

    def test_refuses_an_end_that_is_over(self, desk, claimed, said):
        data = {f"keep-{said[1].seq}": "everyone", "title": "Rinsing?", "valid_until": "2020-01-01"}

        response = desk.post(f"/inbox/{claimed.pk}/keep/", data)

        assert response.status_code == 422
        assert "That day is over." in response.content.decode()

    def test_preselects_another_look_where_words_lean_on_others_and_says_why(
        self, desk, claimed, sam
    ):
        words = "That is no problem at all, we do it every day of the week."
        sent = reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()

        assert f'name="keep-{sent.seq}" value="later" checked' in page
        assert "needs what was said before" in page
        desk.post(f"/inbox/{claimed.pk}/keep/", {f"keep-{sent.seq}": "later", "title": "Free?"})
        assert Answer.objects.get().status == "pending"
        assert "That is no problem" in desk.get("/inbox/review/").content.decode()

    def test_lets_no_two_answers_stand_under_one_question(self, desk, claimed, said):
        title = claimed.questions.get().text
        Answer.objects.create(
            title=title, parts=["48 hours."], said_at=NOW, recorded_at=NOW, status="active"
        )
        data = {f"keep-{said[1].seq}": "everyone", "title": title}

        page = desk.get(f"/inbox/{claimed.pk}/keep/").content.decode()
        assert 'name="rival" value="replace" checked' in page

        both = desk.post(f"/inbox/{claimed.pk}/keep/", data | {"rival": "both"})
        assert both.status_code == 422
        assert Answer.objects.get(status="active").parts == ["48 hours."]

        desk.post(f"/inbox/{claimed.pk}/keep/", data | {"rival": "replace"})
        assert Answer.objects.get(status="active").parts == ["Please do not rinse for 24 hours."]

    def test_leads_on_to_who_else_is_waiting(self, desk, ask, ben, claimed, said):
        ask(ben, claimed.questions.get().text)
        data = {
            f"keep-{said[1].seq}": "everyone",
            "title": claimed.questions.get().text,
            "question": claimed.questions.get().pk,
        }

        page = desk.post(f"/inbox/{claimed.pk}/keep/", data, follow=True).content.decode()

        assert "Also waiting for this" in page
        assert "Ben" in page


class TestWhoElseWaits:
    @pytest.fixture
    def gap(self, ask, ada, ben, sam):
        first = ask(ada)
        ask(ben, first.questions.get().text)
        claim.claim(first.pk, staff=sam, now=NOW)
        said = reply.send(first.pk, staff=sam, text="24 h.", seen_seq=None, now=NOW)
        question = first.questions.get()
        keep = Keep("everyone", (said.seq,), question.text, question.pk)
        reply.resolve(first.pk, staff=sam, now=NOW, keep=[keep])
        return Gap.objects.get()

    def test_stays_in_the_ledger_till_told_with_a_way_back(self, desk, gap, ben):
        page = desk.get("/inbox/gaps/").content.decode()
        assert "answered, 1 still waiting to be told" in page
        assert f'href="/inbox/gaps/{gap.pk}/"' in page
        waits = gap.questions.get(answer=None)

        desk.post(f"/inbox/gaps/{gap.pk}/", {"question": [waits.pk]})

        assert "waiting to be told" not in desk.get("/inbox/gaps/").content.decode()
        assert conversations.latest(ben.pk).messages.filter(text="24 h.").exists()

    def test_is_not_told_what_answers_something_else(self, desk, gap, ben):
        waits = gap.questions.get(answer=None)

        desk.post(f"/inbox/gaps/{gap.pk}/", {"question": [waits.pk], "do": "apart"})

        page = desk.get("/inbox/gaps/").content.decode()
        assert "waiting to be told" not in page
        assert waits.text in page  # an open question of its own
        waits.refresh_from_db()
        assert (waits.answer, waits.gap.answered_at) == (None, None)
        assert not conversations.latest(ben.pk).messages.filter(text="24 h.").exists()

    def test_is_left_open_when_a_colleague_is_on_it(self, desk, gap, kim):
        waits = gap.questions.get(answer=None)
        claim.claim(waits.escalation_id, staff=kim, now=NOW)

        desk.post(f"/inbox/gaps/{gap.pk}/", {"question": [waits.pk]})

        assert "1 still waiting to be told" in desk.get("/inbox/gaps/").content.decode()

    def test_needs_nothing_more_once_it_is_settled_otherwise(self, desk, gap, kim):
        waits = gap.questions.get(answer=None)
        claim.claim(waits.escalation_id, staff=kim, now=NOW)
        reply.resolve(waits.escalation_id, staff=kim, now=NOW)

        assert "No open question" in desk.get("/inbox/gaps/").content.decode()

    def test_is_no_unanswered_question_of_the_reports(self, desk, gap):
        page = desk.get("/inbox/reports/").content.decode()
        section = page.split("What is asked most and not answered?")[1].split("</section>")[0]
        assert gap.title not in section


class TestTheCustomerCard:
    def test_says_what_is_known_and_where_it_comes_from(self, desk, claimed, ada):
        remember(ada, "Comes in the mornings", topic=make_topic("preferred_time"))

        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()

        assert "Comes in the mornings" in page
        assert "said in a chat on 2 March 2026" in page

    def test_says_who_corrected_or_added_a_fact_and_why(self, desk, ada, sam, kim):
        plan, time = make_topic("plan", label="Plan"), make_topic("time", label="Time")
        old = remember(ada, "Is with Cigna", topic=plan)
        by = {"by": f"staff:{kim.pk}", "staff_id": kim.pk, "now": NOW}
        services.correct(old.pk, value="Delta", text="Is with Delta", why="her card says so", **by)
        services.remember(ada.pk, topic=time.key, value="Mornings", text="", **by)
        make_topic("visits")
        told = services.propose(
            ada.pk, topic="visits", category="preference", value="8:00", text="Wants 8:00",
            evidence={}, by="api:shop", now=NOW,
        )  # fmt: skip
        services.review(told.pk, approve=True, by=by["by"], now=NOW)

        page = desk.get(f"/inbox/customer/{ada.pk}/").content.decode()

        assert "corrected by Kim on 2 March 2026" in page
        assert "Why: her card says so" in page
        assert "added by Kim on 2 March 2026" in page
        assert "told by the program “shop” on 2 March 2026" in page
        assert page.count("Why:") == 1  # and nothing that only the machine understands

    @pytest.mark.parametrize("sensitive", [False, True])
    def test_says_that_something_newer_was_said_in_the_open_chat(
        self, desk, claimed, ada, sensitive
    ):
        times = make_topic("times", label="Times", sensitive=sensitive)
        old = remember(ada, "Late afternoons", topic=times, sensitive=sensitive)
        told = {"topic": "times", "intent": "state", "value": "8:00", "text": "Wants 8:00"}
        told |= {
            "quote": "make it 8:00 from now on",
            "stated_at": (NOW + timedelta(hours=1)).isoformat(),
        }
        Conversation.objects.filter(pk=claimed.conversation_id).update(working_memory=[told])

        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()
        assert "said something newer in the open chat" in page
        assert ("make it 8:00 from now on" in page) is not sensitive
        assert "Still so" not in page

        later = NOW + timedelta(hours=2)
        services.correct(old.pk, value="9:00", text="Nine", by="staff:1", now=later)
        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()
        assert "said something newer" not in page

    def test_takes_the_same_words_once_more_for_nothing_newer(self, desk, claimed, ada):
        remember(ada, "mornings", topic=make_topic("times"))
        told = {"topic": "times", "intent": "state", "value": "Mornings", "text": "In the mornings"}
        Conversation.objects.filter(pk=claimed.conversation_id).update(working_memory=[told])

        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()
        assert "said something newer" not in page
        assert "Still so" in page

    def test_brings_back_what_had_faded(self, desk, ada, sam, time_machine):
        time_machine.move_to(NOW, tick=False)
        kept = remember(ada, "Comes by tram", topic=make_topic("way"), status="forgotten")
        hidden = remember(
            ada, "Penicillin", topic=make_topic("ill"), status="forgotten", sensitive=True
        )
        plan = make_topic("plan")
        remember(ada, "Is with Cigna", topic=plan, status="forgotten", single_valued=True)
        remember(ada, "Is with Delta", topic=plan, single_valued=True)

        page = desk.get(f"/inbox/customer/{ada.pk}/").content.decode()
        faded = page.split("Faded: not confirmed for long")[1].split("Add what you know")[0]
        assert "Comes by tram" in faded
        assert "Penicillin" not in page
        assert "Cigna" not in page  # something newer stands in its place

        assert "Penicillin" in htmx(desk, f"/inbox/customer/{ada.pk}/look/").content.decode()
        assert MemoryView.objects.get().topics == ["ill"]
        page = htmx(desk, f"/inbox/fact/{kept.pk}/confirm/").content.decode()
        assert "Comes by tram" in page.split("Faded")[0]
        kept.refresh_from_db()
        assert (kept.status, kept.confirmed_at) == ("active", NOW)
        hidden.refresh_from_db()
        assert hidden.status == "forgotten"

    def test_marks_what_waits_for_its_day(self, desk, claimed, ada, time_machine):
        """By her own clock: the day that she named."""
        type(ada).objects.filter(pk=ada.pk).update(timezone="Asia/Tokyo")
        plan = make_topic("plan", label="Plan")
        april = datetime(2026, 4, 1, tzinfo=ZoneInfo("Asia/Tokyo"))
        remember(ada, "Is with Cigna", topic=plan, valid_until=april)
        remember(ada, "Will be with Delta", topic=plan, valid_from=april)

        for now, marked in ((NOW, True), (april, False)):
            time_machine.move_to(now)
            page = desk.get(f"/inbox/customer/{ada.pk}/").content.decode()
            assert "Will be with Delta" in page
            assert ("from 1 April 2026" in page) is marked
            assert ("Is with Cigna" in page) is marked

    def test_says_what_the_bot_does_not_say_while_words_are_unread(
        self, desk, ada, settings, time_machine
    ):
        settings.MEMORY_WAIT_MS = 60_000  # a page does not wait for the worker
        time_machine.move_to(NOW, tick=False)
        plan = make_topic("plan", label="Insurance plan", examples=["I'm with Cigna"])
        remember(ada, "Is with Cigna", topic=plan)
        remember(ada, "Mornings", topic=make_topic("time", examples=["I prefer mornings"]))
        said = Transcript((Said(1, "customer", "My insurance plan is Delta now.", NOW),), "UTC")
        unread = services.remember_later(said, customer_id=ada.pk, ref="r", now=NOW)

        page = desk.get(f"/inbox/customer/{ada.pk}/").content.decode()
        assert page.count("newer words on this are not read yet") == 1
        assert "not read yet" in page.split("Is with Cigna")[1].split("Mornings")[0]

        services.run_agent(unread.pk, now=NOW)
        assert "not read yet" not in desk.get(f"/inbox/customer/{ada.pk}/").content.decode()

    def test_says_what_the_bot_does_not_say_till_somebody_decides(self, desk, ada):
        plan = make_topic("plan")
        old = remember(ada, "Is with Cigna", topic=plan, corrected_by_staff=True)
        new = remember(ada, "Is with Delta", topic=plan, status="pending")
        Conflict.objects.create(
            customer=ada, topic=plan, old=old, new=new, opened_at=NOW, due_at=NOW
        )

        assert (
            "till somebody has decided" in desk.get(f"/inbox/customer/{ada.pk}/").content.decode()
        )

    def test_shows_what_is_sensitive_only_after_a_look_that_is_recorded(
        self, desk, claimed, ada, sam
    ):
        topic = make_topic("allergy", sensitive=True)
        remember(ada, "Penicillin", topic=topic, sensitive=True)
        assert "Penicillin" not in desk.get(f"/inbox/{claimed.pk}/").content.decode()
        assert not MemoryView.objects.exists()

        page = htmx(desk, f"/inbox/customer/{ada.pk}/look/").content.decode()

        assert "Penicillin" in page
        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (sam, ada, ["allergy"])

    def test_writes_down_a_look_at_what_was_hidden_and_at_nothing_else(self, desk, ada):
        remember(ada, "Mornings", topic=make_topic("time"))
        htmx(desk, f"/inbox/customer/{ada.pk}/look/")
        assert not MemoryView.objects.exists()

        kept = remember(ada, "Her illness", topic=make_topic("health"), sensitive=True)
        Memory.objects.filter(pk=kept.pk).update(topic=None)
        remember(ada, "A secret cure", topic=make_topic("x"), kind="experience", sensitive=True)
        htmx(desk, f"/inbox/customer/{ada.pk}/look/")
        assert MemoryView.objects.get().topics == [kept.category]

    def test_says_what_was_promised_till_it_is_kept(self, desk, claimed, sam):
        page = f"/inbox/customer/{claimed.conversation.customer_id}/"
        promised = desk.get(page).content.decode().split(">Promised</h")[1].split("</section>")[0]
        assert claimed.promise
        assert claimed.promise in promised

        reply.resolve(claimed.pk, staff=sam, now=NOW)

        assert ">Promised</h" not in desk.get(page).content.decode()

    def test_tells_of_earlier_conversations_and_what_was_tried(self, desk, claimed, ada):
        earlier = make_conversation(ada, closed_at=NOW)
        episode = Episode.objects.create(
            customer=ada, ref=f"conversation:{earlier.pk}:1-8", transcript={}, ended_at=NOW,
            recorded_at=NOW,
        )  # fmt: skip
        topic = make_topic("visits")
        told = "Asked to move her visit to Friday"
        remember(ada, told, topic=topic, kind="summary", episode=episode)
        remember(ada, "Tried: mouthwash. What worked: salt", topic=topic, kind="experience")
        remember(ada, "Tried: a secret cure", topic=topic, kind="experience", sensitive=True)

        page = desk.get(f"/inbox/{claimed.pk}/").content.decode()

        assert told in page.split(f'href="/inbox/chat/{earlier.pk}/"')[1].split("</li>")[0]
        assert "What worked: salt" in page
        assert "a secret cure" not in page

    def test_corrects_confirms_adds_and_forgets_by_the_front_door(self, desk, ada, queue):
        topic = make_topic("preferred_time", cardinality="one")
        fact = remember(ada, "Mornings", topic=topic, single_valued=True)
        kinds = lambda: list(MemoryEvent.objects.values_list("kind", flat=True))  # noqa: E731

        htmx(desk, f"/inbox/fact/{fact.pk}/confirm/")
        htmx(desk, f"/inbox/fact/{fact.pk}/correct/", {"text": "Afternoons"})
        active = Memory.objects.get(customer=ada, status="active")
        assert (active.text, active.corrected_by_staff) == ("Afternoons", True)
        htmx(desk, f"/inbox/customer/{ada.pk}/fact/", {"topic": topic.key, "text": "Evenings"})
        active = Memory.objects.get(customer=ada, status="active")
        htmx(desk, f"/inbox/fact/{active.pk}/forget/")

        assert not Memory.objects.filter(customer=ada, status="active").exists()
        assert len(kinds()) >= 4

    @pytest.mark.parametrize(
        ("text", "value", "told", "expected"),
        [
            ("Has Delta Dental insurance", "Delta Dental", "Has Cigna insurance", "Cigna"),
            ("Prefers mornings", "mornings", "prefers late evenings", "late evenings"),
            (
                "Is insured with Aetna",
                "Aetna",
                "Is insured with Aetna since May",
                "Aetna since May",
            ),
            ("Has Delta Dental insurance", "Delta Dental", "Cigna", "Cigna"),
            ("Comes by bus", "bus", "Always comes by bus, never alone", "bus"),
            ("Allergic to latex", "", "Allergic to nickel", "Allergic to nickel"),
        ],
    )
    def test_corrected_keep_a_value_that_is_no_sentence(self, ada, text, value, told, expected):
        found, sentence = card.corrected(Memory(text=text, value=value), told)

        assert found == expected
        assert told in sentence


class TestWritingFirst:
    def test_waits_in_the_chat_and_tells_by_mail_that_it_is_there(
        self, desk, queue, mailoutbox, django_capture_on_commit_callbacks, sam, log
    ):
        cleo = make_customer("Cleo", email="cleo@example.org")

        desk.post(f"/inbox/customer/{cleo.pk}/write/", {"text": "Your crown is in."})

        escalation = Escalation.objects.get()
        assert (escalation.reason, escalation.claimed_by) == ("staff_first", sam)
        assert log(escalation.conversation_id)[-1][2] == "Your crown is in."
        mail = Delivery.objects.get()
        assert mail.to == "cleo@example.org"
        assert "has written to you" in mail.subject
        assert "crown" not in mail.body + mail.subject

    def test_is_listed_by_what_the_customer_said_last(self, desk, queue):
        cleo = make_customer("Cleo")
        desk.post(f"/inbox/customer/{cleo.pk}/write/", {"text": "Your crown is in."})
        chat = Escalation.objects.get().conversation_id
        for n, text in enumerate(("Great!", "Can I come on Friday?")):
            conversations.record_customer_message(
                chat, client_id=f"m{n}", text=text, now=NOW + timedelta(minutes=n)
            )

        page = desk.get("/inbox/?list=mine").content.decode()

        assert '<span class="row__title" dir="auto">Can I come on Friday?</span>' in page
        assert page.count("staff wrote first") == 1

    def test_is_no_mail_to_an_address_that_nobody_signed(self, desk, queue, log):
        dan = make_customer("Dan")
        assert (
            "There is no e-mail address on file."
            in desk.get(f"/inbox/customer/{dan.pk}/").content.decode()
        )

        desk.post(f"/inbox/customer/{dan.pk}/write/", {"text": "Your crown is in."})

        assert log(Escalation.objects.get().conversation_id)[-1][2] == "Your crown is in."
        assert not Delivery.objects.exists()


class TestWhatIsToBeChecked:
    def test_lists_contradictions_and_lets_staff_decide(self, desk, ada, queue):
        topic = make_topic("insurance_plan")
        old = remember(ada, "Delta Dental", topic=topic, corrected_by_staff=True)
        new = remember(ada, "Cigna", topic=topic, status="pending")
        conflict = Conflict.objects.create(
            customer=ada, topic=topic, old=old, new=new, opened_at=NOW, due_at=NOW
        )
        page = desk.get("/inbox/review/").content.decode()
        assert page.count("Cigna") == 1

        decided = {"kind": "conflict", "pk": conflict.pk, "decision": "replace"}
        desk.post("/inbox/review/decide/", decided)

        new.refresh_from_db()
        assert new.status == "active"

    def test_opens_a_look_when_somebody_was_not_helped(self, desk, ada, queue):
        conversation = make_conversation(ada, rating=-1, rating_words="Not what I asked")
        assert "Not what I asked" in desk.get("/inbox/review/").content.decode()

        told = {"worked": "The leaflet about crowns"}
        desk.post(f"/inbox/chat/{conversation.pk}/looked/", told)

        assert "leaflet about crowns" in Memory.objects.get(kind="experience").text
        assert RatingLook.objects.get().conversation == conversation
        assert "Not what I asked" not in desk.get("/inbox/review/").content.decode()


class TestReports:
    def test_answer_their_questions_and_give_the_figures_as_a_file(self, desk, escalation):
        page = desk.get("/inbox/reports/").content.decode()
        assert "How are messages answered?" in page
        assert "<svg" in page

        file = desk.get("/inbox/reports/ways.csv")
        assert file["Content-Type"].startswith("text/csv")
        assert file.content.decode().startswith("Week of,")

    def test_name_what_is_asked_most_and_what_is_due_for_a_look(self, desk, ask, ada, ben):
        for customer in (ada, ben):
            ask(customer, "May I bring my dog?")
        services.add_answer(
            title="Is there a lift?",
            parts=["Yes."],
            by="import",
            review_on=date(2026, 1, 1),
            now=NOW,
        )

        page = desk.get("/inbox/reports/").content.decode()

        asked = page.split("What is asked most and not answered?")[1].split("</section>")[0]
        assert "May I bring my dog?" in asked
        assert "2 people" in asked
        due = page.split("Which answers are due for a look?")[1].split("</section>")[0]
        assert "Is there a lift?" in due
        assert "since 1 January 2026" in due

    def test_count_by_the_rule_that_is_shown(self, desk, queue):
        desk.post("/inbox/reports/", {"minutes": "4.5"})
        assert "4.5 minutes for each message" in desk.get("/inbox/reports/").content.decode()


def test_presence_shows_who_is_looking_and_who_is_typing(desk, escalation, kim):
    now = timezone.now()
    Presence.objects.create(escalation=escalation, staff=kim, seen_at=now, typing_at=now)
    assert "Kim is typing" in desk.get(f"/inbox/{escalation.pk}/").content.decode()


def test_notes_stand_in_the_transcript_of_staff(desk, claimed):
    data = {"text": "She is anxious.", "escalation": claimed.pk}
    desk.post(f"/inbox/chat/{claimed.conversation_id}/note/", data)

    assert StaffNote.objects.get().text == "She is anxious."
    assert "She is anxious." in desk.get(f"/inbox/{claimed.pk}/").content.decode()


def test_notes_are_written_on_a_chat_with_the_bot(desk, ada, queue):
    chat = make_conversation(ada)
    conversations.record_customer_message(chat.pk, client_id="h", text="Hi", now=NOW)

    data = {"text": "Her brother pays."}
    page = desk.post(f"/inbox/chat/{chat.pk}/note/", data, follow=True).content.decode()

    assert "Her brother pays." in page
    assert StaffNote.objects.get().conversation == chat


def test_notes_on_a_customer_are_seen_beside_every_chat_and_go_with_her(desk, claimed, ada, ben):
    htmx(desk, f"/inbox/customer/{ada.pk}/note/", {"text": "Prefers to be called."})
    htmx(desk, f"/inbox/customer/{ada.pk}/note/", {"text": "  "})

    assert "Prefers to be called." in desk.get(f"/inbox/{claimed.pk}/").content.decode()
    assert "Prefers" not in desk.get(f"/inbox/customer/{ben.pk}/").content.decode()
    services.erase(ada.pk, by="staff:1", now=NOW)
    assert not StaffNote.objects.exists()


def test_staffnote_has_one_place(claimed, ada, sam):
    places = {"conversation": claimed.conversation, "customer": ada}
    with pytest.raises(IntegrityError, match="staffnote_has_one_place"):
        StaffNote.objects.create(author=sam, text="x", created_at=NOW, **places)


class TestMenu:
    def test_leads_to_the_admin_only_who_may_do_something_there(self, desk, client):
        link = f'href="{reverse("admin:index")}"'
        assert link not in desk.get("/inbox/").content.decode()

        client.force_login(User.objects.create_superuser("alex"))
        assert link in client.get("/inbox/").content.decode()


NO_SUCH = 999_999
NUMBERED = [route for route in desk_urls if "<int:" in str(route.pattern)]


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("route", NUMBERED, ids=lambda route: route.name)
def test_what_is_not_there_is_not_found_whatever_is_done_to_it(desk, kim, route, method):
    path = "/inbox/" + re.sub(r"<int:\w+>", str(NO_SUCH), str(route.pattern))
    sent = {"to": kim.pk, "text": "Hello.", "topic": "insurance", "do": "dismiss"}

    found = getattr(desk, method)(path, sent)

    assert found.status_code in (302, 404, 405)


def test_stepping_into_a_chat_that_was_settled_this_moment_says_so(desk, escalation, monkeypatch):
    def settled(*args, **kwargs):
        raise claim.Closed

    monkeypatch.setattr(claim, "claim", settled)

    shown = desk.post(f"/inbox/chat/{escalation.conversation_id}/take-over/", follow=True)

    assert "This was settled meanwhile." in shown.content.decode()
