"""Simulated staff: in opening hours they take the oldest open escalation, answer it and keep it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from escalations import claim, hours, promise, reply
from escalations.capture import Keep
from escalations.models import Calendar, Escalation, Question, Queue, StaffProfile
from memory import services

from .practice import CLOSE, OPEN, WORKDAYS, Coming
from .truth import Truth

UNTIL_CLAIMED = (2, 25)  # minutes of opening time
UNTIL_WRITTEN = (2, 8)  # minutes
FRONT_DESK = "front desk"
NOTED = "Thank you, we have seen it."


@dataclass
class Desk:
    truth: Truth
    dice: random.Random

    def open(self) -> None:
        """Lay down the calendar, the queue and a member of staff for each role."""
        practice = self.truth.practice
        spans = [[f"{OPEN:%H:%M}", f"{CLOSE:%H:%M}"]]
        calendar = Calendar.objects.create(
            name=practice.name,
            timezone=practice.timezone,
            weekly={str(day): spans for day in range(WORKDAYS)},
        )
        self.hours = promise.opening_hours(calendar)
        queue = Queue.objects.create(name="Front desk", calendar=calendar, is_default=True)
        roles = {FRONT_DESK, *(q.role for q in practice.questions)} - {""}
        self.staff = {role: _member(role, n) for n, role in enumerate(sorted(roles), 1)}
        queue.members.set(self.staff.values())

    def next_free(self, now: datetime) -> datetime:
        """Return when somebody has time for what was handed over at `now`."""
        minutes = self.dice.randint(*UNTIL_CLAIMED)
        return hours.add_open_minutes(self.hours, now, minutes) or now

    def take_oldest(self, now: datetime) -> tuple[Escalation, datetime] | None:
        """Claim what has waited longest; also return when the reply will be written."""
        oldest = Escalation.objects.unclaimed().order_by("opened_at", "pk").first()
        if oldest is None:
            return None
        taken = claim.claim(oldest.pk, staff=self._for(oldest), now=now)
        return taken, now + timedelta(minutes=self.dice.randint(*UNTIL_WRITTEN))

    def answer(self, escalation: Escalation, heard: list[tuple[int, Coming]], now: datetime) -> int:
        """Reply to all that was asked, and resolve. Return how many messages staff kept.

        `heard`: the customer's rows of this escalation, also those that came after the claim.
        """
        staff = self._for(escalation)
        rows = {q.message_seq: q for q in escalation.questions.order_by("pk")}
        keeps: list[Keep] = []
        kept: list[Coming] = []
        for seq, message in heard:
            keep = self._reply(escalation, staff, message, rows.get(seq), now)
            if keep is not None and message.key not in {m.key for m in kept}:
                keeps.append(keep)
                kept.append(message)
        for message, stored in zip(
            kept, reply.resolve(escalation.pk, staff=staff, now=now, keep=keeps), strict=True
        ):
            self.truth.learnt(message, stored)
        services.embed_answers()  # what the bell would have the worker do
        return len(kept)

    def _reply(
        self,
        escalation: Escalation,
        staff: User,
        message: Coming,
        asked: Question | None,
        now: datetime,
    ) -> Keep | None:
        """Send the stored answer in its very words, or write it; return what is to be kept."""
        known = self.truth.answered.get(message.key)
        if message.kind == "question" and known is not None:
            reply.send_answer(
                escalation.pk, known, staff=staff, question=asked, seen_seq=None, now=now
            )
            return None
        text = self._words(message)
        sent = reply.send(escalation.pk, staff=staff, text=text, seen_seq=None, now=now)
        if message.kind not in ("question", "personal"):
            return None
        return Keep(
            scope="everyone" if message.kind == "question" else "customer",
            seqs=(sent.seq,),
            title=message.text,
            question_id=asked.pk if asked else None,
            end_told=True,  # what a practice's file says is so for the whole of it
        )

    def _words(self, message: Coming) -> str:
        if message.kind == "question":
            return self.truth.questions[message.key].answer
        if message.kind == "personal":
            return self.truth.personal[message.key].answer
        return NOTED

    def _for(self, escalation: Escalation) -> User:
        """Whoever has it, else who knows most about its first question."""
        if escalation.claimed_by is not None:
            return escalation.claimed_by
        first = escalation.questions.order_by("pk").first()
        meant = self.truth.meant.get((escalation.conversation_id, _seq(first)))
        question = self.truth.questions.get(meant.key) if meant else None
        return self.staff[question.role if question and question.role else FRONT_DESK]


def _seq(question: Question | None) -> int:
    return question.message_seq or 0 if question else 0


def _member(role: str, number: int) -> User:
    member = User(username=f"staff-{number}", first_name=role.capitalize(), is_staff=True)
    member.set_unusable_password()
    member.save()
    StaffProfile.objects.create(user=member, role=role)
    return member
