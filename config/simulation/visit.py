"""One simulated customer: writes, reads what comes, presses a button. By the chat's front doors."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from chat import conversations, turns
from chat.events import Ack, Event
from chat.frames import Choose, Person, Say
from chat.models import Conversation, Message
from memory import services

from .practice import Coming
from .tally import Outcome
from .truth import Truth

PRESSES_WRONG, IGNORES = 1 / 20, 1 / 10  # of offers
READS = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the customer saw after her message."""

    cards: tuple[Message, ...] = ()  # stored answers
    offer: Message | None = None
    person: bool = False  # told that a person has been asked

    @classmethod
    def after(cls, conversation_id: int, seq: int) -> Shown:
        rows = list(
            Message.objects.filter(conversation_id=conversation_id, seq__gt=seq).order_by("seq")
        )
        bot = [m for m in rows if m.sender == Message.Sender.BOT]
        return cls(
            cards=tuple(m for m in bot if m.kind == Message.Kind.ANSWER),
            offer=next((m for m in bot if m.kind == Message.Kind.OFFER), None),
            person=any(m.meta.get("state") == "queued" for m in rows),
        )


@dataclass
class Visitors:
    """All customers, with the one loop that drives their turns."""

    truth: Truth
    dice: random.Random
    loop: asyncio.AbstractEventLoop

    def write(self, message: Coming) -> Outcome:
        """Take one message through the chat, and react to what comes."""
        customer = services.identify(
            f"patient-{message.customer + 1}", now=message.at, timezone=self.truth.practice.timezone
        )
        chat = conversations.current(customer.pk, now=message.at) or conversations.start(
            customer.pk, now=message.at, verified=True
        )
        say = Say(f"m{chat.last_seq}", message.text)
        seq = self._drive(turns.take_turn(chat.pk, say, now=message.at))
        self.truth.meant[chat.pk, seq] = message
        outcome = Outcome(chat.pk)
        if Conversation.objects.get(pk=chat.pk).handler == Conversation.Handler.STAFF:
            outcome.waits = seq  # a person has it, and will see this too
            return outcome
        self._react(message, seq, outcome)
        return outcome

    def _react(self, message: Coming, seq: int, outcome: Outcome) -> None:
        shown = Shown.after(outcome.chat, seq)
        now = message.at + READS
        self._see(message, shown.cards, outcome)
        if shown.person:
            outcome.waits = seq
        elif shown.offer is not None:
            self._at_offer(message, shown.offer, seq, outcome, now)
        elif not outcome.answered and message.key:
            outcome.asked_back = not shown.cards
            outcome.waits = self._ask_for_person(outcome.chat, message, now)

    def _see(self, message: Coming, cards: tuple[Message, ...], outcome: Outcome) -> None:
        right = sum(self.truth.is_right_card(c.meta["answer_id"], c.text, message) for c in cards)
        outcome.delivered = len(cards)
        outcome.delivered_wrong = len(cards) - right
        outcome.answered = right > 0

    def _at_offer(
        self, message: Coming, offer: Message, seq: int, outcome: Outcome, now: datetime
    ) -> None:
        outcome.offered = True
        offered = [str(c["choice"]) for c in offer.meta["choices"]]
        right = next((c for c in offered if self.truth.is_right_choice(c, message)), None)
        wrong = [c for c in offered if c != right]
        mood = self.dice.random()
        if mood < IGNORES:
            outcome.ignored = True
        elif mood < IGNORES + PRESSES_WRONG and wrong:
            outcome.taken_wrongly = True
            self._choose(outcome.chat, offer, self.dice.choice(wrong), now)
        elif right is not None:
            outcome.taken = outcome.answered = True
            self._choose(outcome.chat, offer, right, now)
        else:
            self._choose(outcome.chat, offer, "none", now)
            outcome.waits = seq

    def _choose(self, chat: int, offer: Message, choice: str, now: datetime) -> None:
        pick = Choose(f"c{offer.seq}", offer.seq, choice)
        self._drive(turns.take_choice(chat, pick, now=now))

    def _ask_for_person(self, chat: int, message: Coming, now: datetime) -> int:
        press = Person(f"p{message.at:%m%d%H%M}")
        seq = self._drive(turns.take_turn(chat, press, now=now))
        self.truth.meant[chat, seq] = message
        return seq

    def _drive(self, turn: AsyncIterator[Event]) -> int:
        """Take a turn to its end; return the seq of the customer's row."""

        async def drive() -> int:
            return next(e.seq for e in [e async for e in turn] if isinstance(e, Ack))

        return self.loop.run_until_complete(drive())
