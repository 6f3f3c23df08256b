"""What the customer tells in the messages of a turn, to be confirmed and used at once."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from chat import conversations
from chat.llm import embedding, intents
from chat.llm.intents import Kind
from chat.models import Conversation, Message
from memory import services
from memory.models import Memory
from memory.types import Category

logger = logging.getLogger(__name__)

SURELY_SMALL_TALK = 0.5
SURE_BESIDE_QUESTION = 0.75  # what led up to a question is confirmed only if its topic is clear
ANSWERS_NOTHING = {Kind.QUESTION, Kind.SELF, Kind.PERSON}  # though we had asked


def told(
    conversation: Conversation,
    messages: list[Message],
    before: list[Message],
    reading: intents.Reading,
    *,
    now: datetime,
) -> list[dict[str, Any]]:
    """Return what the words say of the customer.

    The reply to our own question is stored at once.
    """
    if reading.kind in {Kind.FORGET, Kind.KNOWN} or intents.small_talk_alone(
        services.legible("\n".join(m.text for m in messages))
    ):
        return []
    answering = bool(before) and before[-1].text.rstrip().endswith("?")
    asked = conversation.asked_topic if reading.kind not in ANSWERS_NOTHING else ""
    if not asked and not any(
        _may_tell(services.legible(m.text), reading, answering) for m in messages
    ):
        return []  # most messages, and to read what they state would cost more than all the rest
    try:
        said = _heard(conversation, messages, before, asked, now)
    except Exception:
        # What was told is read again at the close; a question in it must still be answered.
        logger.exception("Unable to listen in conversation %s", conversation.pk)
        return []
    if any(c.get("stored") for c in said):
        return said
    return [c for c in said if _is_told(c, messages, reading, answering)]


def _heard(
    conversation: Conversation,
    messages: list[Message],
    before: list[Message],
    topic: str,
    now: datetime,
) -> list[dict[str, Any]]:
    seqs, customer = {m.seq for m in messages}, conversation.customer_id
    after = before[0].seq - 1 if before else messages[0].seq - 1
    transcript = conversations.transcript_of(conversation, after=after, up_to=max(seqs))
    if topic:
        ref = f"conversation:{conversation.pk}:{max(seqs)}"
        noted = services.note_now(
            customer, transcript, topic=topic, now=now, ref=ref, since=min(seqs)
        )
        if noted:
            return [_stored(m, max(seqs)) for m in noted]
    heard = services.listen(transcript, customer_id=customer, now=now, since=min(seqs))
    return [c for c in heard if c["seq"] in seqs and c["intent"] != "forget"]


def _stored(memory: Memory, seq: int) -> dict[str, Any]:
    key = memory.topic.key if memory.topic else ""
    told = {"topic": key, "text": memory.text, "value": memory.value, "quote": memory.quote}
    return told | {"intent": "state", "seq": seq, "stored": True}


def _may_tell(words: str, reading: intents.Reading, answering: bool) -> bool:
    """Say whether anything in `words` could be told, before it is known what they state."""
    by_kind = _told_by_kind(reading, answering)
    return intents.holds_statement(words, embed=embedding.embed_one) if by_kind is None else by_kind


def _is_told(
    candidate: dict[str, Any], messages: list[Message], reading: intents.Reading, answering: bool
) -> bool:
    """Say whether it is to be confirmed: said as such, not gathered from a question or a story.

    What is left out here is not lost: the closing run reads the whole conversation.
    """
    if reading.asks and candidate["sure"] < SURE_BESIDE_QUESTION:
        return False
    by_kind = _told_by_kind(reading, answering)
    # "Cancel order 55102" tells no number of hers; "text me, please" tells how she likes it.
    ordered = reading.kind is Kind.REQUEST and candidate["category"] != Category.PREFERENCE
    if by_kind is not None and not (by_kind and ordered and not answering):
        return by_kind
    words = services.legible(next(m.text for m in messages if m.seq == candidate["seq"]))
    sentence = intents.sentence_with(words, candidate["quote"])
    return intents.states(sentence, embed=embedding.embed_one)


def _told_by_kind(reading: intents.Reading, answering: bool) -> bool | None:
    """None: its own sentence must tell."""
    if reading.kind in {Kind.SELF, Kind.PERSONAL, Kind.PERSON}:
        return False
    if answering and not reading.asks:
        return True
    if reading.kind is Kind.SMALL_TALK:
        return reading.score(Kind.SMALL_TALK) < SURELY_SMALL_TALK
    if reading.kind in {Kind.STATEMENT, Kind.REQUEST} and not reading.asks:
        return True
    return None
