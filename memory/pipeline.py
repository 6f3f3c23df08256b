"""The knowledge agent: gate → extract → validate → resolve → write → reflect.

What is slow happens before the customer's row is locked. Reading an episode twice changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.conf import settings

from memory import reflection, site_layer
from memory.lifecycle import (
    account,
    blank,
    decay,
    embed_facts,
    extract,
    gate,
    known,
    locks,
    propose,
    queue,
    resolve,
    summary,
    takeback,
    validate,
    write,
)
from memory.lifecycle import episode as stored
from memory.lifecycle.known import NOTHING, Values
from memory.llm.base import BadOutput, Refused, Unavailable
from memory.llm.configured import chat_model
from memory.llm.embeddings import embed_here as embed
from memory.llm.embeddings import embed_one_here as embed_one
from memory.llm.fitted import read_here
from memory.llm.joint import read_beside
from memory.models import Customer, Episode, Memory, Topic
from memory.prepared import by_key
from memory.types import (
    Action,
    Candidate,
    Decision,
    GateResult,
    Intent,
    Said,
    TopicSpec,
    Transcript,
)

logger = logging.getLogger(__name__)

embed_missing = embed_facts.embed_missing

AGENT = "knowledge agent"
OFFLINE = "offline"  # the rules, as the engine that read something


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the customer's words propose, and what was turned down on the way."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[tuple[Candidate, str], ...] = ()
    gate: Mapping[int, GateResult] = field(default_factory=dict)  # by seq
    engine: str = OFFLINE  # who read it


def run(episode_id: int, *, now: datetime) -> list[Decision]:
    """Read one waiting episode and remember what is worth it. Empty if somebody else has it."""
    episode = queue.claim(episode_id, now=now)
    if episode is None:
        return []
    try:
        stands = known.values_of(episode.customer_id)
        proposal = consider(stored.load(episode.transcript), by_model=True, stands=stands)
        decisions = _settle_episode(episode, proposal, now)
    except Exception as exc:
        queue.give_back(episode_id, error=type(exc).__name__)
        raise
    embed_missing(episode.customer_id)
    return decisions


def consider(
    transcript: Transcript, *, by_model: bool = False, since: int = 0, stands: Values = NOTHING
) -> Proposal:
    """Gate, extract, validate: reads topics, writes nothing.

    `by_model`: the worker's way. While a customer waits for a reply, the rules alone read, and of
    her words only those from seq `since` on; what was said before is what they are read with.
    `stands`: by topic, the values of hers that hold, as evidence of what her words are about.
    """
    results = _gate(transcript, by_model, since)
    if not any(r.passed for r in results.values()):
        return Proposal(gate=results)
    topics = {t.key: t for t in _topics()}
    found, engine = _extract(transcript, list(topics.values()), by_model, since, stands)
    verdicts = [(c, validate.check(c, transcript, topics=topics)) for c in found]
    if engine != OFFLINE and verdicts and not any(v.ok for _, v in verdicts):
        logger.warning(
            "Nothing that the knowledge model found rests on what was said: rules instead"
        )
        found, engine = _extract(transcript, list(topics.values()), False, since, stands)
        verdicts += [(c, validate.check(c, transcript, topics=topics)) for c in found]
    return Proposal(
        candidates=tuple(c for c, v in verdicts if v.ok),
        refused=tuple((c, v.reason) for c, v in verdicts if not v.ok),
        gate=results,
        engine=engine,
    )


def _topics() -> list[TopicSpec]:
    return sorted(known.specs(), key=lambda t: t.key)


def get_ready() -> None:
    """Work out the vectors of this business's topics: seconds that the first message would pay."""
    extract.get_ready(_topics(), embed=embed, read=read_here)


def _extract(
    transcript: Transcript, topics: list[TopicSpec], by_model: bool, since: int, stands: Values
) -> tuple[list[Candidate], str]:
    """By the model where there is one and it answers, else by the rules; and who it was."""
    model = chat_model("knowledge") if by_model else None
    if model is not None:
        try:
            found = propose.propose(
                transcript, topics, instructions=_instructions(), fill=model.fill_now
            )
            return found, model.model
        except (Unavailable, Refused, BadOutput) as exc:
            # The kind alone: what a model refuses or gets wrong may hold the customer's words.
            kind = type(exc).__name__
            logger.warning("The knowledge model did not answer (%s): rules instead", kind)
    found = extract.extract(
        transcript,
        topics,
        embed=embed,
        read=read_here,
        beside=read_beside,
        since=since,
        known=stands,
    )
    return found, OFFLINE


def _instructions() -> str:
    newest = account.newest_instructions()
    return newest.text if newest else ""


def _gate(transcript: Transcript, by_model: bool, since: int) -> dict[int, GateResult]:
    before: list[Said] = []
    results: dict[int, GateResult] = {}
    for m in transcript.messages:
        if m.sender == "customer" and not m.offered and m.seq >= since:
            asked = before[-1].asks_topic if before else ""
            result = worth_saving(replace(m, asks_topic=asked), before=tuple(before))
            results[m.seq] = _asked_again(result, m, before) if by_model else result
        before.append(m)
    return results


def worth_saving(message: Said, *, before: Sequence[Said | str]) -> GateResult:
    return gate.worth_saving(
        message,
        before=before,
        vector=embed_one(message.text),
        classifier=gate.gates()["save"],
    )


def _asked_again(result: GateResult, message: Said, before: list[Said]) -> GateResult:
    """By a small model, where there is one and the cheap gate is unsure."""
    model = chat_model("gate") if propose.unsure(result, gate="save") else None
    if model is None:
        return result
    try:
        said = [m.text for m in before]
        return propose.second_opinion(message.text, said, fill=model.fill_now)["save"]
    except (Unavailable, Refused, BadOutput):
        return result


