import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from chat import conversations
from chat.conversations import Closed, Lapsed, NewRow, Stale
from chat.models import Conversation, Message, Turn
from memory.models import Episode
from tests.factories import NOW, make_conversation

LATER = NOW + timedelta(minutes=1)


def said(chat, text="hello", client_id="c1", now=NOW):
    return conversations.record_customer_message(chat.pk, client_id=client_id, text=text, now=now)


def replied(chat, seq, text="hi", **fields):
    return conversations.record_bot_reply(
        chat.pk,
        answering_seq=seq,
        rows=[NewRow(text, **fields)],
        outcome="answered",
        trace={},
        now=NOW,
    )


def offered(chat):
    question = said(chat, "rinse?", "q").message
    meta = {"question_seq": question.seq, "match_id": None}
    meta["choices"] = [{"choice": "7", "title": "How long?"}]
    return replied(chat, question.seq, "One of these?", kind=Message.Kind.OFFER, meta=meta)[0]


def seqs(chat):
    return list(chat.messages.order_by("pk").values_list("seq", flat=True))


class TestRows:
    def test_the_same_client_id_twice_is_one_row(self, chat):
        first, second = said(chat), said(chat, "hello again")

        assert first.new
        assert not second.new
        assert not second.may_answer
        assert second.message == first.message
        assert seqs(chat) == [1]

    def test_seqs_run_without_a_gap(self, chat):
        for n in range(3):
            row = said(chat, f"m{n}", f"c{n}")
            replied(chat, row.message.seq)

        assert seqs(chat) == [1, 2, 3, 4, 5, 6]

    def test_message_seq_unique(self, chat):
        said(chat)
        row = Message(conversation=chat, seq=1, sender="bot", text="x", created_at=NOW)

        with pytest.raises(IntegrityError, match="message_seq_unique"), transaction.atomic():
            row.save()

    def test_message_client_id_unique(self, chat):
        said(chat)
        row = Message(
            conversation=chat, seq=9, sender="customer", client_id="c1", text="x", created_at=NOW
        )

        with pytest.raises(IntegrityError, match="message_client_id_unique"), transaction.atomic():
            row.save()

    @pytest.mark.parametrize("text", ["a\n\n b ", "👩‍👩‍👧‍👦", "שלום\u202e", "x" * 10_000])
    def test_words_are_kept_letter_for_letter(self, chat, text):
        said(chat, text)

        assert chat.messages.get().text == text


class TestBotReply:
    def test_is_dropped_when_something_newer_was_said(self, chat):
        first = said(chat).message
        said(chat, "and another thing", "c2")

        assert replied(chat, first.seq) is None
        assert Turn.objects.get().outcome == "dropped"

    def test_is_dropped_when_a_person_took_over(self, chat, sam):
        row = said(chat).message
        conversations.take_over(chat.pk, staff=sam, now=NOW)

        assert replied(chat, row.seq) is None

    def test_is_dropped_after_the_turn_was_handed_over_for_being_late(self, chat):
        row = said(chat).message
        conversations.hand_to_waiting(chat.pk, awaited=True, answering_seq=row.seq, now=LATER)

        assert replied(chat, row.seq) is None

    def test_settles_what_is_due(self, chat):
        row = said(chat).message
        chat.refresh_from_db()
        assert chat.answer_due_at > NOW

        replied(chat, row.seq)

        chat.refresh_from_db()
        assert chat.answer_due_at is None

    def test_no_reply_is_due_while_a_person_has_it(self, chat, sam):
        conversations.take_over(chat.pk, staff=sam, now=NOW)

        recorded = said(chat)

        chat.refresh_from_db()
        assert not recorded.may_answer
        assert chat.answer_due_at is None


