"""One escalation, one person; and the bot is silent from the claim on."""

import threading
from datetime import timedelta

import pytest
from django.db import connection

from chat import conversations
from chat.models import Conversation, Message
from escalations import claim, reply
from escalations.models import Escalation
from memory.models import Episode
from tests.factories import NOW, make_conversation

Handler = Conversation.Handler


def handler_of(escalation):
    return Conversation.objects.get(pk=escalation.conversation_id).handler


class TestClaim:
    def test_first_click_wins_and_the_loser_is_told_who(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)

        with pytest.raises(claim.AlreadyClaimed, match="Sam is on it") as told:
            claim.claim(escalation.pk, staff=kim, now=NOW)

        assert told.value.by == sam

    def test_clicked_twice_by_the_winner_is_no_error(self, escalation, sam, log):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        before = log(escalation.conversation_id)

        claim.claim(escalation.pk, staff=sam, now=NOW)

        assert log(escalation.conversation_id) == before

    def test_tells_the_customer_who_will_answer(self, escalation, sam, log):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        assert log(escalation.conversation_id)[-1][2] == (
            "A person (dental hygienist) has joined and will answer you here."
        )

    def test_silences_the_bot_even_in_mid_turn(self, escalation, sam):
        said = conversations.record_customer_message(
            escalation.conversation_id, client_id="x", text="and hot tea?", now=NOW
        )
        assert said.may_answer

        claim.claim(escalation.pk, staff=sam, now=NOW)

        assert handler_of(escalation) == Handler.STAFF
        stored = conversations.record_bot_reply(
            escalation.conversation_id,
            answering_seq=said.message.seq,
            rows=[conversations.NewRow("Tea is fine.")],
            outcome="answered",
            trace={},
            now=NOW,
        )
        assert stored is None

    def test_of_what_is_closed_is_refused(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        claim.return_to_bot(escalation.pk, staff=sam, now=NOW)

        with pytest.raises(claim.Closed):
            claim.claim(escalation.pk, staff=kim, now=NOW)


class TestAssign:
    def test_hands_it_to_a_colleague_who_was_expected_to_take_it(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)

        claim.assign(escalation.pk, to=kim, expected=sam.pk, now=NOW)

        escalation.refresh_from_db()
        assert escalation.claimed_by == kim

    def test_fails_when_somebody_else_got_it_meanwhile(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=kim, now=NOW)

        with pytest.raises(claim.AlreadyClaimed, match="Kim is on it"):
            claim.assign(escalation.pk, to=sam, expected=None, now=NOW)

    def test_silences_the_bot_when_nobody_had_it(self, escalation, sam, kim):
        claim.assign(escalation.pk, to=kim, expected=None, now=NOW)
        assert handler_of(escalation) == Handler.STAFF


class TestRelease:
    def test_puts_it_back_in_line_and_says_so(self, escalation, sam, log):
        claim.claim(escalation.pk, staff=sam, now=NOW)

        claim.release(escalation.pk, staff=sam, now=NOW)

        escalation.refresh_from_db()
        assert escalation.claimed_by is None
        assert handler_of(escalation) == Handler.WAITING
        assert log(escalation.conversation_id)[-1][2].startswith(
            "Your question is back with the team. We are open now"
        )

    def test_is_for_the_one_who_has_it(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        with pytest.raises(claim.NotYours):
            claim.release(escalation.pk, staff=kim, now=NOW)


class TestTakeOver:
    def test_steps_into_a_chat_with_the_bot(self, ada, sam, queue):
        conversation = make_conversation(ada)
        conversations.record_customer_message(
            conversation.pk, client_id="1", text="Hello?", now=NOW
        )

        escalation = claim.take_over(conversation.pk, staff=sam, now=NOW)

        assert escalation.reason == Escalation.Reason.TAKEN
        assert escalation.claimed_by == sam
        assert escalation.questions.get().text == "Hello?"
        assert handler_of(escalation) == Handler.STAFF

    def test_claims_what_waits_already(self, escalation, sam):
        taken = claim.take_over(escalation.conversation_id, staff=sam, now=NOW)
        assert taken.pk == escalation.pk

    def test_takes_up_what_was_resolved(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        reply.resolve(escalation.pk, staff=sam, now=NOW)

        again = claim.take_over(escalation.conversation_id, staff=kim, now=NOW)

        assert again.pk != escalation.pk
        assert (again.claimed_by, again.reason) == (kim, "taken")
        assert Conversation.objects.get(pk=escalation.conversation_id).handler == Handler.STAFF

    def test_tells_the_second_who_has_it(self, ada, sam, kim, queue):
        conversation = make_conversation(ada)
        claim.take_over(conversation.pk, staff=sam, now=NOW)
        with pytest.raises(claim.AlreadyClaimed, match="Sam is on it"):
            claim.take_over(conversation.pk, staff=kim, now=NOW)


class TestReturnToTheBot:
    def test_gives_the_conversation_back_with_a_fresh_start(self, escalation, sam):
        claim.claim(escalation.pk, staff=sam, now=NOW)

        claim.return_to_bot(escalation.pk, staff=sam, now=NOW)

        conversation = Conversation.objects.get(pk=escalation.conversation_id)
        assert conversation.handler == Handler.BOT
        assert conversation.bot_since_seq == conversation.last_seq
        said = conversations.record_customer_message(
            conversation.pk, client_id="n", text="Thanks", now=NOW
        )
        assert said.may_answer

    def test_is_for_the_one_who_has_it(self, escalation, sam, kim):
        claim.claim(escalation.pk, staff=sam, now=NOW)

        with pytest.raises(claim.NotYours):
            claim.return_to_bot(escalation.pk, staff=kim, now=NOW)

        escalation.refresh_from_db()
        assert (escalation.claimed_by, escalation.closed_at) == (sam, None)
        assert Conversation.objects.get(pk=escalation.conversation_id).handler == Handler.STAFF


class TestAClaimThatGoesQuiet:
    def test_is_warned_of_then_returned(self, escalation, sam, queue, log):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        at = claim.returns_at(Escalation.objects.get(pk=escalation.pk))
        assert at == NOW + timedelta(minutes=queue.claim_quiet_minutes)

        assert claim.warn_quiet(at - timedelta(minutes=10)) == 0
        assert claim.warn_quiet(at - timedelta(minutes=2)) == 1
        assert claim.warn_quiet(at - timedelta(minutes=1)) == 0
        assert claim.return_quiet(at - timedelta(seconds=1)) == 0
        assert claim.return_quiet(at) == 1

        escalation.refresh_from_db()
        assert escalation.claimed_by is None
        assert "back with the team" in log(escalation.conversation_id)[-1][2]

    def test_stays_when_it_is_the_customers_turn(self, escalation, sam):
        from escalations import reply

        claim.claim(escalation.pk, staff=sam, now=NOW)
        reply.send(escalation.pk, staff=sam, text="Upper or lower?", seen_seq=None, now=NOW)

        assert claim.return_quiet(NOW + timedelta(days=1)) == 0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_thousand_rounds_of_two_clicks_have_one_winner_each(ask, ada, sam, kim):
    rounds = [ask(ada) for _ in range(1000)]
    won: dict[str, list] = {"sam": [], "kim": []}
    lost: dict[str, list] = {"sam": [], "kim": []}
    start = threading.Barrier(2)

    def click(user):
        for escalation in rounds:
            start.wait()
            try:
                claim.claim(escalation.pk, staff=user, now=NOW)
                won[user.username].append(escalation.pk)
            except claim.AlreadyClaimed as exc:
                lost[user.username].append((escalation.pk, exc.by.username))
        connection.close()

    threads = [threading.Thread(target=click, args=(user,)) for user in (sam, kim)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(won["sam"] + won["kim"]) == [e.pk for e in rounds]
    assert lost["kim"] == [(pk, "sam") for pk in won["sam"]]
    assert lost["sam"] == [(pk, "kim") for pk in won["kim"]]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_hundred_claims_in_mid_turn_leave_no_word_of_the_bot_after_them(ask, ada, sam):
    rounds = []
    for n in range(200):
        escalation = ask(ada)
        said = conversations.record_customer_message(
            escalation.conversation_id, client_id=f"t{n}", text="And tea?", now=NOW
        )
        rounds.append((escalation, said.message.seq))
    start = threading.Barrier(2)

    def bot():
        for escalation, seq in rounds:
            start.wait()
            conversations.record_bot_reply(
                escalation.conversation_id,
                answering_seq=seq,
                rows=[conversations.NewRow("Tea is fine.")],
                outcome="answered",
                trace={},
                now=NOW,
            )
        connection.close()

    def person():
        for escalation, _seq in rounds:
            start.wait()
            claim.claim(escalation.pk, staff=sam, now=NOW)
        connection.close()

    threads = [threading.Thread(target=bot), threading.Thread(target=person)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for escalation, _seq in rounds:
        rows = Message.objects.filter(conversation_id=escalation.conversation_id)
        claimed = rows.get(meta__state="claimed").seq
        assert not rows.filter(sender="bot", seq__gt=claimed).exists()


class TestAClaimThatWasAnsweredAndHeardNoMore:
    @pytest.fixture
    def answered(self, escalation, sam):
        claim.claim(escalation.pk, staff=sam, now=NOW)
        reply.send(escalation.pk, staff=sam, text="Wait 24 hours.", seen_seq=None, now=NOW)
        return escalation

    def test_ends_and_memory_reads_the_chat(self, answered, sam, ada, settings):
        silent = timedelta(hours=settings.DESK_SILENT_HOURS)
        assert claim.end_silent(NOW + silent) == 0

        assert claim.end_silent(NOW + silent + timedelta(minutes=1)) == 1

        answered.refresh_from_db()
        answered.conversation.refresh_from_db()
        assert (answered.resolution, answered.closed_by) == ("silent", sam)
        assert answered.conversation.close_reason == "idle"
        assert answered.conversation.handler == Conversation.Handler.BOT
        read = Episode.objects.get().transcript["messages"]
        assert "Wait 24 hours." in [m["text"] for m in read]

    def test_stays_with_its_owner_when_she_wrote_last(self, answered):
        later = NOW + timedelta(days=3)
        conversations.record_customer_message(
            answered.conversation_id, client_id="t", text="Thanks, and then?", now=NOW
        )
        assert claim.end_silent(later) == 0
        answered.refresh_from_db()
        assert answered.closed_at is None