def _settle_episode(episode: Episode, proposal: Proposal, now: datetime) -> list[Decision]:
    with locks.customer_locked(episode.customer_id) as customer:
        episode = by_key(Episode, episode.pk)
        episode.customer = customer
        if episode.processed_at is not None:
            return []
        decisions: list[Decision] = []
        if not episode.dismissed:
            source = write.Source(AGENT, now, made_by(proposal.engine), episode)
            decisions = settle(customer, proposal.candidates, source=source)
            _account(episode, proposal, decisions, source)
        queue.done(episode.pk, now=now)
    return decisions


def _account(
    episode: Episode, proposal: Proposal, decisions: list[Decision], source: write.Source
) -> None:
    account.count(
        episode,
        gate=proposal.gate.values(),
        refused=[reason for _, reason in proposal.refused],
        actor=source.actor,
        now=source.now,
    )
    if any(d.candidate.intent is Intent.FORGET for d in decisions):
        return
    topics = {t.key: t for t in known.specs()}
    values = Memory.objects.for_customer(episode.customer_id).exclude(value="")
    text = summary.summary(
        stored.load(episode.transcript),
        decisions,
        topics=topics,
        known=list(values.filter(kind="fact").values_list("value", flat=True)),
        visitor=episode.customer.kind == Customer.Kind.VISITOR,
    )
    account.summarise(episode, text, engine=source.made_by, now=source.now)
    reflection.on_episode(episode, actor=source.actor, now=source.now)


def settle(
    customer: Customer, candidates: Iterable[Candidate], *, source: write.Source
) -> list[Decision]:
    """Resolve and write each candidate in the order in which they were said, under the lock."""
    candidates = list(candidates)
    if any(c.intent is Intent.FORGET for c in candidates):
        # What is forgotten is unlearnt as well: its topics are locked before anything is written.
        hers = Memory.objects.for_customer(customer.pk)
        quotes = {quote for memory in hers for quote in blank.quotes_of(memory)}
        locks.hold_topics(blank.taught_by(quotes).values_list("pk", flat=True))
    topics = {t.key: t for t in Topic.objects.all()}
    done: list[Decision] = []
    for c in sorted(candidates, key=lambda c: (c.stated_at, c.seq)):
        if c.intent is Intent.FORGET and not c.topic and not c.value:
            blank.forget_everything(customer, at=c.stated_at, now=source.now)
            reason = "everything is forgotten at the customer's request"
            done.append(Decision(Action.DELETE, c, reason=reason))
            continue
        if customer.erase_requested_at and c.stated_at <= customer.erase_requested_at:
            continue  # said before she asked to be forgotten altogether
        for decision in decide(c, customer.pk, topics):
            kept = _unless_sensitive(decision, customer, topics)
            _write(kept, customer.pk, topics, source)
            done.append(kept)
    return done


def _unless_sensitive(
    decision: Decision, customer: Customer, topics: Mapping[str, Topic]
) -> Decision:
    """A visitor may be anybody at that browser: of a sensitive topic nothing of hers is kept.

    What she takes back or wants forgotten is done all the same.
    """
    c = decision.candidate
    if customer.kind != Customer.Kind.VISITOR or c.intent is not Intent.STATE or not c.topic:
        return decision
    if not topics[c.topic].sensitive:
        return decision
    reason = "a sensitive topic, and a visitor may be anybody at that browser"
    return Decision(Action.IGNORE, c, reason=reason)


def decide(
    candidate: Candidate, customer_id: int, topics: Mapping[str, Topic]
) -> tuple[Decision, ...]:
    rows = known.known_of(customer_id)
    topic = known.spec(topics[candidate.topic]) if candidate.topic else None
    if candidate.intent is not Intent.STATE:
        return takeback.take_back(candidate, rows, topic=topic)
    return (resolve.resolve(candidate, rows, topic=topic, alike=alike, sure=settings.MEMORY_SURE),)


def alike(a: str, b: str) -> float:
    try:
        return float(embed_one(a) @ embed_one(b))
    except Unavailable:
        return 0.0


def _write(
    decision: Decision, customer_id: int, topics: Mapping[str, Topic], source: write.Source
) -> None:
    if decision.action is Action.DELETE and decision.candidate.intent is Intent.FORGET:
        rows = Memory.objects.for_customer(customer_id).filter(pk__in=[decision.replaces_id])
        blank.forget(rows, at=decision.candidate.stated_at, now=source.now, actor="customer")
    else:
        write.apply(decision, customer_id=customer_id, topics=topics, source=source)


def made_by(engine: str = "offline") -> str:
    return account.made_by(engine)


def sweep(
    *, now: datetime, after: timedelta = timedelta(seconds=30), every_attempt: bool = False
) -> int:
    """Run what the bell missed; one that fails does not stop the others."""
    count = 0
    for episode_id in queue.waiting(now=now, after=after, every_attempt=every_attempt):
        try:
            run(episode_id, now=now)
        except Exception:
            logger.exception("Unable to read episode %s", episode_id)
        else:
            count += 1
    return count


def nightly(*, now: datetime, progress: decay.Progress | None = None) -> dict[str, int]:
    """Expiry, decay, and what was missed. Running it twice changes nothing."""
    return {
        "expired": decay.expire(now=now),
        "read": sweep(now=now, after=timedelta(0), every_attempt=True),
        "faded": decay.fade(now=now, progress=progress),
        "refitted": site_layer.refit_stale(now=now),
    }
