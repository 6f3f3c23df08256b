"""A practice in two weeks: the same every time, its figures add up, a bad file is refused."""

import asyncio
import io
import json
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from channels.layers import channel_layers
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection

from config.celery import app
from config.simulation import form, run
from config.simulation.practice import CLOSE, OPEN, Coming, coming
from config.simulation.tally import Outcome, Tally
from config.simulation.truth import Truth
from escalations.capture import Kept
from memory.models import Customer, Memory

PRACTICE: dict[str, Any] = {
    "practice": "bicycle workshop",
    "timezone": "Europe/London",
    "questions": [
        {
            "id": "puncture",
            "weight": 5,
            "role": "mechanic",
            "answer": "We mend a puncture while you wait; it takes about twenty minutes.",
            "wordings": [
                "How long does mending a puncture take?",
                "Is a flat tyre repaired while I wait?",
                "flat tyre, how quick can you mend it?",
            ],
        },
        {
            "id": "hire",
            "weight": 2,
            "role": "front desk",
            "answer": "Hire bicycles are 18 pounds a day, helmets included.",
            "wordings": [
                "What does it cost to hire a bicycle for a day?",
                "Which price do you ask for a hire bike?",
            ],
        },
        {
            "id": "old-bikes",
            "weight": 1,
            "role": "front desk",
            "answer": "We take old bicycles for parts and pay nothing for them.",
            "wordings": ["Do you buy old bicycles?", "Would you take our old bikes for parts?"],
        },
    ],
    "personal": [
        {"id": "p1", "text": "Is my blue Birch ready to collect?", "answer": "It is, from four."}
    ],
    "statements": [
        {"topic": "preferred_days", "texts": ["Saturdays suit me best", "I can only do Mondays"]}
    ],
}
WHOLE = 2  # weeks
README = Path(__file__).parents[2] / "README.md"


def test_readme_names_every_flag_and_its_default():
    parser = load_command_class("config", "simulate").create_parser("manage.py", "simulate")
    django_has = load_command_class("django.core", "check").create_parser("manage.py", "check")
    known = {a.dest for a in django_has._actions} | {"skip_checks"}
    ours = [a for a in parser._actions if a.dest not in known]
    rows = dict(re.findall(r"^\| `(--\w+)` \| (\S+) \|", README.read_text(), flags=re.MULTILINE))

    told = {a.option_strings[0]: a.default for a in ours}
    assert rows.keys() == told.keys()
    assert {f: rows[f] for f, d in told.items() if d} == {f: str(d) for f, d in told.items() if d}


def written(folder, practice):
    path = folder / "workshop.practice.json"
    path.write_text(practice if isinstance(practice, str) else json.dumps(practice))
    return path


def messages(seed=1):
    practice = form._practice(PRACTICE)
    return coming(practice, weeks=30, customers=9, start=date(2026, 1, 5), seed=seed)


class TestWhatIsAsked:
    def test_the_same_seed_brings_the_same_messages(self):
        assert messages() == messages()
        assert messages() != messages(seed=2)

    def test_no_wording_comes_again_before_all_have_come(self):
        rows = sorted(messages(), key=lambda m: m.at)
        # Drawn week by week, put in order of time afterwards: so the weeks are looked at whole.
        for question in PRACTICE["questions"]:
            asked = [m.text for m in rows if m.key == question["id"]]
            times = [asked.count(w) for w in question["wordings"]]
            assert max(times) - min(times) <= 1

    def test_shares_and_hours_are_those_of_the_form(self):
        rows = messages()
        kinds = {k: sum(m.kind == k for m in rows) / len(rows) for k in {m.kind for m in rows}}

        assert kinds["question"] == pytest.approx(0.55, abs=0.05)
        assert kinds["small_talk"] == pytest.approx(0.15, abs=0.05)
        late = [m for m in rows if m.out_of_hours]
        assert len(late) / len(rows) == pytest.approx(0.4, abs=0.05)
        for m in rows:
            local = m.at.astimezone(form.ZoneInfo("Europe/London"))
            opened = local.weekday() < 5 and OPEN <= local.time() < CLOSE
            assert opened != m.out_of_hours


