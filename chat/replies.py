"""A turn's moves as rows of the log, in the business's words; and what a move does besides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings

from chat import conversations, wordings
from chat.conversations import NewRow
from chat.llm import prompt, saying
from chat.llm.base import (
    Answer,
    Ask,
    Forget,
    Known,
    Move,
    NeedsHuman,
    Noted,
    Offer,
    Recall,
    Remark,
    SmallTalk,
    UseNote,
)
from chat.llm.topics import stems
from chat.models import Conversation, Message
from chat.situations import Asked
from memory import services
from memory.prepared import Prepared, argument
from memory.types import AnswerCandidate, Fact

Kind = Message.Kind


@dataclass(slots=True)
class Reply:
    """What will be stored. `outcome`: as in Turn; `topics`: what it is about, for the receipt."""

    rows: list[NewRow] = field(default_factory=list)
    outcome: str = ""
    asked_topic: str = ""
    topics: list[str] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)  # what it says, or was written from


def write(asked: Asked, moves: Sequence[Move], *, now: datetime) -> Reply:
    """Return the reply, having done what it speaks of.

    Forgetting, and noting for this conversation.
    """
    reply = Reply()
    for move in moves:
        _Writer(asked, reply, now).add(move)
    return reply


def card(candidate: AnswerCandidate) -> NewRow:
    """A stored answer as its own row: the very words, whose they are and since when."""
    return NewRow(
        text="\n\n".join(candidate.parts),
        kind=Kind.ANSWER,
        meta={
            "answer_id": candidate.answer_id or None,  # None: told this customer alone
            "title": candidate.title,
            "role": candidate.role,
            "author": candidate.author,
            "said_on": candidate.said_on.isoformat(),
            "parts": list(candidate.parts),
        },
    )


class _Writer:
    def __init__(self, asked: Asked, reply: Reply, now: datetime) -> None:
        self.asked, self.reply, self.now = asked, reply, now

    def add(self, move: Move) -> None:
        outcome = getattr(self, f"_{type(move).__name__.lower()}")(move)
        # The first move says what the turn was for; what follows is beside it.
        self.reply.outcome = self.reply.outcome or outcome

    def _say(self, key: str, **fields: str) -> None:
        conversation, seq = self.asked.conversation.pk, self.asked.messages[-1].seq
        self._row(NewRow(wordings.say(key, conversation, seq, **fields)))

    def _row(self, row: NewRow) -> None:
        self.reply.rows.append(row)

    def _smalltalk(self, move: SmallTalk) -> str:
        self._say(move.courtesy)
        return "small_talk"

    def _answer(self, move: Answer) -> str:
        if move.line:
            self._row(NewRow(move.line))
        self._row(card(move.candidate))
        self.reply.answers = [move.candidate.number]
        return "answered"

    def _offer(self, move: Offer) -> str:
        conversation, seq = self.asked.conversation.pk, self.asked.messages[-1].seq
        meta = {
            "question_seq": self.asked.first.seq,
            "choices": [{"choice": c.key, "title": c.title} for c in move.candidates],
            "match_id": self.asked.situation.answer.match_id,
        }
        self._row(NewRow(wordings.say("offer", conversation, seq), kind=Kind.OFFER, meta=meta))
        self.reply.answers = [c.number for c in move.candidates]
        return "offered"

    def _recall(self, move: Recall) -> str:
        self._say("recall", facts=listed(move.facts))
        self._about(move.facts)
        return "recalled"

    def _known(self, move: Known) -> str:
        if move.facts:
            self._say("known")
            self._row(NewRow(_lines(move.facts)))
        else:
            self._say("known_nothing")
        if self.asked.situation.withheld.unread:
            self._say("known_unread")
        self._about(move.facts)
        return "recalled"

    def _ask(self, move: Ask) -> str:
        key = "ask_preference" if move.topic.preference else "ask_confirmed_fact"
        self._say(key, topic=move.topic.label)
        self.reply.asked_topic = move.topic.key
        self.reply.topics.append(move.topic.key)
        return "asked"

    def _noted(self, move: Noted) -> str:
        fresh = [c for c in move.facts if not c.get("stored")]
        if fresh:
            conversations.note_for_now(self.asked.conversation.pk, fresh)
        for_chat = [c for c in move.facts if self._is_for_this_chat(c)]
        lasting = [c for c in move.facts if c not in for_chat]
        if lasting:
            self._say("noted_after_asking" if move.asked else "noted", facts=_said_back(lasting))
        if for_chat:
            self._say("noted_for_chat", facts=_said_back(for_chat))
        self.reply.topics += [c["topic"] for c in move.facts if c.get("topic")]
        return "noted"

    def _is_for_this_chat(self, candidate: Mapping[str, Any]) -> bool:
        """A visitor may be anybody at that browser: what is sensitive is not kept."""
        s = self.asked.situation
        topic = s.topic(candidate.get("topic") or "")
        return topic is not None and topic.sensitive and not s.verified

    def _forget(self, move: Forget) -> str:
        customer = self.asked.conversation.customer_id
        gone = services.forget(customer, request=move.request, by="customer", now=self.now)
        if not gone.count and move.topic:
            gone = services.forget(customer, topic=move.topic, by="customer", now=self.now)
        topics = set(gone.topics) | ({move.topic} - {""})
        held = conversations.drop_noted(
            self.asked.conversation.pk, None if move.everything else topics
        )
        for one in held:  # no memory was made of it yet
            told = (str(one.get("quote", "")), str(one.get("text", "")))
            services.forget_words(customer, told, value=str(one.get("value", "")))
        self._forget_the_request(topics, held)
        self.reply.topics += sorted(topics)
        labels = [t.label for t in self.asked.situation.topics if t.key in topics]
        if move.everything:
            self._say("forgot_all", days=str(settings.MEMORY_ERASE_DAYS))
        elif gone.count or held:
            self._say("forgot", facts=", ".join(labels or gone.labels) or "what you named")
        else:
            self._say("forgot_nothing")
        return "forgot"

    def _forget_the_request(self, topics: Set[str], held: Sequence[Mapping[str, Any]]) -> None:
        """ "Forget that I take ibuprofen" says it once more: that row goes, too."""
        facts = [f for f in self.asked.situation.standing if f.topic in topics]
        told = [*(f"{f.text} {f.value}" for f in facts), *(str(c.get("text", "")) for c in held)]
        labels = [t.label for t in self.asked.situation.topics if t.key in topics]
        hers = _stems(told) - _stems(labels)  # "forget my number" says nothing of it
        rows = [m.text for m in self.asked.messages if _stems([m.text]) & hers]
        if rows:
            services.forget_words(self.asked.conversation.customer_id, rows)

    def _usenote(self, move: UseNote) -> str:
        slots = {f.topic: f.value for f in reversed(move.facts) if f.topic}
        looked_up = {str(k): str(v) for k, v in move.tool_result.items()}
        own = frozenset(slots.keys() - looked_up.keys())
        slots |= looked_up
        self._row(NewRow(wordings.without_gaps(_filled(move.note.text, slots, own))))
        self._about(move.facts)
        return "note"

    def _remark(self, move: Remark) -> str:
        self._row(NewRow(move.text))
        self.reply.facts += prompt.told(self.asked.situation)  # all of them were in its prompt
        return "answered"

    def _about(self, facts: Sequence[Fact]) -> None:
        self.reply.facts += facts
        self.reply.topics += [
            f.topic for f in facts if f.topic and f.topic not in self.reply.topics
        ]


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(stems, texts))


def _said_back(candidates: Sequence[Mapping[str, Any]]) -> str:
    said = dict.fromkeys(saying.said_back(str(c["text"])) for c in candidates)
    return _ended("; ".join(said))


def listed(facts: Sequence[Fact]) -> str:
    """One fact in a line, several in lines of their own."""
    if len(facts) == 1:
        return _labelled(facts[0])
    return "\n" + _lines(facts)


def _lines(facts: Sequence[Fact]) -> str:
    return "\n".join(f"• {_labelled(f)}" for f in facts)


def _labelled(fact: Fact) -> str:
    """A fact that was a mere value ("Acorn Health") carries its label already."""
    label = f"{fact.label}: "
    return _ended(saying.said_back(label + fact.text.removeprefix(label)))


def _filled(text: str, slots: dict[str, str], own: frozenset[str]) -> str:
    """`own`: the slots that hold the customer's words; what a tool says stays as it is."""

    def put(slot: re.Match[str]) -> str:
        value = slots.get(slot[1], slot[0])
        if slot[1] not in own:
            return value
        before = text[: slot.start()].rstrip(" ")
        return saying.in_sentence(value, at_start=not before or before[-1] in ".!?\n")

    return wordings.SLOT.sub(put, text)


def _ended(text: str) -> str:
    text = text.strip()
    return text if text[-1:] in ".!?…" else f"{text}."


_WAITING = Prepared(
    lambda: Conversation.objects.filter(pk=argument("pk"), handler="waiting").values_list("pk")
)


def handing_over(conversation_id: int, need: NeedsHuman, seq: int) -> str:
    """What the customer is told when a person is asked; shorter when one was asked before."""
    waiting = bool(_WAITING(pk=conversation_id))
    again = waiting and need.wording in {"no_answer", "unsure", "request"}
    again_person = waiting and need.wording == "person"
    key = "joined" if again else "person_waiting" if again_person else need.wording
    return wordings.say(key, conversation_id, seq)
