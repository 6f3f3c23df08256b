"""What staff said to one customer: kept for everyone, for her alone, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, TypedDict

from memory.lifecycle import share
from memory.lifecycle.locks import customer_locked
from memory.lifecycle.write import record_event
from memory.llm.embeddings import embed_here
from memory.models import Answer, Customer, Memory
from memory.speech import acts, hers
from memory.types import Category, MemoryType, Said, ShareVerdict, Status, Transcript

from . import her_own
from .answers import add_answer, revise_answer
from .her_own import STAFF_ANSWER
from .votes import confirm_wording

LONGEST_TITLE = 300
NO_TITLE = "(without a question)"


def share_verdict(
    parts: Sequence[str],
    *,
    title: str,
    customer_id: int | None,
    now: datetime,
    timezone: str = "UTC",
    said: Sequence[str] = (),
    asked: str = "",
) -> ShareVerdict:
    """Return who may see these words, with the reason: the preselection of the keeping step.

    `said`: her own messages, whose numbers must reach nobody else. `asked`: what she wrote just
    before these words.
    """
    return _judge(
        parts,
        title=title,
        details=details_of(customer_id, said=said, now=now),
        now=now,
        timezone=timezone,
        asked=asked,
    )


def _judge(
    parts: Sequence[str],
    *,
    title: str,
    details: share.Details,
    now: datetime,
    timezone: str,
    asked: str,
) -> ShareVerdict:
    return share.verdict(
        parts,
        title=title,
        details=details,
        now=now,
        timezone=timezone or "UTC",
        asked=asked,
        told_of_her=_told_of_her,
    )


def _told_of_her(answer: str, asked: str) -> float:
    return hers.chance(answer, asked, embed=embed_here)


def details_of(customer_id: int | None, *, said: Sequence[str], now: datetime) -> share.Details:
    customer = Customer.objects.filter(pk=customer_id).first() if customer_id else None
    if customer is None:
        return share.Details(said=tuple(said))
    facts = Memory.objects.for_customer(customer.pk).active(now).exclude(kind=STAFF_ANSWER)
    known = (share.Details.telling(m.value, sensitive=m.sensitive) for m in facts)
    return share.Details(
        names=tuple(n for n in re.findall(r"\w+", customer.name) if n[:1].isupper()),
        facts=tuple(word for words in known for word in words),
        said=tuple(said),
    )


def capture_answer(
    *,
    title: str,
    parts: Sequence[str],
    scope: Literal["everyone", "customer", "none"],
    customer_id: int | None,
    now: datetime,
    staff_id: int | None = None,
    author_name: str = "",
    role: str = "",
    source_ref: str = "",
    explicit: bool = True,
    valid_until: datetime | None = None,
    review_on: date | None = None,
    owner_id: int | None = None,
    asked: str = "",
    verdict: ShareVerdict | None = None,
    pending: bool = False,
    replaces: int | None = None,
) -> Answer | Memory | None:
    """Keep a staff answer, letter for letter.

    `explicit`: a person chose scope, end and `pending`, and that stands; else `verdict` decides.
    `asked`: the customer's own wording, which from now on means this answer. `replaces`: an answer
    that these words take the place of.
    """
    if scope == "none":
        return None
    by = f"staff:{staff_id}" if staff_id is not None else "staff"
    if verdict is not None and not explicit:
        valid_until, pending = valid_until or verdict.valid_until, verdict.pending
    if scope == "customer":
        told = her_own.told(ref=source_ref, parts=parts, role=role, author=author_name, asked=asked)
        return _for_her(
            title, parts, customer_id=customer_id, by=by, now=now, told=told, until=valid_until
        )
    shared: _Told = {
        "title": title,
        "parts": parts,
        "by": by,
        "now": now,
        "staff_id": staff_id,
        "author_name": author_name,
        "role": role,
        "source_ref": source_ref,
        "share_reason": _why(verdict, pending=pending, explicit=explicit),
        "valid_until": valid_until,
        "review_on": review_on,
        "owner_id": owner_id,
    }
    if replaces is not None:
        answer = revise_answer(replaces, **shared)
    else:
        answer = add_answer(**shared, pending=pending, again=not explicit)
    if asked.strip() and answer.status == Status.ACTIVE:
        confirm_wording(answer.pk, asked=asked, now=now, staff_id=staff_id, customer_id=customer_id)
    return answer


class _Told(TypedDict):
    title: str
    parts: Sequence[str]
    by: str
    now: datetime
    staff_id: int | None
    author_name: str
    role: str
    source_ref: str
    share_reason: str
    valid_until: datetime | None
    review_on: date | None
    owner_id: int | None


def _why(verdict: ShareVerdict | None, *, pending: bool, explicit: bool) -> str:
    """Why it is shared: a choice is recorded as staff's, also where the rule said otherwise."""
    if verdict is None:
        return "chosen by staff"
    if not explicit:
        return verdict.reason
    as_proposed = verdict.choice == "everyone" and verdict.pending == pending
    return f"chosen by staff{':' if as_proposed else ', although:'} {verdict.reason}"