class TestOffer:
    def test_the_first_choice_wins(self, chat):
        offer = offered(chat)

        chosen = conversations.choose(
            chat.pk, offer_seq=offer.seq, choice="7", client_id="t1", now=NOW
        )
        with pytest.raises(Lapsed):
            conversations.choose(
                chat.pk, offer_seq=offer.seq, choice="none", client_id="t2", now=NOW
            )

        assert chosen.question == "rinse?"
        assert chosen.message.text == "How long?"

    def test_the_same_press_twice_is_one(self, chat):
        offer = offered(chat)
        press = {"offer_seq": offer.seq, "choice": "none", "client_id": "t1", "now": NOW}

        first = conversations.choose(chat.pk, **press)
        second = conversations.choose(chat.pk, **press)

        assert first.new
        assert not second.new
        assert first.message == second.message

    def test_a_press_under_the_number_of_something_said_is_told_so(self, chat):
        said(chat, "how long must I wait?", "c9")
        offer = offered(chat)

        with pytest.raises(Lapsed):
            conversations.choose(chat.pk, offer_seq=offer.seq, choice="7", client_id="c9", now=NOW)

    def test_lapses_when_anything_newer_is_said(self, chat):
        offer = offered(chat)
        said(chat, "oh wait", "c2")

        with pytest.raises(Lapsed):
            conversations.choose(chat.pk, offer_seq=offer.seq, choice="7", client_id="t", now=NOW)

    def test_stays_open_when_she_leaves_an_address(self, chat):
        """A state line is nobody's words."""
        offer = offered(chat)
        conversations.set_reply_email(chat.pk, email="a@b.example", link="/x", now=NOW)

        chosen = conversations.choose(
            chat.pk, offer_seq=offer.seq, choice="7", client_id="t", now=NOW
        )

        assert chosen.new

    def test_lapses_when_a_person_claims(self, chat, sam):
        offer = offered(chat)
        conversations.take_over(chat.pk, staff=sam, now=NOW)

        with pytest.raises(Lapsed):
            conversations.choose(chat.pk, offer_seq=offer.seq, choice="7", client_id="t", now=NOW)

    @pytest.mark.parametrize(("seq", "choice"), [(2, "8"), (1, "7"), (99, "7")])
    def test_takes_only_what_was_offered(self, chat, seq, choice):
        offered(chat)

        with pytest.raises(Lapsed):
            conversations.choose(chat.pk, offer_seq=seq, choice=choice, client_id="t", now=NOW)


class TestStaff:
    def test_a_reply_is_refused_when_the_customer_said_more(self, chat, sam):
        seen = said(chat).message.seq
        said(chat, "lower", "c2")

        with pytest.raises(Stale):
            conversations.post_staff_reply(chat.pk, text="ok", staff=sam, now=NOW, seen_seq=seen)

        assert not chat.messages.filter(sender="staff").exists()

    def test_words_of_staff_are_kept_letter_for_letter(self, chat, sam):
        text = "  Wait 24 hours.\n\n\tThen rinse 🙂 "

        row = conversations.post_staff_reply(chat.pk, text=text, staff=sam, now=NOW)

        row.refresh_from_db()
        assert row.text == text
        assert row.author == sam

    def test_a_reply_opens_a_closed_conversation_again(self, chat, sam):
        said(chat)
        conversations.close(chat.pk, reason="ended", now=NOW)

        conversations.post_staff_reply(chat.pk, text="here", staff=sam, now=LATER)

        chat.refresh_from_db()
        assert chat.closed_at is None

    def test_the_bot_starts_afresh_after_a_release(self, chat, sam):
        said(chat)
        conversations.take_over(chat.pk, staff=sam, now=NOW)
        conversations.release(chat.pk, now=NOW, state="resolved")

        chat.refresh_from_db()
        assert chat.handler == Conversation.Handler.BOT
        assert chat.bot_since_seq == chat.last_seq