class TestABadFile:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ("{", "line 1: is no JSON"),
            ("[" * 100_000, "is no JSON that can be read"),
            ("9" * 5_000, "is no JSON that can be read"),
            ([], "the file: is no object"),
            ({"questions": []}, "there are none"),
            ({"timezone": "Mars/Olympus"}, "'Mars/Olympus' is no time zone"),
            ({"personal": [{"id": "p1", "text": "?"}]}, "personal, no. 1: has no 'answer'"),
            ({"questions": PRACTICE["questions"] * 2}, "the id 'hire' is there twice"),
            (
                {"questions": [PRACTICE["questions"][0] | {"wordings": []}]},
                "questions, no. 1: 'wordings' is empty",
            ),
            (
                {"questions": [PRACTICE["questions"][0] | {"weight": "much"}]},
                "questions, no. 1: 'weight' is of the wrong type",
            ),
        ],
    )
    def test_is_refused_with_the_place(self, tmp_path, change, said):
        bad = PRACTICE | change if isinstance(change, dict) else change
        path = written(tmp_path, bad if isinstance(bad, dict | str) else json.dumps(bad))

        with pytest.raises(CommandError, match=re.escape(said)) as refused:
            call_command("simulate", questions=path)
        assert refused.value.returncode == 2

    def test_that_is_not_there_is_refused(self, tmp_path):
        with pytest.raises(CommandError, match="cannot be read") as refused:
            call_command("simulate", questions=tmp_path / "none.json")
        assert refused.value.returncode == 2


class TestCounting:
    def test_only_what_staff_answered_before_is_a_repeat_and_a_person_counts_once(self):
        asked = [m for m in messages() if m.kind == "question"][:3]
        tally = Tally()
        week = tally.week(0)
        week.count(asked[0], Outcome(1, waits=1), repeat=False, unseen=True)
        week.count(asked[1], Outcome(1, offered=True, waits=3), repeat=True, unseen=True)
        week.count(asked[2], Outcome(1, delivered=1, answered=True), repeat=True, unseen=False)

        totals = tally.totals()
        assert totals["repeat_needed_person_last_4_weeks"] == 0.5
        assert totals["unseen_wording_needed_person_last_4_weeks"] == 1.0
        assert (totals["escalated"], totals["minutes_given_back"]) == (2, 3.0)

    def test_a_wrong_answer_is_wrong_whatever_the_message_was(self):
        small = next(m for m in messages() if m.kind == "small_talk")
        tally = Tally()
        tally.week(0).count(
            small, Outcome(1, delivered=1, delivered_wrong=1), repeat=False, unseen=False
        )

        assert tally.totals()["wrong_share"] == 1.0


BIRCH = PRACTICE["personal"][0]["text"]


def written_by(customer, day, text, kind="personal", key="p1"):
    return Coming(datetime(2026, 1, day, 10, tzinfo=UTC), customer, kind, text, key)


