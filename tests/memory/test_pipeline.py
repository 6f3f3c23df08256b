"""What a closed conversation leaves behind."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from memory import pipeline, services, tasks
from memory.llm.base import BadOutput
from memory.models import Episode, Memory, MemoryEvent, Topic
from memory.types import Said, Transcript
from tests.factories import make_customer
from tests.memory.episodes import closed, transcript
from tests.memory.statements import DAY, NOW

pytestmark = pytest.mark.django_db


def facts(customer, **more):
    rows = Memory.objects.filter(customer=customer, kind="fact", **more)
    return [(m.value, m.status) for m in rows.order_by("pk")]


def test_a_fact_is_remembered_with_its_source(ada, reads_plans):
    episode = closed(ada, "we have Acorn")

    pipeline.run(episode.pk, now=NOW)

    m = Memory.objects.get(kind="fact")
    assert (m.value, m.quote, m.source_seq, m.episode) == (
        "Acorn Basic",
        "we have Acorn",
        1,
        episode,
    )
    assert (m.stated_at, m.recorded_at) == (NOW, NOW)
    assert "topic v1" in m.made_by
    assert m.embedding is not None
    assert m.embedding_model


def test_of_a_visitor_nothing_sensitive_is_kept(reads_plans):
    Topic.objects.filter(pk=reads_plans.pk).update(sensitive=True)
    visitor, known = make_customer("", kind="visitor"), make_customer("Known")

    for customer in (visitor, known):
        pipeline.run(closed(customer, "we have Acorn").pk, now=NOW)

    assert facts(visitor) == []
    assert facts(known) == [("Acorn Basic", "active")]
    ignored = MemoryEvent.objects.get(customer=visitor, kind="memory.ignored")
    assert "visitor" in ignored.reason
    assert "Acorn" not in str([ignored.before, ignored.after, ignored.evidence])


def test_the_old_value_is_kept_and_linked(ada, reads_plans):
    for day, text in enumerate(["Acorn", "Birch", "Acorn"]):
        pipeline.run(closed(ada, f"it is {text}", at=NOW + day * DAY).pk, now=NOW + day * DAY)

    assert facts(ada) == [
        ("Acorn Basic", "superseded"),
        ("Birch Plus", "superseded"),
        ("Acorn Basic", "active"),
    ]
    first, second, third = Memory.objects.filter(kind="fact").order_by("pk")
    assert (first.superseded_by, second.superseded_by) == (second, third)
    assert first.ended_at == second.stated_at


def test_a_conversation_that_arrives_late_replaces_nothing(ada, reads_plans):
    late = closed(ada, "it is Acorn", at=NOW)
    newer = closed(ada, "it is Birch", at=NOW + DAY)

    pipeline.run(newer.pk, now=NOW + 2 * DAY)
    pipeline.run(late.pk, now=NOW + 2 * DAY)

    assert facts(ada) == [("Birch Plus", "active")]
    assert MemoryEvent.objects.get(kind="memory.ignored").reason == "older than what is known"


def test_an_episode_is_read_once(ada, reads_plans):
    episode = closed(ada, "we have Acorn")

    assert pipeline.run(episode.pk, now=NOW)
    assert pipeline.run(episode.pk, now=NOW + DAY) == []
    assert Memory.objects.get(kind="fact").times_stated == 1


def test_the_same_part_of_a_conversation_is_stored_once(ada, reads_plans):
    assert closed(ada, "we have Acorn", ref="c:1") == closed(ada, "we have Acorn", ref="c:1")


def test_a_conversation_in_which_the_customer_said_nothing_is_not_kept(ada):
    assert closed(ada, "  ") is None


def test_every_decision_leaves_a_line_of_history(ada, reads_plans):
    pipeline.run(closed(ada, "Acorn", "yes, Acorn", "no, Birch").pk, now=NOW)

    kinds = MemoryEvent.objects.filter(kind__startswith="memory.").order_by("pk")
    assert [e.kind for e in kinds] == ["memory.created", "memory.reinforced", "memory.superseded"]
    assert all(e.reason and e.customer == ada for e in kinds)


def test_a_failure_gives_the_episode_back(ada, reads_plans, monkeypatch):
    episode = closed(ada, "we have Acorn")
    works = pipeline.consider
    monkeypatch.setattr(pipeline, "consider", lambda said, **how: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pipeline.run(episode.pk, now=NOW)
    episode.refresh_from_db()
    assert (episode.claimed_at, episode.error) == (None, "ZeroDivisionError")

    monkeypatch.setattr(pipeline, "consider", works)
    assert pipeline.sweep(now=NOW + timedelta(minutes=1)) == 1
    assert facts(ada) == [("Acorn Basic", "active")]


def test_what_a_dead_worker_took_is_taken_again(ada, reads_plans):
    episode = closed(ada, "we have Acorn")
    Episode.objects.filter(pk=episode.pk).update(claimed_at=NOW)

    assert pipeline.sweep(now=NOW + timedelta(minutes=1)) == 0
    assert pipeline.sweep(now=NOW + timedelta(minutes=7)) == 1


def test_one_bad_episode_does_not_stop_the_night(ada, ben, reads_plans, monkeypatch):
    closed(ada, "break")
    closed(ben, "we have Acorn")
    works = pipeline.consider

    def breaks(said, **how):
        if said.messages[0].text == "break":
            raise ValueError
        return works(said)

    monkeypatch.setattr(pipeline, "consider", breaks)

    assert services.nightly(now=NOW + DAY)["read"] == 1
    assert facts(ben) == [("Acorn Basic", "active")]


def test_the_bell_rings_after_the_transaction(
    ada, reads_plans, monkeypatch, django_capture_on_commit_callbacks
):
    rung = []
    monkeypatch.setattr(tasks.run_agent, "delay", lambda **kwargs: rung.append(kwargs))

    with django_capture_on_commit_callbacks(execute=True):
        episode = closed(ada, "we have Acorn")
        assert rung == []

    assert rung == [{"episode_id": episode.pk}]


def test_a_dead_broker_breaks_nothing(
    ada, reads_plans, monkeypatch, django_capture_on_commit_callbacks
):
    def refuse(**kwargs):
        raise ConnectionError

    monkeypatch.setattr(tasks.run_agent, "delay", refuse)

    with django_capture_on_commit_callbacks(execute=True):
        closed(ada, "we have Acorn")

    assert pipeline.sweep(now=NOW + timedelta(minutes=1)) == 1


@pytest.mark.parametrize("what", ["e{episode}", "7"])
def test_a_dry_run_says_what_it_would_do_and_why_and_does_nothing(ada, reads_plans, what):
    episode = closed(ada, "we have Acorn", "now Birch", ref="conversation:7:1-2")
    out = StringIO()

    call_command("remember", what.format(episode=episode.pk), dry_run=True, stdout=out)

    assert "CREATE plan: 'Plan: Acorn Basic' (new)" in out.getvalue()
    assert "SUPERSEDE plan: 'Plan: Birch Plus' (a newer statement" in out.getvalue()
    assert not Memory.objects.exists()
    assert not MemoryEvent.objects.exists()


def test_remembering_by_hand_says_what_is_not_there(db):
    with pytest.raises(CommandError, match="no episode for 12"):
        call_command("remember", "12")


def test_a_summary_names_topics_and_holds_no_value(ada, reads_plans):
    pipeline.run(closed(ada, "we have Acorn").pk, now=NOW)

    summary = Memory.objects.get(kind="summary")
    assert "Plan" in summary.text
    assert "Acorn" not in summary.text
    assert summary.memory_type == "episodic"


def test_a_summary_says_what_was_asked_and_how_each_question_ended(ada, reads_plans):
    said = [
        ("customer", "we have Acorn. is the garden open on 4 July?", ""),
        ("bot", "Every day from nine.", "Every day from nine."),
        ("customer", "can dogs come in with Winifred?", ""),
        ("staff", "On a lead they can.", ""),
        ("customer", "and does the acorn one include parking?", ""),
    ]
    lines = tuple(
        Said(n, who, text, NOW, offered=offered) for n, (who, text, offered) in enumerate(said, 1)
    )
    episode = services.remember_later(
        Transcript(lines), customer_id=ada.pk, ref="conversation:9", now=NOW
    )

    pipeline.run(episode.pk, now=NOW)

    text = Memory.objects.get(kind="summary").text
    assert "“is the garden open on …”: a stored answer was shown" in text
    assert "“can dogs come in with …”: a person answered" in text
    assert "“and does the … one include parking?”: left open" in text
    assert "acorn" not in text.lower()
    assert "Winifred" not in text


def test_a_question_about_something_sensitive_is_named_by_its_topic(plan):
    Topic.objects.filter(pk=plan.pk).update(sensitive=True, label="Epilepsy")

    known = make_customer("Known")
    pipeline.run(closed(known, "is swimming allowed with epilepsy?").pk, now=NOW)

    text = Memory.objects.get(kind="summary").text
    assert "asked about Epilepsy: left open" in text
    assert "swimming" not in text


def test_nothing_sensitive_of_a_visitor_is_named_in_a_summary(plan):
    Topic.objects.filter(pk=plan.pk).update(sensitive=True, label="Epilepsy")
    visitor = make_customer("", kind="visitor")

    pipeline.run(closed(visitor, "is swimming allowed with epilepsy?").pk, now=NOW)

    assert "pilepsy" not in Memory.objects.get(kind="summary").text


def test_a_reply_to_our_own_question_is_stored_at_once_and_counted_once(ada, reads_plans):
    said = closed(ada, "Acorn")
    transcript = pipeline.stored.load(said.transcript)

    (noted,) = services.note_now(ada.pk, transcript, topic="plan", now=NOW, ref="message:1")
    pipeline.run(said.pk, now=NOW)

    noted.refresh_from_db()
    assert (noted.status, noted.times_stated) == ("active", 1)


def test_listening_writes_nothing(ada, reads_plans):
    said = pipeline.stored.load(closed(ada, "we have Acorn").transcript)

    (heard,) = services.listen(said, customer_id=ada.pk, now=NOW)

    assert (heard["topic"], heard["value"]) == ("plan", "Acorn Basic")
    assert not Memory.objects.exists()


def test_secrets_are_kept_nowhere(ada, reads_plans):
    episode = closed(ada, "my card is 4111 1111 1111 1111 and we have Acorn")

    assert "4111" not in str(episode.transcript)
    assert "[removed: card number]" in str(episode.transcript)


def test_what_a_model_gets_wrong_is_logged_without_a_word_of_the_customers(
    plan, monkeypatch, caplog
):
    class Model:
        def fill_now(self, prompt, name, schema):
            raise BadOutput("not of the form asked for: 'on the Acorn plan' is too long")

    monkeypatch.setattr(pipeline, "chat_model", lambda kind: Model() if kind != "gate" else None)

    pipeline.consider(transcript("I am on the Acorn plan"), by_model=True)

    assert "BadOutput" in caplog.text
    assert "Acorn" not in caplog.text


def test_the_rules_read_what_a_model_found_nothing_true_in(plan, monkeypatch):
    class Model:
        model = "small"

        def fill_now(self, prompt, name, schema):
            made_up = {
                "topic": plan.key,
                "intent": "state",
                "value": "Birch",
                "sentence": "She is on Birch.",
                "quote": "I am on Birch",
                "seq": 1,
                "negated": False,
                "adds": False,
                "valid_from": "",
                "valid_until": "",
                "sure": 1,
            }
            return {"items": [made_up]}

    monkeypatch.setattr(pipeline, "chat_model", lambda kind: Model() if kind != "gate" else None)

    read = pipeline.consider(transcript("I am on the Acorn plan"), by_model=True)

    assert read.engine == "offline"
    assert "Birch" not in {c.value for c in read.candidates}
    assert [c.value for c, _ in read.refused] == ["Birch"]