class TestLifetime:
    def test_a_close_hands_memory_everything_since_the_last_one(self, chat):
        row = said(chat, "mornings only")
        replied(chat, row.message.seq)

        assert conversations.close(chat.pk, reason="ended", now=LATER)

        episode = Episode.objects.get()
        assert [m["text"] for m in episode.transcript["messages"]] == ["mornings only", "hi"]
        assert episode.ref == f"conversation:{chat.pk}:1-3"

    def test_a_second_close_does_nothing(self, chat):
        said(chat)
        conversations.close(chat.pk, reason="ended", now=NOW)

        assert not conversations.close(chat.pk, reason="idle", now=LATER)
        assert Episode.objects.count() == 1

    def test_nothing_is_said_in_a_closed_conversation(self, chat):
        said(chat)
        conversations.close(chat.pk, reason="ended", now=NOW)

        with pytest.raises(Closed):
            said(chat, "more", "c2")

    def test_a_late_retry_finds_its_row_in_a_closed_conversation(self, chat):
        first = said(chat)
        conversations.close(chat.pk, reason="ended", now=NOW)

        assert said(chat).message == first.message

    def test_a_new_conversation_closes_the_customers_others(self, chat, ada, ben):
        said(chat)
        bens = make_conversation(ben)

        conversations.start(ada.pk, now=LATER, verified=True)

        chat.refresh_from_db()
        bens.refresh_from_db()
        assert chat.close_reason == "replaced"
        assert bens.closed_at is None

    def test_one_that_waits_for_a_person_stays_open(self, chat, ada):
        row = said(chat).message
        conversations.hand_to_waiting(chat.pk, awaited=True, answering_seq=row.seq, now=NOW)

        conversations.start(ada.pk, now=LATER, verified=True)

        chat.refresh_from_db()
        assert chat.closed_at is None

    def test_an_idle_one_ends(self, chat, ada, settings):
        row = said(chat)
        replied(chat, row.message.seq)
        later = NOW + timedelta(minutes=settings.CHAT_IDLE_MINUTES + 1)

        assert conversations.close_idle(now=later) == 1
        assert conversations.current(ada.pk, now=later) is None

    def test_one_that_waits_is_put_aside_for_memory_and_goes_on_with_the_answer(
        self, chat, ada, sam, settings
    ):
        row = said(chat, "mornings only").message
        conversations.hand_to_waiting(chat.pk, awaited=True, answering_seq=row.seq, now=NOW)
        hours = timedelta(hours=settings.CHAT_WAITING_HOURS)
        assert conversations.close_idle(now=NOW + hours) == 0

        later = NOW + hours + timedelta(minutes=1)
        assert conversations.close_idle(now=later) == 1
        assert [m["text"] for m in Episode.objects.get().transcript["messages"]] == [
            "mornings only"
        ]
        last = chat.messages.order_by("-seq")[0].text
        assert "still with a person" in last

        conversations.post_staff_reply(chat.pk, text="Tuesday.", staff=sam, now=later)
        assert conversations.current(ada.pk, now=later) == chat

    def test_memory_reads_a_long_one_before_its_end(self, chat, settings):
        settings.CHAT_FLUSH_MESSAGES = 4
        for n in range(3):
            replied(chat, said(chat, f"m{n}", f"c{n}").message.seq)

        conversations.close(chat.pk, reason="ended", now=LATER)

        refs = list(Episode.objects.order_by("pk").values_list("ref", flat=True))
        assert refs == [f"conversation:{chat.pk}:1-4", f"conversation:{chat.pk}:5-7"]


@pytest.mark.django_db(transaction=True)
def test_many_tabs_at_once_get_one_row_each_and_no_gap(ada):
    chat = conversations.start(ada.pk, now=NOW, verified=True)

    def write(n):
        said(chat, f"m{n}", f"c{n % 5}")
        connection.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(seqs(chat)) == [1, 2, 3, 4, 5]


@pytest.mark.django_db(transaction=True)
def test_many_tabs_at_once_start_one_conversation(ada):
    at_once(4, lambda n: conversations.current_or_new(ada.pk, now=NOW, verified=True))

    assert ada.conversations.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_addresses_at_once_one_gets_the_link(ada):
    chat = conversations.start(ada.pk, now=NOW, verified=True)

    at_once(
        4,
        lambda n: conversations.set_reply_email(
            chat.pk, email=f"x{n}@example.com", link="/back/", now=NOW
        ),
    )

    chat.refresh_from_db()
    told = chat.messages.values_list("text", flat=True)
    assert [chat.reply_email in text for text in told] == [True]


def at_once(number, do):
    barrier = threading.Barrier(number)

    def run(n):
        barrier.wait()
        do(n)
        connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_one_that_she_ended_while_an_answer_is_owed_goes_on_when_she_comes_back(ada):
    first = conversations.start(ada.pk, now=NOW, verified=False)
    conversations.record_customer_message(first.pk, client_id="c1", text="May I rinse?", now=NOW)
    conversations.wait(first.pk)
    conversations.close(first.pk, reason="ended", now=NOW)

    again = conversations.start(ada.pk, now=NOW, verified=False)

    assert again.pk == first.pk
    assert conversations.current(ada.pk, now=NOW) == first