def _for_her(
    title: str,
    parts: Sequence[str],
    *,
    customer_id: int | None,
    by: str,
    now: datetime,
    told: list[dict[str, Any]],
    until: datetime | None,
) -> Memory:
    """Raises ValueError without a customer: words for one person need that person."""
    if customer_id is None:
        raise ValueError("kept for one customer, but for whom?")
    with customer_locked(customer_id):
        memory = Memory.objects.create(
            customer_id=customer_id,
            category=Category.ESCALATION_ANSWER,
            memory_type=MemoryType.EPISODIC,
            kind=STAFF_ANSWER,
            text="\n\n".join(parts),
            value=title[:LONGEST_TITLE],
            stated_at=now,
            recorded_at=now,
            confirmed_at=now,
            valid_until=until,
            confidence=1.0,
            importance=0.6,
            made_by=by,
            quotes=told,
        )
        record_event(
            "memory.created",
            at=now,
            actor=by,
            customer_id=customer_id,
            memory_id=memory.pk,
            reason="a staff answer for this customer alone",
        )
    return memory


def capture_staff_words(
    transcript: Transcript,
    *,
    customer_id: int,
    now: datetime,
    source_ref: str,
    authors: Mapping[int, int] | None = None,
) -> list[Answer | Memory]:
    """Judge each run of staff messages alone, where nobody chose in a keeping step.

    `authors`: staff's ids by the seq of what they wrote, where they are known.
    """
    kept: list[Answer | Memory] = []
    titles: set[str] = set()
    for run, question in _runs(transcript.messages):
        parts = [m.text for m in run if share.substance(m.text)]
        said = [m.text for m in transcript.by("customer") if m.seq < run[-1].seq]
        details = details_of(customer_id, said=said, now=run[-1].at)
        title = share.safe_title(question, parts, details=details, taken=titles)[:LONGEST_TITLE]
        verdict = _judge(
            parts,
            title=title,
            details=details,
            now=run[-1].at,
            timezone=transcript.timezone,
            asked=question,
        )
        if verdict.valid_until is not None and verdict.valid_until <= now:
            continue  # it was true for a time that is over
        if verdict.choice == "everyone" and not title:
            continue  # nothing that others may see says what it answers
        stored = capture_answer(
            title=(title if verdict.choice == "everyone" else title_of(question)) or NO_TITLE,
            parts=parts,
            scope=verdict.choice,
            customer_id=customer_id,
            now=run[-1].at,
            staff_id=(authors or {}).get(run[-1].seq),
            author_name=run[-1].name.split(",")[0].strip(),
            role=run[-1].name.partition(",")[2].strip(),
            source_ref=f"{source_ref}:{','.join(str(m.seq) for m in run)}",
            explicit=False,
            verdict=verdict,
        )
        if stored is not None:
            kept.append(stored)
            titles |= {title} if verdict.choice == "everyone" else set()
    return kept


def _runs(messages: Iterable[Said]) -> list[tuple[list[Said], str]]:
    """Runs of staff's own messages, each with what the customer had said just before."""
    runs: list[tuple[list[Said], str]] = []
    run: list[Said] = []
    heard: list[str] = []
    question = ""
    for m in messages:
        if m.sender == "staff" and not m.offered:
            if not run:
                question = " ".join(h for h in heard if not acts.small_talk(h)) or question
                runs.append((run := [m], question))
                heard = []
            else:
                run.append(m)
            continue
        run = []
        if m.sender == "customer":
            heard.append(m.text)
    return runs


def title_of(question: str) -> str:
    """The question in the customer's message: its first sentence that asks, or all of it."""
    sentences = [s.strip() for s in re.findall(r"[^.!?\n]+[.!?]*", question)]
    asking = next((s for s in sentences if s.endswith("?")), "")
    return (asking or question.strip())[:LONGEST_TITLE]
