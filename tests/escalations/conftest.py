"""A practice with one queue, two people at the desk and a customer who asked something."""

import pytest

from chat import conversations, handoff
from escalations.models import Calendar, Escalation, Queue
from tests.factories import NOW, make_conversation, make_customer, make_staff

QUESTION = "How long should I wait before rinsing after an extraction?"
WORKDAYS = {str(day): [["08:00", "12:00"], ["13:00", "17:00"]] for day in range(5)}


@pytest.fixture
def queue(db):
    calendar = Calendar.objects.create(
        name="Practice", timezone="America/New_York", weekly=WORKDAYS
    )
    return Queue.objects.create(name="Front desk", calendar=calendar, is_default=True)


@pytest.fixture
def sam(db):
    return make_staff("sam")


@pytest.fixture
def kim(db):
    return make_staff("kim", role="receptionist")


@pytest.fixture
def ada(db):
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def ben(db):
    return make_customer("Ben", external_id="ben")


@pytest.fixture
def ask(queue):
    """Let a customer ask what nobody has answered yet: ask(customer, text) → Escalation."""

    def asked(customer, text=QUESTION, *, reason="no_answer", now=NOW, conversation=None, **more):
        conversation = conversation or make_conversation(customer)
        said = conversations.record_customer_message(
            conversation.pk, client_id=f"c{conversation.last_seq}-{text[:20]}", text=text, now=now
        )
        assert handoff.hand_over(
            conversation.pk,
            question=text,
            question_seq=said.message.seq,
            reason=reason,
            now=now,
            **more,
        )
        conversation.refresh_from_db()
        return Escalation.objects.open().get(conversation=conversation)

    return asked


@pytest.fixture
def escalation(ask, ada):
    return ask(ada)


@pytest.fixture
def log():
    """What the customer sees of a conversation: [(sender, kind, text)]."""

    def rows(conversation_id):
        from chat.models import Message

        found = Message.objects.filter(conversation_id=conversation_id).order_by("seq")
        return [(m.sender, m.kind, m.text) for m in found]

    return rows


@pytest.fixture
def cast(ada, ben, sam, kim):
    return ada, ben, sam, kim
