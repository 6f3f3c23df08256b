"""`memory`: what is remembered of a conversation, through the front door alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction

from memory import services
from memory.models import Answer, Customer, Episode, Memory, MemoryEvent
from memory.types import Said, Sender, Transcript

from . import form, memory_baselines, memory_figures

ENGINE = "offline"
Say = Callable[[str], object]
_NO_FACT = ("summary", "experience", "lesson")  # count in no matcher


@dataclass(frozen=True, slots=True)
class Data:
    timezone: str
    topics: list[dict[str, Any]]
    cases: list[dict[str, Any]]


def read(path: Path) -> Data:
    header: dict[str, Any] | None = None
    cases = []
    for line, row in form.json_lines(path):
        if header is None:
            header = row
            form.need(row, "timezone", str, line)
            for topic in form.need(row, "topics", list, line):
                check_topic(topic, line)
        else:
            _check_case(row, line)
            cases.append(row)
    if header is None:
        raise form.FormError(1, "has no header")
    return Data(header["timezone"], header["topics"], cases)


def check_topic(topic: Any, line: int) -> None:
    form.need(topic, "key", str, line)
    form.need(topic, "label", str, line)
    form.need_one_of(topic, "category", ("preference", "confirmed_fact"), line)
    form.need_one_of(topic, "cardinality", ("one", "many"), line)
    form.need_strings(topic, "examples", line, optional=True)
    form.need_strings(topic, "not_examples", line, optional=True)


def _check_case(case: dict[str, Any], line: int) -> None:
    form.need(case, "id", str, line)
    form.need_time(case, "check_at", line)
    form.need(case, "expect", dict, line)
    for session in form.need(case, "sessions", list, line):
        form.need(session, "customer", str, line)
        form.need_time(session, "at", line)
        for message in form.need(session, "messages", list, line):
            form.need_one_of(message, "from", ("customer", "bot", "staff"), line)
            form.need(message, "text", str, line)
    for ask in case.get("asks", ()):
        form.need(ask, "customer", str, line)
        form.need_time(ask, "at", line)
        form.need(ask, "text", str, line)


def run(data: Data, say: Say) -> dict[str, Any]:
    for topic in data.topics:
        make_topic(topic)
    outcomes = []
    for number, case in enumerate(data.cases, 1):
        outcomes.append(_Run(case, data.timezone).outcome())
        _empty()
        if number % 20 == 0:
            say(f"{number} of {len(data.cases)} cases")
    memory_baselines.say_beside(data.cases, say)
    return {
        "engine": ENGINE,
        **memory_figures.figures(data.cases, outcomes),
        "outcomes": outcomes,
    }


def make_topic(topic: dict[str, Any]) -> None:
    names = ("description", "examples", "not_examples", "permanent", "sensitive")
    services.save_topic(
        topic["key"],
        by="import",
        now=datetime.fromisoformat("2020-01-01T00:00:00+00:00"),
        category=topic["category"],
        cardinality=topic["cardinality"],
        label=topic["label"],
        **{n: topic[n] for n in names if topic.get(n) is not None},
    )


def _empty() -> None:
    for model in (MemoryEvent, Memory, Episode, Customer, Answer):
        model._default_manager.all().delete()


class _Run:
    """One case, played through the front door in the order of its clock."""

    def __init__(self, case: dict[str, Any], timezone: str) -> None:
        self.case, self.timezone = case, timezone
        self.customers: dict[str, int] = {}
        self.names: dict[int, str] = {}

    def outcome(self) -> dict[str, Any]:
        for number, session in enumerate(self.case["sessions"], 1):
            self._play(session, number)
        asks: dict[int, dict[str, Any]] = {}
        checked: dict[str, Any] = {}
        steps = [(datetime.fromisoformat(self.case["check_at"]), -1)]
        steps += [
            (datetime.fromisoformat(a["at"]), i) for i, a in enumerate(self.case.get("asks", ()))
        ]
        for at, index in sorted(steps):
            services.nightly(now=at)
            if index < 0:
                checked = {"memories": self._memories(), "shared": self._shared()}
            else:
                asks[index] = self._ask(self.case["asks"][index], at)
        return {"id": self.case["id"], **checked, "asks": [asks[i] for i in sorted(asks)]}

    def _customer(self, name: str, at: datetime) -> int:
        if name not in self.customers:
            made = services.new_customer(
                kind="identified",
                external_id=f"{self.case['id']}:{name}",
                timezone=self.timezone,
                now=at,
            )
            self.customers[name], self.names[made.pk] = made.pk, name
        return self.customers[name]

    def _play(self, session: dict[str, Any], number: int) -> None:
        """As the chat does at a close; the bell is replaced by the task's own function."""
        start = datetime.fromisoformat(session["at"])
        customer_id = self._customer(session["customer"], start)
        said = tuple(_said(m, i, start) for i, m in enumerate(session["messages"], 1))
        if not said:
            return
        transcript = Transcript(said, self.timezone)
        end = said[-1].at + timedelta(minutes=1)
        ref = f"conversation:{number}"
        with services.without_bell(), transaction.atomic():
            episode = services.remember_later(transcript, customer_id=customer_id, ref=ref, now=end)
        if episode is not None:
            services.run_agent(episode.pk, now=end)
        if transcript.by("staff"):
            services.capture_staff_words(
                transcript, customer_id=customer_id, now=end, source_ref=ref
            )

    def _memories(self) -> list[dict[str, Any]]:
        rows = Memory.objects.exclude(kind__in=_NO_FACT).select_related("topic").order_by("pk")
        return [
            {
                "customer": self.names[m.customer_id],
                "topic": m.topic.key if m.topic else None,
                "text": m.text,
                "value": m.value,
                "status": m.status,
            }
            for m in rows
        ]

    def _shared(self) -> list[dict[str, Any]]:
        return [{"text": a.text, "status": a.status} for a in Answer.objects.order_by("pk")]

    def _ask(self, ask: dict[str, Any], at: datetime) -> dict[str, Any]:
        customer_id = self._customer(ask["customer"], at)
        recalled = services.recall(customer_id, ask["text"], now=at)
        rows = [{"customer": self.names.get(f.customer_id)} for f in recalled.facts]
        return {"context": recalled.context, "rows": rows}


def _said(message: dict[str, Any], seq: int, start: datetime) -> Said:
    sender: Sender = message["from"]
    at = start + timedelta(seconds=20 * (seq - 1))
    return Said(seq, sender, message["text"], at, name=message.get("name", ""))
