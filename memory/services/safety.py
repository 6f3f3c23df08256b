"""What she must not be told without a person: answers whose words touch what is grave about her.

Compared are her permanent and sensitive facts, those that wait for a person too, and what she said
and nobody has stored yet: in conversations that wait to be read, and in the one that is going on.
What is compared errs towards a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache

import numpy as np
from django.db.models import DateTimeField, Q

from memory import pipeline, values
from memory.lifecycle import episode, known
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed_here
from memory.models import Episode, Memory, Topic
from memory.prepared import Prepared, argument
from memory.speech import acts
from memory.types import (
    AnswerCandidate,
    Category,
    Fact,
    Intent,
    Said,
    Status,
    TopicSpec,
    Transcript,
)

Chat = Callable[[], Transcript]  # what was said in this conversation, read when it is needed

# Cosine of a sentence to what a grave topic is about: from `NEAR` on it is read closely, from
# `SURE` on it counts though nothing could be drawn from it ("I had a bad reaction to it once").
NEAR, SURE = 0.25, 0.6


class Grave:
    """All that must be held against an answer for one customer; each thing is read once."""

    def __init__(self, customer_id: int | None, *, now: datetime, chat: Chat | None = None) -> None:
        self.customer_id, self.now, self.chat = customer_id, now, chat
        self._hers = customer_id or 0
        self._near: dict[str, tuple[str, float]] = {}
        self._drawn: dict[tuple[int, str], list[Fact]] = {}

    def touched(self, question: str, answers: Iterable[AnswerCandidate]) -> tuple[Fact, ...]:
        """Return what shares a word with the question or with the answers."""
        if self.customer_id is None:
            return ()
        given: frozenset[str] = frozenset()
        for a in answers:
            given |= stems(" ".join((a.title, *a.parts)))
        spoken = given | stems(question)
        found = [fact for fact, words in self._stored if words & spoken]
        found += self._heard(question, given)
        once = {(f.label, f.text): f for f in reversed(found)}
        return tuple(reversed(once.values()))

    @cached_property
    def _stored(self) -> list[tuple[Fact, frozenset[str]]]:
        """Also what is to hold from a later day on: it is no less hers."""
        rows = _GRAVE.instances(hers=self._hers, now=self.now)
        topics: dict[int | None, Topic] = {t.pk: t for t in known.topics()}
        for m in rows:
            m.topic = topics.get(m.topic_id)  # as it is kept: not one query for each fact
        return [(_fact(m), _carry(m.value, m.text, m.quote, topic=m.topic)) for m in rows]

    @cached_property
    def _unstored(self) -> list[Transcript]:
        if not self._topics:
            return []
        said = [episode.load(row.transcript) for row in _WAITING.instances(hers=self._hers)]
        return [*said, *([self.chat()] if self.chat else [])]

    @cached_property
    def _topics(self) -> dict[str, Topic]:
        return {t.key: t for t in known.topics() if t.permanent or t.sensitive}

    @cached_property
    def _specs(self) -> list[TopicSpec]:
        return [known.spec(t) for t in self._topics.values()]

    @cached_property
    def _sentences(self) -> list[tuple[str, frozenset[str], Transcript]]:
        """Her own that state something, what carries them, and the words they are read with."""
        return [
            (
                sentence,
                _carry(sentence),
                Transcript(said.messages[max(0, i - 1) : i + 1], said.timezone),
            )
            for said in self._unstored
            for i, m in enumerate(said.messages)
            if m.sender == "customer" and not m.offered
            for sentence in _told(m.text)
        ]

    def _heard(self, question: str, given: frozenset[str]) -> list[Fact]:
        """What her own sentences say; one that is part of the question is held against the
        answers and the rest of it."""
        found: list[Fact] = []
        for sentence, carried, talk in self._sentences:
            rest = given | stems(question.replace(sentence, " "))
            if carried & rest:
                found += self._grave_in(sentence, talk, rest)
        return found

    def _grave_in(self, sentence: str, talk: Transcript, rest: frozenset[str]) -> list[Fact]:
        if sentence not in self._near:
            self._near[sentence] = self._nearest(sentence)
        (key, near), m = self._near[sentence], talk.messages[-1]
        if near >= SURE:
            return [self._said(key, sentence, m)]
        if near < NEAR:
            return []
        at = (m.seq, sentence)
        if at not in self._drawn:
            alone = replace(talk, messages=(*talk.messages[:-1], replace(m, text=sentence)))
            self._drawn[at] = [
                self._said(c.topic, c.text, m)
                for c in pipeline.consider(alone).candidates
                if c.seq == m.seq and c.intent is Intent.STATE and c.topic in self._topics
            ]
        topics = self._topics
        return [f for f in self._drawn[at] if _carry(f.text, topic=topics[f.topic or ""]) & rest]

    def _nearest(self, sentence: str) -> tuple[str, float]:
        """The grave topic that a sentence comes nearest to; without vectors it may be any."""
        best = ("", 0.0)
        try:
            (spoken,) = embed_here([sentence])
            for t in self._specs:
                told = [x for x in (*t.examples, t.description, t.label) if x]
                near = float((np.stack(list(embed_here(told))) @ spoken).max())
                best = max(best, (t.key, near), key=lambda b: b[1])
        except Unavailable:
            return self._specs[0].key, SURE
        return best

    def _said(self, key: str, text: str, m: Said) -> Fact:
        topic = self._topics[key]
        return Fact(
            id=None,
            customer_id=self._hers,
            topic=key,
            label=topic.label,
            category=Category(topic.category),
            text=text,
            value=text,
            stated_at=m.at,
            sensitive=topic.sensitive,
        )


_GRAVE = Prepared(
    lambda: (
        Memory.objects.for_customer(argument("hers"))
        .filter(status__in=(Status.ACTIVE, Status.PENDING))
        .filter(Q(valid_until=None) | Q(valid_until__gt=argument("now", DateTimeField())))
        .filter(Q(permanent=True) | Q(sensitive=True))
        .exclude(category=Category.ESCALATION_ANSWER)
        .order_by("pk")
    )
)
_WAITING = Prepared(
    lambda: Episode.objects.filter(
        customer_id=argument("hers"), processed_at=None, dismissed=False
    ).order_by("pk")
)


def _told(text: str) -> list[str]:
    """The sentences that state something; of one that asks, the clauses that do."""
    found: list[str] = []
    for sentence in acts.parts(text):
        asking = acts.asks(sentence)
        clauses = re.split(r"[,;:]\s+", sentence) if asking else [sentence]
        found += [c for c in clauses if not acts.asks(c)]
    return found


@lru_cache(maxsize=4096)  # answers and topics are the same for each question
def stems(text: str) -> frozenset[str]:
    """First letters stand for the word: "allergic" and "allergy", "pregnant" and "pregnancy"."""
    plain = (w.rstrip("s") for w in values.words(text) if len(w) > 3 and not w.isdigit())
    return frozenset(w[: max(4, round(len(w) * 0.6))] for w in plain) - _COMMON


def _carry(*texts: str, topic: Topic | None = None) -> frozenset[str]:
    """The words of a fact that carry it: not those of its topic's name, unless it has no others."""
    named = stems(f"{topic.label} {topic.key.replace('_', ' ')}") if topic else frozenset()
    said = stems(" ".join(texts)) - _FRAME
    return said - named or said


# Too frequent in answers to say anything about one customer.
_COMMON = {w[:4] for w in ("take", "need", "call", "time", "week", "month", "year", "hour", "days")}
# With these people say what is grave, whatever it is.
_FRAME = stems(
    "doctor told tell tells said says makes make gives give never ever every once really badly "
    "because after before since when while years months yesterday today currently having being "
    "know think sure sorry hello thank thanks also only even still anything something should "
    "could can't cannot don't i'm i've it's that's won't must might about from until"
)


def _fact(m: Memory) -> Fact:
    return Fact(
        id=m.pk,
        customer_id=m.customer_id,
        topic=m.topic.key if m.topic else None,
        label=m.topic.label if m.topic else m.category.replace("_", " "),
        category=Category(m.category),
        text=m.text,
        value=m.value,
        stated_at=m.stated_at,
        sensitive=m.sensitive,
    )