class TestWhatStaffToldOneCustomerAlone:
    """It comes back as a card without an answer's number, or as a choice of her own in an offer."""

    @pytest.fixture
    def truth(self):
        practice = PRACTICE | {
            "personal": [*PRACTICE["personal"], {"id": "p2", "text": "Mine?", "answer": "Yours."}]
        }
        truth = Truth(form._practice(practice))
        truth.learnt(written_by(3, 5, BIRCH), Kept("customer", memory=Memory(pk=8)))
        return truth

    @pytest.mark.parametrize(
        ("words", "message", "right"),
        [
            ("It is, from four.", written_by(3, 6, BIRCH), True),
            ("It is, from five.", written_by(3, 6, BIRCH), False),  # not the very words
            ("It is, from four.", written_by(4, 6, BIRCH), False),  # told to somebody else
            ("It is, from four.", written_by(3, 6, "Mine?", key="p2"), False),
            ("Yours.", written_by(3, 6, "Mine?", key="p2"), False),  # nobody told her yet
            ("It is, from four.", written_by(3, 6, "hello", "small_talk", ""), False),
            ("It is, from four.", written_by(3, 6, "flat?", "question", "p1"), False),
        ],
    )
    def test_as_a_card_is_right_for_her_and_this_question_alone(self, truth, words, message, right):
        assert truth.is_right_card(None, words, message) is right

    @pytest.mark.parametrize(
        ("choice", "message", "right"),
        [
            ("m8", written_by(3, 6, BIRCH), True),
            ("m9", written_by(3, 6, BIRCH), False),
            ("m8", written_by(4, 6, BIRCH), False),
            ("m8", written_by(3, 6, "Mine?", key="p2"), False),
            ("8", written_by(3, 6, BIRCH), False),  # everyone's answer of the same number
        ],
    )
    def test_as_a_choice_is_right_for_her_and_this_question_alone(
        self, truth, choice, message, right
    ):
        assert truth.is_right_choice(choice, message) is right

    @pytest.mark.slow
    @pytest.mark.django_db(transaction=True)
    def test_is_counted_where_she_asks_again(self, monkeypatch):
        asked = [
            written_by(0, 5, BIRCH),
            written_by(0, 8, BIRCH),
            written_by(1, 9, BIRCH),
            written_by(0, 12, "is it ready now, my blue Birch bicycle?"),
        ]
        monkeypatch.setattr(run, "coming", lambda *a, **k: asked)
        chosen = run.Settings(weeks=1, customers=2)

        with run.services.without_bell(), asyncio.Runner() as runner:
            played = run._Run(form._practice(PRACTICE), chosen, runner.get_loop())
            played.open()
            played.play(lambda done, of: None)

        [week] = played.tally.weeks
        assert (week.delivered, week.delivered_wrong) == (1, 0)
        assert week.offers == week.offers_taken + week.offers_ignored == 1
        assert week.escalated == 2  # the first time, and the other customer


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.django_db(transaction=True)
class TestAWholeRun:
    def test_comes_out_the_same_and_adds_up(self, tmp_path):
        path = written(tmp_path, PRACTICE)
        told = [simulated(path, tmp_path / f"{n}.json") for n in range(2)]

        assert told[0] == told[1]
        weeks, totals = told[0]["weeks"], told[0]["totals"]
        assert len(weeks) == WHOLE
        assert all(40 <= w["messages"] <= 60 for w in weeks)
        for name in weeks[0].keys() - {"week"}:
            assert sum(w[name] for w in weeks) == totals[name]
        for w in weeks:
            assert w["repeats_needed_person"] + w["repeats_answered"] <= w["repeats"]
            assert w["repeats"] <= w["questions"] <= w["messages"]
            taken = w["offers_taken"] + w["offers_taken_wrongly"] + w["offers_ignored"]
            assert taken <= w["offers"]
        assert totals["repeats_answered"] > 0
        assert totals["delivered_wrong"] == 0

    def test_leaves_no_trace_beside_the_page_it_writes(self, tmp_path):
        before = (
            connection.settings_dict["NAME"],
            app.conf.broker_url,
            dict(channel_layers.backends),
        )
        out = tmp_path / "report.html"

        simulated(written(tmp_path, PRACTICE), html=out)

        assert surroundings() == before
        assert not Customer.objects.exists()
        page = out.read_text()
        assert page.count("<svg") >= 6
        assert "Do fewer repeat questions need a person?" in page
        assert not re.search(r"""(src|href)=["']|url\(|@import""", page)


def surroundings():
    name = connection.settings_dict["NAME"]
    return name, app.conf.broker_url, dict(channel_layers.backends)


def simulated(path, json_file=None, html=None):
    call_command(
        "simulate",
        questions=path,
        weeks=WHOLE,
        customers=20,
        json=json_file,
        html=html,
        stdout=io.StringIO(),
    )
    return json.loads(json_file.read_text()) if json_file else None
