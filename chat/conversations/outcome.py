"""What came of the replies of a conversation, for the memories that they rested on."""

from __future__ import annotations

from datetime import datetime

from chat.models import Conversation
from memory import services
from memory.services import Outcome

RESTED = ("answered", "recalled", "note")  # replies that may say, or be written from, what is known


def tell(conversation: Conversation, came: Outcome, *, by: str, now: datetime) -> int:
    """Tell memory, and return for how many memories that is new. Takes the customer's lock."""
    traces = conversation.turns.filter(outcome__in=RESTED).values_list("trace", flat=True)
    used = {fact.get("id") for trace in traces for fact in trace.get("facts") or ()}
    return services.record_outcome(
        conversation.customer_id,
        [pk for pk in used if pk],
        ref=f"conversation:{conversation.pk}",
        outcome=came,
        by=by,
        now=now,
    )


def thank(conversation: Conversation, *, now: datetime) -> None:
    """She says that it helped: the last answer was right for what she had asked."""
    for turn in conversation.turns.filter(outcome="answered").order_by("-pk")[:1]:
        seen = turn.trace.get("answer", {})
        match_id = turn.trace.get("match_id") or seen.get("match_id")
        given = [turn.trace["chosen"]] if "chosen" in turn.trace else seen.get("used", [])
        if match_id and len(given) == 1 and given[0] > 0:  # below: told her alone, found anyway
            services.helped(match_id, event="accepted", answer_id=given[0], now=now)
