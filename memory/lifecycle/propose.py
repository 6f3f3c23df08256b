"""Extraction, and the gate's second opinion, by a model: proposals that `validate` decides on.

Pure: the model comes as `fill(prompt, name, schema) -> dict`, which raises what the client raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from memory.llm.base import BadOutput
from memory.speech import acts, clauses, times
from memory.types import Candidate, Category, GateResult, Intent, Said, TopicSpec, Transcript

ROW_CHARS = 1_000  # of one earlier row, for the gate
MESSAGE_CHARS = 4_000
Fill = Callable[[list[dict[str, Any]], str, dict[str, Any]], dict[str, Any]]

_ITEM: dict[str, dict[str, Any]] = {
    "topic": {"type": "string", "maxLength": 64},
    "intent": {"type": "string", "enum": [i.value for i in Intent]},
    "value": {"type": "string", "maxLength": 400},
    "sentence": {"type": "string", "maxLength": 600},
    "quote": {"type": "string", "maxLength": 2000},
    "seq": {"type": "integer"},
    "negated": {"type": "boolean"},
    "adds": {"type": "boolean"},
    "valid_from": {"type": "string", "maxLength": 40},
    "valid_until": {"type": "string", "maxLength": 40},
    "sure": {"type": "number"},
}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


EXTRACT_SCHEMA = _closed({"items": {"type": "array", "items": _closed(_ITEM)}})
GATE_SCHEMA = _closed({"retrieve": {"type": "boolean"}, "save": {"type": "boolean"}})


@cache
def prompt_text(name: str) -> str:
    return (Path(__file__).parent.parent / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def propose(
    transcript: Transcript, topics: Sequence[TopicSpec], *, instructions: str, fill: Fill
) -> list[Candidate]:
    """Return what the model found. What has no place (no such message, bad time) is left out.

    Raises BadOutput where nothing of what it found has one: that is no reading of this talk.
    """
    known = {t.key: t for t in topics}
    said = {m.seq: m for m in transcript.messages}
    prompt = [
        {"role": "system", "content": f"{prompt_text('extract')}\n{instructions}".strip()},
        {"role": "user", "content": _as_data(topics, transcript.messages)},
    ]
    items = fill(prompt, "memory_extract", EXTRACT_SCHEMA).get("items", [])
    found = [_candidate(item, known, said, transcript.timezone) for item in items]
    placed = [c for c in found if c is not None]
    if found and not placed:
        raise BadOutput("none of it has a place in this conversation")
    return placed


# The classifier's score, by gate; outside, the cheap gate's word stands. Of the messages of trades
# that were kept out of its training a third lie inside `retrieve`'s, and of those that need the
# past 3 in 100 below it; a quarter more are between its lower end and the classifier's threshold.
UNSURE = {"save": (0.1, 0.6), "retrieve": (0.05, 0.6)}
GATE_FORM = "memory_gate"


def unsure(result: GateResult, *, gate: Literal["save", "retrieve"]) -> bool:
    low, high = UNSURE[gate]
    return result.by == "classifier" and low <= result.score <= high


def second_opinion(text: str, before: Sequence[str], *, fill: Fill) -> dict[str, GateResult]:
    """Ask a small model where the cheap gate is unsure: {"retrieve": …, "save": …}."""
    return gate_verdicts(fill(gate_prompt(text, before), GATE_FORM, GATE_SCHEMA))


def gate_prompt(text: str, before: Sequence[str]) -> list[dict[str, Any]]:
    said = [row[:ROW_CHARS] for row in before[-6:]]
    data = json.dumps({"before": said, "message": text[:MESSAGE_CHARS]}, ensure_ascii=False)
    return [
        {"role": "system", "content": prompt_text("gate")},
        {"role": "user", "content": data},
    ]


def gate_verdicts(got: dict[str, Any]) -> dict[str, GateResult]:
    return {
        kind: GateResult(bool(got.get(kind)), "a model was asked", by="model")
        for kind in ("retrieve", "save")
    }


def _as_data(topics: Sequence[TopicSpec], messages: Sequence[Said]) -> str:
    """One JSON object: no text in it can end its own quotation.

    Topics stand here too: their examples may be customers' words, learnt in the review queue.
    """
    about = [
        {
            "key": t.key,
            "about": f"{t.label}. {t.description}".strip(),
            "values": "one" if t.single_valued else "many",
            "like": t.examples[:4],
            "unlike": t.not_examples[:4],
        }
        for t in topics
    ]
    said = [
        {"seq": m.seq, "from": m.sender, "at": m.at.isoformat(), "text": m.text} for m in messages
    ]
    return json.dumps({"topics": about, "messages": said}, ensure_ascii=False)


def _candidate(
    item: dict[str, Any], topics: dict[str, TopicSpec], said: dict[int, Said], timezone: str
) -> Candidate | None:
    message, topic = said.get(item["seq"]), topics.get(item["topic"])
    if message is None or message.sender != "customer":
        return None
    try:
        since, until = (_time(item[name], message) for name in ("valid_from", "valid_until"))
    except ValueError:
        return None
    intent, quote = Intent(item["intent"]), _quote(item, message)
    if intent is Intent.STATE and not (since or until):
        since, until = _told_times(quote, item["value"], message, timezone)
    return Candidate(
        category=topic.category if topic else Category.CONFIRMED_FACT,
        topic=topic.key if topic else None,
        value=item["value"],
        text=item["sentence"],
        quote=quote,
        seq=message.seq,
        stated_at=message.at,
        intent=intent,
        negated=item["negated"],
        adds=item["adds"],
        valid_from=since if since and since > message.at else None,
        valid_until=until,
        confidence=min(1.0, max(0.0, item["sure"])),
    )


def _quote(item: dict[str, Any], message: Said) -> str:
    """The quote; or the sentence, where that is what was copied from the message instead."""
    quote, sentence = str(item["quote"]), str(item["sentence"]).strip(" .")
    if quote in message.text or len(sentence.split()) < 2:
        return quote
    at = acts.plain(message.text).find(acts.plain(sentence))
    return message.text[at : at + len(sentence)] if at >= 0 else quote


def _told_times(
    quote: str, value: str, message: Said, timezone: str
) -> tuple[datetime | None, datetime | None]:
    """From when and until when, by the words themselves: a model forgets "until March", and what
    was an exception would end what holds otherwise."""
    parts = [c.text for c in clauses.split(quote) if acts.plain(value) in acts.plain(c.text)]
    held = times.holds(parts[0] if parts else quote, said_at=message.at, timezone=timezone)
    return held.since.at if held.since else None, held.until.at if held.until else None


def _time(given: str, message: Said) -> datetime | None:
    found = datetime.fromisoformat(given) if given else None
    return found.replace(tzinfo=message.at.tzinfo) if found and not found.tzinfo else found
