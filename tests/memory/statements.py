"""Statements and facts for the pure stages, in one line each."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memory.types import Candidate, Category, Known, Said, Sender, Status, TopicSpec, Transcript

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)

CONTACT = TopicSpec("contact", Category.PREFERENCE, True, "How to get in touch")
ALLERGIES = TopicSpec("allergies", Category.CONFIRMED_FACT, False, "Allergies", permanent=True)
CODE = TopicSpec("member_id", Category.CONFIRMED_FACT, True, "Member number")
TOPICS = {t.key: t for t in (CONTACT, ALLERGIES, CODE)}


def said(value: str, *, topic: TopicSpec | None = CONTACT, at: datetime = NOW, **more) -> Candidate:
    return Candidate(
        category=topic.category if topic else Category.PREFERENCE,
        topic=topic.key if topic else None,
        value=value,
        text=more.pop("text", f"It is {value}."),
        quote=more.pop("quote", value),
        seq=more.pop("seq", 1),
        stated_at=at,
        **more,
    )


def known(
    value: str, *, topic: TopicSpec | None = CONTACT, at: datetime = NOW - DAY, **more
) -> Known:
    return replace(
        Known(
            id=more.pop("id", 1),
            category=topic.category if topic else Category.PREFERENCE,
            topic=topic.key if topic else None,
            value=value,
            text=f"It is {value}.",
            quote=value,
            status=Status.ACTIVE,
            stated_at=at,
        ),
        **more,
    )


def chat(*texts: str, sender: Sender = "customer") -> Transcript:
    return Transcript(tuple(Said(i, sender, t, NOW) for i, t in enumerate(texts, 1)))
