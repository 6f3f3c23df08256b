"""What the desk does when a conversation is handed over: it takes the question, and says when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.dispatch import receiver
from django.utils.translation import gettext as _

from chat import conversations
from chat.models import Conversation
from chat.signals import handoff_requested, reply_email_left

from . import alerts, delivery, gaps, inbox

ASKED = ("question", "question_seq", "reason", "detail", "request", "match_id", "topics")


@receiver(handoff_requested, dispatch_uid="escalations.handoff_requested")
def take_in(
    *, conversation: Conversation, now: datetime, private: bool = False, **asked: Any
) -> None:
    """Runs in the transaction of the hand-over, under its conversation's lock."""
    escalation, text, opened = inbox.open_or_join(
        conversation, now=now, **{key: asked[key] for key in ASKED}
    )
    if not private:
        gaps.file(escalation, now=now)
    gaps.reopen(escalation, now=now)
    if text:
        conversations.add_state(conversation, state="queued", text=text, now=now)
    if opened:
        alerts.ring_on_commit(escalation.pk)


@receiver(reply_email_left, dispatch_uid="escalations.reply_email_left")
def send_the_link(
    *, conversation: Conversation, email: str, link: str, now: datetime, **kwargs: Any
) -> None:
    """One signed link back to who left an address; nothing of the chat is in the mail."""
    delivery.queue_mail(
        kind="link_back",
        to=email,
        subject=_("Your way back to our chat"),
        body=_(
            "Open this link to come back to your conversation. It is valid for {days} days:"
        ).format(days=settings.CHAT_LINK_DAYS)
        + f"\n\n{delivery.absolute(link)}\n",
        customer=conversation.customer,
        now=now,
    )
