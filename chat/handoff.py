"""The only way out of the bot: to a person, with the question and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from chat import conversations, signals
from chat.conversations import NewRow
from chat.llm.topics import NAMED
from chat.models import Conversation
from memory.kept import looked_once


def hand_over(
    conversation_id: int,
    *,
    question: str,
    question_seq: int,
    reason: str,
    now: datetime,
    detail: str = "",
    private: bool = False,
    request: dict[str, Any] | None = None,
    match_id: int | None = None,
    rows: Sequence[NewRow] = (),
    awaited: bool = True,
    answering_seq: int | None = None,
    trace: dict[str, Any] | None = None,
) -> bool:
    """Hand the conversation to a person, with what the bot says first (`rows`), in one transaction.

    Locks Conversation; the receiver adds to an escalation and changes none (its note says why).
    `reason`: an Escalation.Reason. `awaited`: it settles the reply that is due, which only one may
    do; False where none is due. `answering_seq`: the customer's last row, where the question is an
    earlier one. `private`: it is for a person to judge, not for an answer. False: somebody was
    faster, and nothing was changed.
    """
    asked = {"question": question, "question_seq": question_seq, "match_id": match_id}
    topics = [key for key, score in (trace or {}).get("named", ()) if score >= NAMED]
    why = {"reason": reason, "detail": detail[:300], "request": request or {}, "private": private}
    answering = question_seq if answering_seq is None else answering_seq
    try:
        with looked_once(), transaction.atomic():
            conversation = conversations.hand_to_waiting(
                conversation_id, rows=rows, awaited=awaited, answering_seq=answering, now=now
            )
            conversations.record_turn(
                conversation_id,
                question_seq,
                outcome="emergency" if reason == "emergency" else "handed_over",
                reason=f"{reason}: {detail}" if detail else reason,
                trace=trace or {},
                reply_seq=conversation.last_seq if rows else None,
                now=now,
            )
            signals.handoff_requested.send(
                Conversation, conversation=conversation, now=now, topics=topics, **asked, **why
            )
    except conversations.Overtaken:
        return False
    return True
