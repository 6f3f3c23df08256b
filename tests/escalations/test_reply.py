"""What staff say, what is kept of it, and that words stay as they were typed."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from chat import conversations
from chat.models import Business, Conversation, Message
from escalations import capture, claim, fanout, reply
from escalations.capture import Keep
from escalations.models import Draft, Escalation, Gap
from memory import services
from memory.models import Answer, AnswerMatch, Memory
from tests.factories import NOW

ODD = "  Wait 24 h.\n\n\tThen salt water – ½ tsp.\u00a0👩🏽‍⚕️ e\u0301\u200f שלום \n"


@pytest.fixture
def claimed(escalation, sam):
    claim.claim(escalation.pk, staff=sam, now=NOW)
    escalation.refresh_from_db()
    return escalation


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


class TestSend:
    def test_keeps_the_claim_and_stores_nothing(self, claimed, sam):
        reply.send(claimed.pk, staff=sam, text="Upper or lower?", seen_seq=None, now=NOW)

        claimed.refresh_from_db()
        assert claimed.claimed_by == sam
        assert claimed.closed_at is None
        assert claimed.first_reply_at == NOW
        assert not Answer.objects.exists()
        assert not Memory.objects.exists()

    def test_is_stored_letter_for_letter_with_the_role(self, claimed, sam):
        message = reply.send(claimed.pk, staff=sam, text=ODD, seen_seq=None, now=NOW)

        stored = Message.objects.get(pk=message.pk)
        assert sha(stored.text) == sha(ODD)
        assert (stored.role, stored.author_name) == ("dental hygienist", "Sam")

    def test_shows_first_what_arrived_since_it_was_begun(self, claimed, sam):
        seen = Conversation.objects.get(pk=claimed.conversation_id).last_seq
        conversations.record_customer_message(
            claimed.conversation_id, client_id="m", text="It is an upper one", now=NOW
        )

        with pytest.raises(reply.Stale):
            reply.send(claimed.pk, staff=sam, text="Upper or lower?", seen_seq=seen, now=NOW)

        reply.send(claimed.pk, staff=sam, text="Thank you", seen_seq=seen + 1, now=NOW)

    def test_is_for_the_one_who_has_it(self, claimed, kim):
        with pytest.raises(claim.NotYours):
            reply.send(claimed.pk, staff=kim, text="Hello", seen_seq=None, now=NOW)

    def test_takes_the_draft_away(self, claimed, sam):
        Draft.objects.create(escalation=claimed, staff=sam, text="Upp", updated_at=NOW)
        reply.send(claimed.pk, staff=sam, text="Upper or lower?", seen_seq=None, now=NOW)
        assert not Draft.objects.exists()


class TestTheKeepingStep:
    def test_proposes_each_message_since_the_claim_with_its_reason(self, claimed, sam):
        reply.send(claimed.pk, staff=sam, text="Upper or lower?", seen_seq=None, now=NOW)
        reply.send(claimed.pk, staff=sam, text="Wait 24 hours.", seen_seq=None, now=NOW)

        step = capture.propose(claimed, now=NOW)

        assert [p.message.text for p in step.parts] == ["Upper or lower?", "Wait 24 hours."]
        assert all(p.verdict.reason for p in step.parts)
        assert step.title == claimed.questions.get().text

    @pytest.mark.parametrize(
        ("words", "meant"),
        [
            ("For the pain take 400 mg of ibuprofen with food.", "What may I take for the pain?"),
            ("There is a garage behind the house, an hour is free.", "Do you have parking?"),
            ("Thank you, I will look at it and come back to you.", None),
        ],
    )
    def test_proposes_the_question_that_the_words_answer_and_never_a_mere_statement(
        self, ask, ben, sam, words, meant
    ):
        asked = ask(ben, "I can only come after 4 pm because of work")
        for text in ("What may I take for the pain?", "Do you have parking?"):
            ask(ben, text, conversation=asked.conversation)
        ask(ben, "Can I talk to a person?", reason="asked", conversation=asked.conversation)
        claim.claim(asked.pk, staff=sam, now=NOW)
        reply.send(asked.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        step = capture.propose(Escalation.objects.get(pk=asked.pk), now=NOW)

        assert step.title == (meant or "")
        found = step.question_id and asked.questions.get(pk=step.question_id).text
        assert found == meant

    def test_proposes_the_question_that_a_stored_answer_was_sent_for(self, ask, ben, sam):
        asked = ask(ben, "Do you have parking?")
        ask(ben, "Are you open on Saturdays?", conversation=asked.conversation)
        claim.claim(asked.pk, staff=sam, now=NOW)
        stored = services.add_answer(title="Parking", parts=["Behind us."], by="import", now=NOW)
        question = asked.questions.order_by("pk").first()
        more = {"question": question, "seen_seq": None, "now": NOW}
        reply.send_answer(asked.pk, stored.pk, staff=sam, **more)
        reply.send(asked.pk, staff=sam, text="See you then!", seen_seq=None, now=NOW)

        step = capture.propose(Escalation.objects.get(pk=asked.pk), now=NOW)

        assert step.question_id == question.pk

    def test_proposes_the_words_of_a_colleague_who_had_it_before(self, claimed, sam, kim):
        reply.send(claimed.pk, staff=sam, text="I will ask.", seen_seq=None, now=NOW)
        claim.assign(claimed.pk, to=kim, expected=sam.pk, now=NOW)
        reply.send(claimed.pk, staff=kim, text="24 hours.", seen_seq=None, now=NOW)

        step = capture.propose(Escalation.objects.get(pk=claimed.pk), now=NOW)

        assert [p.message.text for p in step.parts] == ["I will ask.", "24 hours."]

    def test_shows_what_says_otherwise_side_by_side(self, claimed, sam):
        question = claimed.questions.get().text
        Answer.objects.create(
            title=question, parts=["48 hours."], said_at=NOW, recorded_at=NOW, status="active"
        )
        reply.send(claimed.pk, staff=sam, text="24 hours.", seen_seq=None, now=NOW)

        rival = capture.propose(claimed, now=NOW).rival

        assert rival is not None
        assert rival.parts == ("48 hours.",)

    @pytest.mark.parametrize(
        ("words", "choice"),
        [
            ("Parking behind the building is free for two hours.", "everyone"),
            ("As I said, the counter on the left is the one for parcels and letters.", "customer"),
            ("We have no bicycles for children in the shop at the moment.", "later"),
            ("Your crown has arrived and we keep it here for you.", "customer"),
            ("One moment please, let me look that up.", "none"),
        ],
    )
    def test_preselects_for_everyone_only_what_stands_alone(self, claimed, sam, words, choice):
        reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        part = capture.propose(claimed, now=NOW).parts[0]

        assert part.choice == choice
        assert part.verdict.reason

    def test_lets_what_leans_on_the_message_before_go_with_it(self, claimed, sam):
        for words in (
            "Parking behind the building is free for two hours.",
            "That is also so on Saturdays, when the gate at the back is closed.",
        ):
            reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        parts = capture.propose(claimed, now=NOW).parts

        assert [p.choice for p in parts] == ["everyone", "everyone"]

    def test_proposes_the_end_that_its_words_name(self, claimed, sam):
        words = "We are closed today because of the storm, all counters of ours."
        reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        assert capture.propose(claimed, now=NOW).until == NOW.date()

    def test_means_the_days_of_the_business_where_no_queue_has_it(self, claimed, sam):
        Escalation.objects.update(queue=None)
        Business.objects.update_or_create(pk=1, defaults={"timezone": "Pacific/Auckland"})
        claimed.refresh_from_db()
        words = "We are closed today because of the storm, all counters of ours."
        reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        tomorrow = NOW.date() + timedelta(days=1)  # it is Tuesday there already
        assert capture.propose(claimed, now=NOW).until == tomorrow

    def test_does_not_propose_what_is_over_since_it_was_written(self, claimed, sam):
        words = "We are closed today because of the storm, all counters of ours."
        reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        part = capture.propose(claimed, now=NOW + timedelta(days=1)).parts[0]

        assert part.choice == "none"
        assert "over" in part.verdict.reason


class TestResolve:
    def test_keeps_the_ticked_messages_as_one_answer_letter_for_letter(self, claimed, sam):
        asked = claimed.questions.get()
        first = reply.send(claimed.pk, staff=sam, text=ODD, seen_seq=None, now=NOW)
        reply.send(claimed.pk, staff=sam, text="Upper or lower?", seen_seq=None, now=NOW)
        third = reply.send(claimed.pk, staff=sam, text="Then rinse.", seen_seq=None, now=NOW)
        keep = Keep("everyone", (first.seq, third.seq), asked.text, question_id=asked.pk)

        reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[keep])

        answer = Answer.objects.get()
        assert [sha(p) for p in answer.parts] == [sha(ODD), sha("Then rinse.")]
        assert (answer.title, answer.role, answer.author) == (asked.text, "dental hygienist", sam)
        asked.refresh_from_db()
        assert asked.answer == answer
        assert Gap.objects.get().answer == answer

    def test_keeps_for_this_customer_alone_what_is_hers(self, claimed, sam, ada):
        sent = reply.send(claimed.pk, staff=sam, text="Your crown is in.", seen_seq=None, now=NOW)

        reply.resolve(
            claimed.pk, staff=sam, now=NOW, keep=[Keep("customer", (sent.seq,), "Is it in?")]
        )

        assert not Answer.objects.exists()
        assert Memory.objects.get().customer == ada

    def test_stores_nothing_when_nothing_is_ticked(self, claimed, sam):
        reply.send(claimed.pk, staff=sam, text="Hello", seen_seq=None, now=NOW)
        reply.resolve(claimed.pk, staff=sam, now=NOW)
        assert not Answer.objects.exists()

    def test_gives_the_bot_the_conversation_again(self, claimed, sam, log):
        reply.resolve(claimed.pk, staff=sam, now=NOW)

        claimed.refresh_from_db()
        assert claimed.resolution == "resolved"
        assert claimed.conversation.handler == Conversation.Handler.BOT
        said = conversations.record_customer_message(
            claimed.conversation_id, client_id="z", text="Thanks!", now=NOW
        )
        assert said.may_answer

    def test_takes_the_place_of_the_answer_that_said_otherwise(self, claimed, sam):
        old = Answer.objects.create(
            title="Rinsing?", parts=["48 h"], said_at=NOW, recorded_at=NOW, status="active"
        )
        sent = reply.send(claimed.pk, staff=sam, text="24 h", seen_seq=None, now=NOW)
        keep = Keep("everyone", (sent.seq,), "Rinsing?", replaces=old.pk)

        reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[keep])

        assert Answer.objects.get(status="active").parts == ["24 h"]

    def test_signs_what_takes_its_place_with_whose_words_it_is(self, claimed, sam, kim):
        old = Answer.objects.create(
            title="Rinsing?", parts=["48 h"], said_at=NOW, recorded_at=NOW, status="active",
            author=kim, author_name="Kim", role="receptionist", source_ref="import:faq.csv:3",
        )  # fmt: skip
        sent = reply.send(claimed.pk, staff=sam, text="24 h", seen_seq=None, now=NOW)
        end = NOW + timedelta(days=9)
        keep = Keep("everyone", (sent.seq,), "Rinsing?", replaces=old.pk, valid_until=end)

        reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[keep])

        new = Answer.objects.get(status="active")
        assert (new.author, new.author_name, new.role) == (sam, "Sam", "dental hygienist")
        assert new.source_ref == f"conversation:{claimed.conversation_id}:{sent.seq}"
        assert new.valid_until == end
        old.refresh_from_db()
        assert (old.superseded_by, old.author_name) == (new, "Kim")

    @pytest.mark.parametrize("scope", ["everyone", "customer"])
    def test_ends_what_is_bound_to_now_when_its_words_say_so(self, claimed, sam, scope):
        words = "We are closed today because of the storm, all counters of ours."
        sent = reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        keep = Keep(scope, (sent.seq,), "Are you open?")
        kept = reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[keep])[0]

        tomorrow = datetime(2026, 3, 3, 5, tzinfo=UTC)  # midnight in New York
        stored = kept.answer or kept.memory
        assert stored.valid_until == tomorrow
        assert not type(stored).objects.active(tomorrow).exists()

    def test_keeps_without_end_what_staff_say_has_none(self, claimed, sam):
        words = "We are closed today because of the storm, all counters of ours."
        sent = reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)
        keep = Keep("everyone", (sent.seq,), "Are you open?", end_told=True)

        reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[keep])

        assert Answer.objects.get().valid_until is None

    def test_proposes_a_how_to_where_the_messages_are_steps(self, claimed, sam):
        words = ["First rinse with salt water.", "Then wait for a minute.", "Finally brush softly."]
        seqs = [
            reply.send(claimed.pk, staff=sam, text=text, seen_seq=None, now=NOW).seq
            for text in words
        ]

        reply.resolve(
            claimed.pk, staff=sam, now=NOW, keep=[Keep("everyone", tuple(seqs), "Rinsing?")]
        )

        waits = Answer.objects.get(category="learned_procedure")
        assert (waits.status, waits.parts) == ("pending", words)
        assert Answer.objects.get(status="active").parts == words

    def test_gives_nobody_what_waits_for_another_look(self, claimed, sam):
        asked = claimed.questions.get()
        words = "That is no problem at all, we do it every day of the week."
        sent = reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)
        keep = Keep("later", (sent.seq,), asked.text, question_id=asked.pk)

        reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[keep])

        answer = Answer.objects.get()
        assert (answer.status, answer.needs_review) == ("pending", True)
        assert "needs what was said before" in answer.review_reason
        assert services.answer_for(asked.text, customer_id=None, now=NOW).way == "gap"
        assert Gap.objects.get().answered_at is None

    def test_records_that_staff_chose_otherwise_than_proposed(self, claimed, sam):
        words = "That is no problem at all, we do it every day of the week."
        sent = reply.send(claimed.pk, staff=sam, text=words, seen_seq=None, now=NOW)

        reply.resolve(claimed.pk, staff=sam, now=NOW, keep=[Keep("everyone", (sent.seq,), "Free?")])

        answer = Answer.objects.get()
        assert answer.status == "active"
        assert answer.share_reason.startswith("chosen by staff, although: “That”")


class TestThisAnswersIt:
    def test_sends_the_very_words_and_confirms_the_wording(self, claimed, sam):
        answer = Answer.objects.create(
            title="Rinsing?", parts=[ODD], said_at=NOW, recorded_at=NOW, status="active"
        )
        asked = claimed.questions.get()

        sent = reply.send_answer(
            claimed.pk, answer.pk, staff=sam, question=asked, seen_seq=None, now=NOW
        )

        assert sha(sent.text) == sha(ODD)
        assert sent.kind == Message.Kind.ANSWER
        match = AnswerMatch.objects.get()
        assert (match.asked, match.outcome) == (asked.text, "confirmed")


class TestOneAnswerForAllWhoWait:
    @pytest.fixture
    def answer(self, db):
        return Answer.objects.create(
            title="Rinsing?", parts=["24 h"], said_at=NOW, recorded_at=NOW, status="active"
        )

    def test_reaches_each_of_them_and_skips_what_a_colleague_has(self, ask, cast, answer):
        ada, ben, sam, kim = cast
        hers, his = ask(ada), ask(ben)
        claim.claim(his.pk, staff=kim, now=NOW)
        questions = [hers.questions.get(), his.questions.get()]

        result = fanout.answer_all(questions, answer.pk, staff=sam, now=NOW)

        assert [q.pk for q in result.told] == [questions[0].pk]
        assert [(q.pk, by.username) for q, by in result.skipped] == [(questions[1].pk, "kim")]
        assert Escalation.objects.get(pk=hers.pk).resolution == "resolved"
        assert AnswerMatch.objects.get().asked == questions[0].text

    def test_leaves_a_further_question_in_the_queue(self, ask, ada, sam, answer):
        hers = ask(ada)
        ask(ada, "Do you sell night guards?", conversation=hers.conversation)

        fanout.answer_all([hers.questions.first()], answer.pk, staff=sam, now=NOW)

        hers.refresh_from_db()
        assert hers.closed_at is None
        assert hers.claimed_by is None
        assert hers.due_at > NOW - timedelta(hours=1)
