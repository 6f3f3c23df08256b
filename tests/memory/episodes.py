"""Conversations that are over, and a stand-in for reading them: what it finds is given."""

from datetime import timedelta

from memory import pipeline, services
from memory.types import Candidate, Category, Intent, Said, Transcript
from tests.memory.statements import NOW


def transcript(*texts, at=NOW, first=1):
    said = (
        Said(first + i, "customer", text, at + timedelta(seconds=i)) for i, text in enumerate(texts)
    )
    return Transcript(tuple(said), "Europe/London")


def closed(customer, *texts, at=NOW, ref=None, first=1):
    said = transcript(*texts, at=at, first=first)
    ref = ref or f"conversation:{at.isoformat()}"
    return services.remember_later(said, customer_id=customer.pk, ref=ref, now=at)


def claim(topic, value, message, **more):
    """A candidate that rests on the whole of `message`, a Said."""
    return Candidate(
        category=Category(topic.category),
        topic=topic.key,
        value=value,
        text=more.pop("text", f"{topic.label}: {value}"),
        quote=message.text,
        seq=message.seq,
        stated_at=message.at,
        confidence=more.pop("confidence", 0.9),
        **more,
    )


def reading(topic, words):
    """Return a stand-in for `pipeline.consider`: `words` maps a phrase to the value it tells."""

    def consider(said, **how):
        found = []
        for m in said.by("customer"):
            if "forget" in m.text:
                found.append(claim(topic, "", m, intent=Intent.FORGET))
                continue
            found += [claim(topic, value, m) for word, value in words.items() if word in m.text]
        return pipeline.Proposal(candidates=tuple(found))

    return consider
