"""A practice in two weeks: the same every time, its figures add up, a bad file is refused."""

import io
import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from channels.layers import channel_layers
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection

from config.celery import app
from config.simulation import form
from config.simulation.practice import CLOSE, OPEN, coming
from config.simulation.tally import Outcome, Tally
from memory.models import Customer

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
