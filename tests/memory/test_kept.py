"""What admins edit holds from its commit on, in every process, however it was changed."""

import asyncio
import gc
import threading

import psycopg
import pytest
from django.db import connection, transaction

from chat import conversations, wordings
from chat.models import Business, Conversation, Message, Wording
from chat.turns import in_db_thread
from memory import kept, services
from memory.models import Topic
from memory.prepared import Prepared, argument
from tests.factories import NOW, make_conversation, make_customer, make_topic


def labels():
    return [t.label for t in services.all_topics()]


def notes():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_change WHERE of_table = 'memory_topic'")
        return cursor.fetchone()[0]


@pytest.mark.django_db
class TestInOneProcess:
    @pytest.mark.parametrize("how", ["save", "update", "bulk", "delete", "sql"])
    def test_every_way_of_changing_a_topic_is_noticed(self, how):
        topic = make_topic("plan", label="plan")
        other = make_topic("channel", label="channel")
        assert labels() == ["plan", "channel"]
        topic.label = "insurance"
        match how:
            case "save":
                topic.save()
            case "update":
                Topic.objects.filter(pk=topic.pk).update(label="insurance")
            case "bulk":
                Topic.objects.bulk_update([topic], ["label"])
            case "delete":
                topic.delete()
            case "sql":
                with connection.cursor() as cursor:
                    cursor.execute("UPDATE memory_topic SET label = 'insurance' WHERE key = 'plan'")
        assert labels() == ([] if how == "delete" else ["insurance"]) + [other.label]

    def test_a_sentence_of_the_business_is_said_at_once_and_no_longer_than_it_stands(self):
        ours = wordings.say("goodbye", 1, 1)
        own = Wording.objects.create(key="goodbye", variants=["So long!", 7])
        assert wordings.say("goodbye", 1, 1) == "So long!"
        own.delete()
        assert wordings.say("goodbye", 1, 1) == ours

    def test_what_is_rolled_back_was_never_so(self):
        make_topic("plan", label="plan")
        with transaction.atomic():
            Topic.objects.update(label="wrong")
            assert labels() == ["wrong"]
            transaction.set_rollback(True)
        assert labels() == ["plan"]

    def test_many_notes_become_one_a_table_and_say_the_same(self):
        for n in range(5):
            make_topic(f"topic_{n}", label=f"topic {n}")
        before, many = labels(), notes()
        kept.sum_up()
        assert many >= 5
        assert notes() == 1
        assert labels() == before
        Topic.objects.filter(key="topic_0").update(label="changed after")
        assert labels()[0] == "changed after"

    def test_every_table_that_is_kept_is_watched(self):
        tables = {t for k in gc.get_objects() if type(k) is kept.Kept for t in k.tables}
        with connection.cursor() as cursor:
            cursor.execute("SELECT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal")
            watched = {name for (name,) in cursor.fetchall()}
        assert {"memory_topic", "chat_business", "chat_wording", "escalations_queue"} <= tables
        assert tables <= watched


@pytest.mark.django_db(transaction=True)
class TestFromAnotherProcess:
    def test_its_commit_is_noticed_and_nothing_before_it(self):
        Business.objects.create(pk=1, name="Mill Street")
        assert conversations.business().name == "Mill Street"
        settings = connection.get_connection_params()
        where = {k: settings[k] for k in ("host", "port", "user", "dbname") if settings.get(k)}
        with psycopg.connect(**where) as elsewhere:
            elsewhere.execute("UPDATE chat_business SET name = 'Hill Street'")
            assert conversations.business().name == "Mill Street"
            elsewhere.commit()
            assert conversations.business().name == "Hill Street"


@pytest.mark.django_db
class TestPrepared:
    SAID = Prepared(
        lambda: Message.objects.filter(conversation__customer_id=argument("hers")).order_by("seq")
    )

    def test_each_customer_gets_her_own_whoever_asked_before(self):
        said = {}
        for name in ("Ada", "Ben", "Cleo"):
            conversation = make_conversation(make_customer(name, external_id=name))
            for seq in (1, 2):
                Message.objects.create(
                    conversation=conversation, seq=seq, sender="customer", text=f"{name} {seq}",
                    meta={"n": [seq, name]}, created_at=NOW,
                )  # fmt: skip
            said[conversation.customer_id] = list(conversation.messages.order_by("seq"))
        for hers, rows in [*said.items(), *reversed(said.items())]:
            got = self.SAID.instances(hers=hers)
            assert got == rows
            assert [vars(a) | {"_state": 0} for a in got] == [vars(b) | {"_state": 0} for b in rows]

    def test_what_it_returns_can_be_changed_and_saved(self):
        conversation = make_conversation(make_customer())
        (found,) = Prepared(lambda: Conversation.objects.filter(pk=argument("pk"))).instances(
            pk=conversation.pk
        )
        found.last_seq = 7
        found.save()
        conversation.refresh_from_db()
        assert conversation.last_seq == 7

    def test_a_customers_words_are_never_part_of_the_query(self):
        rows = Prepared(lambda: Topic.objects.filter(key=argument("key")).values_list("label"))
        make_topic("plan", label="plan")
        for text in ("' OR true --", "plan'; DELETE FROM memory_topic; --", "%s", "\\"):
            assert rows(key=text) == []
        assert rows(key="plan") == [("plan",)]


@pytest.mark.django_db(transaction=True)
async def test_a_turn_that_is_given_up_leaves_nothing_old_behind():
    """Its thread goes on; what it looked up once for itself is nobody else's."""
    inside, go_on = threading.Event(), threading.Event()

    def slow():
        with kept.looked_once():
            labels()
            inside.set()
            go_on.wait(10)

    await in_db_thread(make_topic)("plan", label="plan")
    task = asyncio.ensure_future(in_db_thread(slow)())
    await asyncio.to_thread(inside.wait, 10)
    try:
        async with asyncio.timeout(0):
            await task
    except TimeoutError:
        pass
    await in_db_thread(Topic.objects.update)(label="insurance")
    assert await in_db_thread(labels)() == ["insurance"]
    go_on.set()
