"""`turns`: what the bot does with one message, each case in an empty store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction

from chat import conversations
from chat.conversations import log
from chat.frames import Say
from chat.models import Business, Turn
from chat.turns import take_turn
from memory import services
from memory.management.evaluation import form
from memory.models import Answer, Customer, Memory, Topic

from . import figures

ENGINE = "offline"
Tell = Callable[[str], object]
_SENDERS = {"customer": log.Sender.CUSTOMER, "bot": log.Sender.BOT, "staff": log.Sender.STAFF}


@dataclass(frozen=True, slots=True)
class Data:
    header: dict[str, Any]
    now: datetime
    cases: list[dict[str, Any]]


def read(path: Path) -> Data:
    header: dict[str, Any] | None = None
    now = None
    cases = []
    for line, row in form.json_lines(path):
        if header is None:
            header, now = row, form.need_time(row, "now", line)
            form.need(row, "topics", list, line)
            form.need_strings(row, "emergency", line)
        else:
            _check(row, line)
            cases.append(row)
    if header is None or now is None:
        raise form.FormError(1, "has no header")
    return Data(header, now, cases)


def _check(case: dict[str, Any], line: int) -> None:
    form.need(case, "id", str, line)
    form.need(case, "text", str, line)
    if not form.need_strings(case, "expected", line):
        raise form.FormError(line, "expects nothing")
    for said in case.get("before", []):
        form.need_one_of(said, "from", tuple(_SENDERS), line)
        form.need(said, "text", str, line)
    for memory in case.get("memories", []):
        form.need(memory, "topic", str, line)
        form.need(memory, "text", str, line)
    for stored in case.get("stored", []):
        for key in ("id", "question", "answer"):
            form.need(stored, key, str, line)


def run(data: Data, tell: Tell) -> dict[str, Any]:
    _set_up(data.header)
    outcomes = []
    for number, case in enumerate(data.cases, 1):
        with services.without_bell():
            conversation_id, ids = _prepare(case, data.now)
            asyncio.run(_take(conversation_id, case, data.now))
        outcomes.append(_outcome(case, conversation_id, ids))
        if number % 50 == 0:
            tell(f"{number} of {len(data.cases)} turns")
    return {"engine": ENGINE, **figures.turns(data.cases, outcomes), "outcomes": outcomes}


async def _take(conversation_id: int, case: dict[str, Any], now: datetime) -> None:
    async for _ in take_turn(conversation_id, Say("asked", case["text"]), now=now):
        pass


def _set_up(header: dict[str, Any]) -> None:
    for topic in header["topics"]:
        Topic.objects.create(
            key=topic["key"],
            category=topic["category"],
            cardinality=topic.get("cardinality", "one"),
            label=topic["label"],
            description=topic.get("description", ""),
            examples=topic.get("examples") or [],
            not_examples=topic.get("not_examples") or [],
            permanent=topic.get("permanent", False),
            sensitive=topic.get("sensitive", False),
        )
    business = {
        "timezone": header.get("timezone", "UTC"),
        "hours_in_words": header.get("opening_hours", "")[:200],
        "emergency_words": header["emergency"],
    }
    Business.objects.update_or_create(pk=1, defaults=business)


def _prepare(case: dict[str, Any], now: datetime) -> tuple[int, dict[int, str]]:
    """Return the conversation as it stands before the message, and the stored answers' ids."""
    Customer.objects.all().delete()
    Answer.objects.all().delete()
    ids = {}
    for row in case.get("stored", []):
        answer = services.add_answer(
            title=row["question"], parts=[row["answer"]], by="import", now=now - timedelta(days=9)
        )
        ids[answer.pk] = row["id"]
    while services.embed_answers():
        pass
    customer = services.new_customer(kind="identified", external_id=case["id"], now=now)
    for memory in case.get("memories", []):
        _known(customer.pk, memory, now - timedelta(days=30))
    return _conversation(customer.pk, case.get("before", []), now), ids


def _known(customer_id: int, memory: dict[str, Any], said_at: datetime) -> None:
    topic = Topic.objects.get(key=memory["topic"])
    Memory.objects.create(
        customer_id=customer_id,
        topic=topic,
        category=topic.category,
        single_valued=topic.cardinality == Topic.Cardinality.ONE,
        permanent=topic.permanent,
        sensitive=topic.sensitive,
        text=memory["text"],
        value=memory["text"],
        quote=memory["text"],
        stated_at=said_at,
        recorded_at=said_at,
        confirmed_at=said_at,
        confidence=0.9,
    )


@transaction.atomic
def _conversation(customer_id: int, before: list[dict[str, Any]], now: datetime) -> int:
    started = now - timedelta(minutes=5)
    chat = conversations.start(customer_id, now=started, verified=True)
    chat = log.locked(chat.pk)
    for number, said in enumerate(before):
        at = started + timedelta(seconds=20 * number)
        log.append(chat, sender=_SENDERS[said["from"]], text=said["text"], now=at)
    log.save(chat, now=started)
    return chat.pk


def _outcome(case: dict[str, Any], conversation_id: int, ids: dict[int, str]) -> dict[str, Any]:
    turn = Turn.objects.filter(conversation_id=conversation_id).order_by("-pk").first()
    if turn is None:
        return {"id": case["id"], "did": "nothing", "offered": []}
    used = [ids[pk] for pk in turn.trace.get("answer", {}).get("used", []) if pk in ids]
    # Beside a fact that is noted an answer may be shown, too: the customer has both.
    offered = used if turn.outcome in ("offered", "noted") else []
    return {
        "id": case["id"],
        "did": _did(turn, used),
        "offered": offered,
        "why": turn.reason,
        "trace": turn.trace,
    }


def _did(turn: Turn, used: list[str]) -> str:
    topic = turn.trace.get("topic") or "?"
    noted = "Noted" in turn.trace.get("moves", [])
    match turn.outcome:
        case "answered" | "offered" if used:
            return f"answer:{used[0]}"
        case "handed_over" if noted:
            return f"note:{topic}"
        case "handed_over" | "dropped":
            return "person"
        case "recalled":
            return f"recall:{topic}"
        case "asked":
            return f"ask:{topic}"
        case "noted":
            return f"note:{topic}"
        case "forgot":
            return f"forget:{topic}"
    return str(turn.outcome)
