"""What comes of the customer's pick from an offer, and of a card that was not it: votes."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from chat import conversations, handoff, wordings
from chat.conversations import NewRow
from chat.llm.base import NeedsHuman
from chat.models import Conversation
from chat.replies import card
from chat.situations import Asked
from memory import services
from memory.models import Answer
from memory.types import AnswerCandidate


def settle(conversation_id: int, chosen: conversations.Chosen, *, now: datetime) -> None:
    """Count the customer's vote and give the very words, or hand over the original question."""
    if chosen.choice != "none":
        candidate = _still_good(chosen.choice, conversation_id, now)
        if candidate is not None:
            _meant(candidate, chosen, conversation_id, now)
            stored = conversations.record_bot_reply(
                conversation_id,
                answering_seq=chosen.message.seq,
                rows=[card(candidate)],
                outcome="answered",
                trace={"chosen": candidate.number, "match_id": chosen.match_id},
                now=now,
            )
            if stored is not None or not chosen.may_answer:
                return
    else:
        _vote(chosen, "something_else", conversation_id, None, now)
    handoff.hand_over(
        conversation_id,
        question=chosen.question,
        question_seq=chosen.question_seq,
        answering_seq=chosen.message.seq,
        reason="unsure",
        match_id=chosen.match_id,
        rows=[NewRow(wordings.say("no_answer", conversation_id, chosen.message.seq))],
        trace={"chosen": chosen.choice, "match_id": chosen.match_id},
        now=now,
    )


def refuse_last(asked: Asked, need: NeedsHuman, *, now: datetime) -> None:
    """A customer who wants a person right after a card says that the card was not it."""
    last = asked.situation.before[-1:] if need.reason == "asked" else ()
    if last and last[0].sender == "bot":
        refuse_card(asked.conversation, before_seq=asked.first.seq, now=now)


def refuse_card(conversation: Conversation, *, before_seq: int, now: datetime) -> None:
    """The same, by the button: `before_seq` is her row that asks for a person."""
    turn = conversation.turns.filter(outcome="answered").order_by("-pk").first()
    match_id = turn.trace.get("answer", {}).get("match_id") if turn else None
    if turn and match_id and turn.reply_seq and turn.reply_seq >= before_seq - 2:
        customer = conversation.customer_id
        services.confirm_match(match_id, outcome="refused", customer_id=customer, now=now)


def _vote(
    chosen: conversations.Chosen,
    outcome: Literal["chosen", "something_else"],
    conversation_id: int,
    answer_id: int | None,
    now: datetime,
) -> None:
    if chosen.match_id is not None:
        customer = _customer(conversation_id)
        services.confirm_match(
            chosen.match_id, outcome=outcome, answer_id=answer_id, customer_id=customer, now=now
        )


def _meant(
    candidate: AnswerCandidate, chosen: conversations.Chosen, conversation_id: int, now: datetime
) -> None:
    """Her pick is a vote for everyone's answer; of her own it is a wording, for her alone."""
    if candidate.memory_id is None:
        _vote(chosen, "chosen", conversation_id, candidate.answer_id, now)
    else:
        services.meant_hers(
            candidate.memory_id,
            customer_id=_customer(conversation_id),
            asked=chosen.question,
            now=now,
        )


def _still_good(choice: str, conversation_id: int, now: datetime) -> AnswerCandidate | None:
    """The answer that was offered, unless it was retired since."""
    if choice.startswith("m"):
        customer = _customer(conversation_id)
        return services.own_answer(int(choice[1:]), customer_id=customer, now=now)
    answer = Answer.objects.active(now).filter(pk=int(choice)).first()
    return services.as_candidate(answer) if answer else None


def _customer(conversation_id: int) -> int:
    return Conversation.objects.values_list("customer_id", flat=True).get(pk=conversation_id)
