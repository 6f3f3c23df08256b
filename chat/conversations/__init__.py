"""The only writer of conversations and their rows. Sync; callers in a loop go through a thread.

Every function locks one Conversation (after an Escalation, before a Customer) and tells open
tabs on commit.
"""

from .bot import (
    NewRow,
    drop_noted,
    hand_to_waiting,
    note_for_now,
    record_bot_reply,
    record_emergency,
    record_turn,
)
from .customer import (
    Chosen,
    Lapsed,
    Recorded,
    choose,
    find,
    mark_seen,
    rate,
    record_customer_message,
    says_more,
    set_reply_email,
    tokens_since,
    turns_since,
)
from .lifetime import (
    business,
    business_clock,
    clock_of,
    close,
    close_idle,
    current,
    current_or_new,
    customer_clock,
    latest,
    of_customer,
    start,
)
from .log import Closed, Overtaken, in_turn
from .outcome import tell as tell_outcome
from .removal import remove_words
from .staff import (
    Stale,
    add_state,
    post_answer,
    post_staff_reply,
    post_state,
    release,
    take_over,
    wait,
)
from .transcript import earlier, transcript_of

__all__ = [
    "Chosen",
    "Closed",
    "Lapsed",
    "NewRow",
    "Overtaken",
    "Recorded",
    "Stale",
    "add_state",
    "business",
    "business_clock",
    "choose",
    "clock_of",
    "close",
    "close_idle",
    "current",
    "current_or_new",
    "customer_clock",
    "drop_noted",
    "earlier",
    "find",
    "hand_to_waiting",
    "in_turn",
    "latest",
    "mark_seen",
    "note_for_now",
    "of_customer",
    "post_answer",
    "post_staff_reply",
    "post_state",
    "rate",
    "record_bot_reply",
    "record_customer_message",
    "record_emergency",
    "record_turn",
    "release",
    "remove_words",
    "says_more",
    "set_reply_email",
    "start",
    "take_over",
    "tell_outcome",
    "tokens_since",
    "transcript_of",
    "turns_since",
    "wait",
]
