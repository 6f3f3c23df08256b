"""Many hands at once leave one truth."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import pytest
from django.db import IntegrityError, connection, transaction

from memory import pipeline, services
from memory.models import Answer, AnswerMatch, Customer, Episode, Memory
from memory.services import topics as topic_service
from tests.memory.episodes import claim, closed, transcript
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(work, jobs, threads=8):
    """Run `work(job)` for every job on several threads with a connection each."""

    def one(job):
        try:
            return work(job)
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, jobs))


def test_two_workers_on_one_episode_read_it_once(ada, reads_plans):
    episode = closed(ada, "it is Acorn")

    results = at_once(lambda _: pipeline.run(episode.pk, now=NOW), range(4), threads=4)

    assert sorted(map(len, results)) == [0, 0, 0, 1]
    assert Memory.objects.get(kind="fact").times_stated == 1


def test_a_worker_that_was_thought_dead_changes_nothing_any_more(ada, reads_plans):
    episode = closed(ada, "it is Acorn")
    slow = pipeline.consider(transcript("it is Acorn"))
    taken = pipeline.queue.claim(episode.pk, now=NOW)

    pipeline.run(episode.pk, now=NOW + pipeline.queue.STALE_CLAIM)

    assert pipeline._settle_episode(taken, slow, NOW) == []
    assert Memory.objects.get(kind="fact").times_stated == 1


@pytest.mark.parametrize("titles", [["May I rinse?"] * 6, ["May I rinse?", "may i rinse"] * 3])
def test_the_same_title_added_at_once_is_one_answer_and_its_history(db, titles):
    def add(job):
        n, title = job
        return services.add_answer(title=title, parts=[f"words {n}"], by="staff:1", now=NOW)

    made = at_once(add, enumerate(titles), threads=6)

    standing = Answer.objects.get(status="active")
    assert Answer.objects.filter(status="superseded").count() == len(made) - 1
    assert standing.pk in {a.pk for a in made}


def _until_somebody_waits():
    for _ in range(500):
        with connection.cursor() as cursor:
            cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
            if cursor.fetchone()[0]:
                return
        sleep(0.01)


@pytest.mark.parametrize("act", ["approve", "undo", "forget", "write"])
def test_a_topic_that_is_changed_meanwhile_stops_nobody(ada, reads_plans, plan, monkeypatch, act):
    """Each locks the customer, then the topic, then its memories: nobody waits crosswise."""
    pipeline.run(closed(ada, "it is Acorn").pk, now=NOW)
    one = Memory.objects.get(kind="fact")
    Memory.objects.filter(pk=one.pk).update(status="pending")
    if act != "approve":
        services.review(one.pk, approve=True, by="staff:1", now=NOW)
    later = closed(ada, "it is Birch", at=NOW + DAY)
    changing, acting = Event(), Event()
    carry_over = topic_service._carry_over

    def slowly(topic, changed):
        changing.set()
        acting.wait(10)
        _until_somebody_waits()
        carry_over(topic, changed)

    monkeypatch.setattr(topic_service, "_carry_over", slowly)

    def work(job):
        if job == "topic":
            return services.save_topic(plan.key, sensitive=True, by="staff:1", now=NOW)
        changing.wait(10)
        acting.set()
        return {
            "approve": lambda: services.review(one.pk, approve=True, by="staff:1", now=NOW),
            "undo": lambda: services.undo_review(one.pk, by="staff:1", now=NOW),
            "forget": lambda: services.forget(ada.pk, topic="plan", by="customer", now=NOW + DAY),
            "write": lambda: pipeline.run(later.pk, now=NOW + DAY),
        }[act]()

    at_once(work, ["topic", "act"], threads=2)

    plan.refresh_from_db()
    assert plan.sensitive
    assert Memory.objects.filter(kind="fact", topic=plan).exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_thousand_writes_of_one_topic_leave_one_active(ada, plan):
    def write(n):
        (message,) = transcript("it is so", at=NOW + (n % 97) * DAY).messages
        source = pipeline.write.Source("customer", NOW)
        with pipeline.locks.customer_locked(ada.pk) as customer:
            pipeline.settle(customer, [claim(plan, f"plan number {n % 7}", message)], source=source)

    at_once(write, range(1000))

    active = Memory.objects.get(kind="fact", status="active")
    assert active.stated_at == max(m.stated_at for m in Memory.objects.filter(kind="fact"))


def test_what_she_asks_does_not_wait_for_what_is_being_written_of_her(ada):
    def ask(question):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            AnswerMatch.objects.create(
                customer=ada, asked=question, asked_normalised=question, outcome="open",
                created_at=NOW,
            )  # fmt: skip

    with pipeline.locks.customer_locked(ada.pk):
        at_once(ask, ["parking?"], threads=1)

    assert AnswerMatch.objects.get().asked == "parking?"


def test_memory_one_active_per_topic(ada, plan):
    def row(**more):
        with transaction.atomic():
            return Memory.objects.create(
                customer=ada, topic=plan, category=plan.category, single_valued=True, value="x",
                stated_at=NOW, recorded_at=NOW, confirmed_at=NOW, **more,
            )  # fmt: skip

    row()
    row(valid_until=NOW + DAY)
    row(status="superseded")
    with pytest.raises(IntegrityError, match="memory_one_active_per_topic"):
        row()


@pytest.mark.parametrize("field", ["confidence", "importance", "usefulness"])
@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_memory_score_between_0_and_1(ada, plan, field, value):
    with pytest.raises(IntegrityError, match=f"memory_{field}_between_0_and_1"):
        Memory.objects.create(
            customer=ada, category="preference", stated_at=NOW, recorded_at=NOW, confirmed_at=NOW,
            **{field: value},
        )  # fmt: skip


def test_episode_ref_unique(ada):
    closed(ada, "hello", ref="c:1")
    with pytest.raises(IntegrityError, match="episode_ref_unique"):
        Episode.objects.create(
            customer=ada, ref="c:1", transcript={}, ended_at=NOW, recorded_at=NOW
        )


def test_instruction_one_per_version(db):
    from memory.models import Instruction

    def row():
        return Instruction.objects.create(kind="knowledge", version=1, text="x", created_at=NOW)

    row()
    with pytest.raises(IntegrityError, match="instruction_one_per_version"):
        row()


def test_one_customer_never_waits_for_another(ada, ben, reads_plans):
    episode = closed(ben, "it is Acorn")

    with pipeline.locks.customer_locked(ada.pk):
        (decisions,) = at_once(lambda pk: pipeline.run(pk, now=NOW), [episode.pk], threads=1)

    assert len(decisions) == 1
    assert Customer.objects.count() == 2
