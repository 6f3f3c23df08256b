"""The steps of one turn that touch the database, each in a thread; turns.py has their order."""

from __future__ import annotations

from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.conf import settings

from chat import agent, choices, conversations, handoff, receipts, replies, situations, wordings
from chat.conversations import NewRow
from chat.llm import embedding, emergencies, language
from chat.llm.base import NeedsHuman
from chat.models import Message
from chat.situations import Asked
from chat.tools.toolbox import toolbox
from memory import services
from memory.kept import looked_once
from memory.types import GateResult


class TooLong(Exception):
    """The bot has had its share of turns in this conversation: a person looks at it."""


class Turn:
    """One message on its way to an answer."""

    def __init__(self, conversation_id: int, message: Message, now: datetime) -> None:
        self.conversation_id = conversation_id
        self.message = message
        self.began, self.began_at = monotonic(), now

    @property
    def now(self) -> datetime:
        """The time by the clock that the turn began with."""
        return self.began_at + timedelta(seconds=self.seconds)

    @property
    def seconds(self) -> float:
        """How long it takes already."""
        return monotonic() - self.began

    def gather(self) -> Asked | None:
        with looked_once():
            return self._gather()

    def _gather(self) -> Asked | None:
        asked = situations.gather(self.conversation_id, up_to=self.message.seq, now=self.now)
        if asked is None:
            return None
        if conversations.turns_since(asked.conversation) >= settings.CHAT_TURNS_PER_PERSON:
            raise TooLong
        asked.situation = situations.look_up(asked, now=self.now)
        asked.tools = toolbox(
            verified=asked.conversation.verified,
            customer=asked.conversation.customer.external_id or "",
            now=self.now,
        )
        if settings.OPENAI_API_KEY:
            asked.spent = conversations.tokens_since(asked.conversation)
        return asked

    def look_back(self, asked: Asked, gate: GateResult) -> None:
        with looked_once():
            situations.look_back(asked, gate)

    def emergency(self) -> str:
        listed = conversations.business().emergency_words
        text = services.legible(self.message.text)
        found = (
            emergencies.find(said, listed=listed, embed=embedding.embed_one)
            for said in dict.fromkeys((text, language.english(text)))
        )
        return next(filter(None, found), "")

    def alarm(self, why: str) -> None:
        """The business's emergency text, whoever has the conversation, and a person at once."""
        text = conversations.business().emergency_text
        said = text or wordings.say("emergency", self.conversation_id, self.message.seq)
        handoff.hand_over(
            self.conversation_id,
            question=self.message.text,
            question_seq=self.message.seq,
            reason="emergency",
            detail=why,
            rows=[NewRow(said, meta={"emergency": True})],
            awaited=False,
            trace={"emergency": why},
            now=self.now,
        )

    def store(self, asked: Asked, outcome: agent.Outcome) -> None:
        reply = replies.write(asked, outcome.moves, now=self.now)
        trace = receipts.receipt(asked, reply, outcome)
        if outcome.needs is not None:
            choices.refuse_last(asked, outcome.needs, now=self.now)
            self.hand_over(
                outcome.needs, question=asked.text, asked=asked, reply=reply, trace=trace
            )
            return
        conversations.record_bot_reply(
            self.conversation_id,
            answering_seq=self.message.seq,
            rows=reply.rows,
            outcome=reply.outcome,
            asked_topic=reply.asked_topic,
            trace=trace,
            now=self.now,
        )

    def hand_over(
        self,
        need: NeedsHuman,
        *,
        question: str,
        asked: Asked | None = None,
        reply: replies.Reply | None = None,
        trace: dict[str, Any] | None = None,
    ) -> None:
        rows = list(reply.rows) if reply else []
        if need.wording:
            rows.append(NewRow(replies.handing_over(self.conversation_id, need, self.message.seq)))
        handoff.hand_over(
            self.conversation_id,
            question=question,
            question_seq=asked.first.seq if asked else self.message.seq,
            answering_seq=self.message.seq,
            reason=need.reason,
            detail=need.detail,
            private=need.wording == "personal",
            request=need.request,
            match_id=asked.situation.answer.match_id if asked else None,
            rows=rows,
            trace=trace or {"failed": need.detail},
            now=self.now,
        )

    def by_button(self) -> None:
        """Hand over what was said before the button was pressed, else the button's own words."""
        earlier = conversations.earlier(
            self.message.conversation, before_seq=self.message.seq, limit=4
        )
        said = [
            m.text for m in earlier if m.sender == "customer" and conversations.says_more(m.text)
        ]
        choices.refuse_card(self.message.conversation, before_seq=self.message.seq, now=self.now)
        need = NeedsHuman("asked", wording="person")
        self.hand_over(need, question=said[-1] if said else self.message.text)
