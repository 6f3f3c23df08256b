from datetime import timedelta

import pytest

from chat import conversations, tasks
from chat.models import Conversation
from config.celery import app
from escalations.models import Escalation, Question
from tests.factories import NOW

LATE = NOW + timedelta(seconds=19)


def left_behind(chat, text="anybody?", client_id="c"):
    conversations.record_customer_message(chat.pk, client_id=client_id, text=text, now=NOW)


def test_a_turn_whose_process_was_killed_goes_to_a_person(chat):
    left_behind(chat)

    assert tasks.hand_over_overdue(now=LATE) == 1

    chat.refresh_from_db()
    assert chat.handler == Conversation.Handler.WAITING
    assert Escalation.objects.get().reason == "model"
    assert "did not come" in chat.messages.get(seq=2).text


def test_both_messages_of_a_burst_reach_the_person(chat):
    left_behind(chat, "I have a question")
    left_behind(chat, "about chairs", "c2")

    tasks.hand_over_overdue(now=LATE)

    assert Question.objects.get().text == "I have a question\nabout chairs"


def test_one_that_is_not_due_is_left_alone(chat):
    left_behind(chat)

    assert tasks.hand_over_overdue(now=NOW + timedelta(seconds=5)) == 0


def test_twice_hands_over_once(chat):
    left_behind(chat)

    assert tasks.hand_over_overdue(now=LATE) == 1
    assert tasks.hand_over_overdue(now=LATE) == 0
    assert Question.objects.count() == 1


def test_a_late_reply_after_the_sweep_is_dropped(chat):
    left_behind(chat)
    tasks.hand_over_overdue(now=LATE)

    row = conversations.NewRow("late")
    dropped = conversations.record_bot_reply(
        chat.pk, answering_seq=1, rows=[row], outcome="answered", trace={}, now=LATE
    )

    assert dropped is None


def test_one_that_cannot_be_handed_over_keeps_no_other_waiting(chat, ben, monkeypatch):
    left_behind(chat)
    bens = conversations.start(ben.pk, now=NOW, verified=True)
    left_behind(bens)
    whole = tasks.handoff.hand_over

    def broken(pk, **kwargs):
        if pk == chat.pk:
            raise RuntimeError
        return whole(pk, **kwargs)

    monkeypatch.setattr(tasks.handoff, "hand_over", broken)

    assert tasks.hand_over_overdue(now=LATE) == 1


@pytest.mark.parametrize("name", ["chat.overdue", "chat.close_idle", "chat.drop_tokens"])
def test_the_clock_knows_it(name):
    app.loader.import_default_modules()

    assert name in app.tasks
    assert name in {entry["task"] for entry in app.conf.beat_schedule.values()}
