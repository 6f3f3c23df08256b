"""What a customer has said in a chat that is still open: newer than what is stored of the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chat.models import Conversation
from memory.likeness import normalise
from memory.models import Customer, Memory

Noted = Mapping[str, Any]


def in_open_chats(customer: Customer) -> list[Noted]:
    """Return what was noted there and is not stored yet, the newest first."""
    chats = Conversation.objects.filter(customer=customer, closed_at=None)
    noted = [c for memory in chats.values_list("working_memory", flat=True) for c in memory]
    waiting = [c for c in noted if c.get("topic") and c.get("text") and not c.get("stored")]
    return sorted(waiting, key=lambda c: str(c.get("stated_at") or ""), reverse=True)


def newer_than(memory: Memory, noted: list[Noted]) -> str:
    """Return the words that say something else on a fact of which there is one; "" without any."""
    topic = memory.topic
    if topic is None or topic.cardinality != "one":
        return ""
    said = next((c for c in noted if c["topic"] == topic.key), None)
    if said is None or _before(said, memory.stated_at) or _same(said, memory):
        return ""
    return str(said["quote"] if said.get("quote") else said["text"])


def _before(said: Noted, at: datetime) -> bool:
    stated = str(said.get("stated_at") or "")
    return bool(stated) and datetime.fromisoformat(stated) < at


def _same(said: Noted, memory: Memory) -> bool:
    if said.get("intent", "state") != "state":
        return False
    pairs = ((said.get("value"), memory.value), (said["text"], memory.text))
    return any(a and b and normalise(str(a)) == normalise(str(b)) for a, b in pairs)
