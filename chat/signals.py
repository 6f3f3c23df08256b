"""The one signal that points up: a conversation needs a person."""

from django.dispatch import Signal

# Sent by `chat.handoff.hand_over` inside its transaction, with `send`: a receiver that fails
# undoes the hand-over.
# conversation, question, question_seq, reason, detail, private (for a person to judge, and not
# for an answer), request, match_id, topics (keys of those that the turn found named, the surest
# first), now
handoff_requested = Signal()

# Sent by `conversations.set_reply_email`: conversation, email, link (a path that is good for
# CHAT_LINK_DAYS), now.
reply_email_left = Signal()
