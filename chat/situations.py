"""What a turn may use: the unanswered words, what is known, what was answered before.

One embedding per message serves all of it; what the message does not need is not looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from time import perf_counter
from typing import TypeVar

from chat import conversations, facts, listening
from chat.llm import embedding, intents, language, topics
from chat.llm.base import Line, Situation, Topic
from chat.llm.intents import Kind
from chat.models import Conversation, Message
from chat.past import Past
from chat.tools.toolbox import Toolbox
from memory import services
from memory.prepared import Prepared, argument
from memory.types import AnswerFor, Fact, GateResult, Withheld

T = TypeVar("T")

BEFORE = 6  # earlier rows that a message is read with
PRECEDENTS = 12  # wordings of an answer that are looked at
LOG = 60  # rows read for that: her last, the replies before them, and notices between
NEEDS_ANSWER = {
    Kind.QUESTION,
    Kind.PERSONAL,
    Kind.REQUEST,
    Kind.REPORT,
    Kind.SELF,
    Kind.STATEMENT,
    Kind.SMALL_TALK,
}
# Also whatever a note may answer: it would ask for what is known.
NEEDS_FACTS = (NEEDS_ANSWER - {Kind.SMALL_TALK}) | {Kind.KNOWN, Kind.FORGET}
NEEDS_TOPICS = {Kind.SELF, Kind.REQUEST, Kind.QUESTION, Kind.PERSONAL, Kind.FORGET}


@dataclass(slots=True)
class Asked:
    """The customer's words that are still unanswered, and what was gathered for them."""

    conversation: Conversation
    messages: list[Message]
    situation: Situation
    milliseconds: dict[str, float] = field(default_factory=dict)
    past: Past | None = None
    tools: Toolbox | None = None
    spent: int = 0  # tokens of this conversation so far
    guidance_version: int = 0

    @property
    def first(self) -> Message:
        return self.messages[0]

    @property
    def text(self) -> str:
        return "\n".join(m.text for m in self.messages)


def gather(conversation_id: int, *, up_to: int, now: datetime) -> Asked | None:
    """Read everything that a reply to the rows up to seq `up_to` may use.

    None: the customer has said more since.
    """
    (conversation,) = _CONVERSATION.instances(pk=conversation_id)
    log = _log(conversation)
    if any(m.sender == Message.Sender.CUSTOMER and m.seq > up_to for m in log):
        return None
    messages = _unanswered(log, conversation, up_to=up_to)
    asked = Asked(conversation, messages, Situation("", intents.Reading(Kind.QUESTION, "")))
    before = [m for m in log if m.seq < messages[0].seq and m.kind != Message.Kind.STATE]
    asked.situation = _situation(asked, before[-BEFORE:], now)
    return asked


def _situation(asked: Asked, before: list[Message], now: datetime) -> Situation:
    """What the words are for, and what is known of her for them. `before`: the rows before them."""
    conversation, step = asked.conversation, _Step(asked.milliseconds)
    text, embed = services.legible(asked.text), embedding.embed_one
    in_english = language.english(text)
    reading = step("read", lambda: intents.read(text, embed=embed, english=in_english))
    needs_facts = reading.kind in NEEDS_FACTS
    told = step(
        "listen", lambda: listening.told(conversation, asked.messages, before, reading, now=now)
    )
    known = facts.topics()
    naming = _naming_words(in_english, before, reading, known)
    hers = services.Hers(conversation.customer_id, now=now, message=text, words=naming)
    working = [*conversation.working_memory, *told]
    said_before = [services.legible(m.text) for m in before]
    past = Past(text, said_before, hers, working, conversation.verified, needs_facts)
    asked.past, recalled = past, step("recall", past.look)
    at, standing = recalled.at, tuple[Fact, ...]()
    if needs_facts:
        at = at or step("withheld", lambda: hers.at)
        standing = step("known", lambda: facts.standing(conversation, told, now=now, hers=hers))
    asked.guidance_version, guidance = services.instructions("guidance")
    return Situation(
        text=text,
        reading=reading,
        before=tuple(Line(m.sender, said) for m, said in zip(before, said_before, strict=True)),
        asked_topic=conversation.asked_topic,
        told=tuple(told),
        topics=known,
        named=step("topics", lambda: _named(naming, known, standing)),
        pointed_at=_pointed_at(in_english, before, reading, known, standing),
        recalled=recalled,
        standing=standing,
        withheld=at or Withheld(),
        verified=conversation.verified,
        business=conversations.business().name,
        guidance=guidance,
    )


def look_back(asked: Asked, gate: GateResult) -> None:
    """Recall after all, if that is what a model said where the cheap gate was in doubt."""
    if asked.past is None:
        return
    past, step = asked.past, _Step(asked.milliseconds)
    recalled = step("recall", lambda: past.recall(gate))
    withheld = recalled.at or asked.situation.withheld
    asked.situation = replace(asked.situation, recalled=recalled, withheld=withheld)


def look_up(asked: Asked, *, now: datetime) -> Situation:
    """Add stored answers and notes, for what still needs one.

    Writes a row for each question asked.
    """
    s, step = asked.situation, _Step(asked.milliseconds)
    if s.reading.kind not in NEEDS_ANSWER or intents.small_talk_alone(s.text):
        return s
    if s.told and not s.reading.asks and s.reading.kind in {Kind.STATEMENT, Kind.SMALL_TALK}:
        return s
    before = [line.text for line in s.before]
    customer = asked.conversation.customer_id
    note = None
    if s.reading.kind is not Kind.SMALL_TALK:
        # Also what was told a minute ago in this very conversation.
        known = {f.topic for f in s.standing if f.topic}
        note = step(
            "note",
            lambda: services.note_for(
                s.text, customer_id=customer, now=now, before=before, known=known
            ),
        )
    answer = AnswerFor("gap", reason="a note covers it")
    if note is None:
        answer = step("answers", lambda: _answer(asked, before, now))
    return replace(s, note=note, answer=answer, precedent=precedent(answer, s.reading.kind))


def precedent(answer: AnswerFor, kind: Kind) -> intents.Reading | None:
    """How what staff gave the best answer to reads: of its wordings the one that is of this kind.

    Of each score the highest: one that read like her own case and got it is a precedent.
    """
    if answer.way == "gap" or not answer.candidates:
        return None
    best = answer.candidates[0]
    wordings = best.wordings[:PRECEDENTS] or (best.wording,)
    read = [_read(w) for w in wordings]
    alike = next((r for r in read if r.kind is kind), read[0])
    scores = {k: max(r.scores.get(k, 0.0) for r in read) for k in alike.scores}
    return replace(alike, scores=scores)


@lru_cache(maxsize=4096)  # the same words read the same, whoever asks
def _read(wording: str) -> intents.Reading:
    return intents.read(wording, embed=embedding.embed_one)


def unanswered(conversation: Conversation, *, up_to: int) -> list[Message]:
    """Return the customer's messages that no row has answered, up to seq `up_to`; one at least."""
    return _unanswered(_log(conversation), conversation, up_to=up_to)


def _log(conversation: Conversation) -> list[Message]:
    """The last rows since the bot has the conversation, oldest first."""
    rows = _NEWEST.instances(conversation=conversation.pk, since=conversation.bot_since_seq)
    return rows[::-1]


_CONVERSATION = Prepared(lambda: Conversation.objects.filter(pk=argument("pk")))
_NEWEST = Prepared(
    lambda: Message.objects.filter(
        conversation_id=argument("conversation"), seq__gt=argument("since")
    ).order_by("-seq")[:LOG]
)


def _unanswered(log: list[Message], conversation: Conversation, *, up_to: int) -> list[Message]:
    rows: list[Message] = []
    for m in reversed(log):
        if m.seq > up_to or m.kind == Message.Kind.STATE:
            continue
        if m.sender != Message.Sender.CUSTOMER or len(rows) == BEFORE:
            break
        rows.insert(0, m)
    # What was nothing but a secret asks for nothing, unless there is nothing else.
    asking = [m for m in rows if conversations.says_more(m.text)]
    return asking or rows or list(conversation.messages.filter(seq=up_to))


def _naming_words(
    text: str, before: list[Message], reading: intents.Reading, known: tuple[Topic, ...]
) -> str:
    """Return what a topic may be named by, or ""."""
    if reading.kind not in NEEDS_TOPICS:
        return ""
    words = intents.asking_part(text) if reading.kind is not Kind.FORGET else text
    if before and intents.leans_back(words) and not _names_one(words, known):
        words = f"{before[-1].text} {words}"
    return words


def _names_one(words: str, known: tuple[Topic, ...]) -> bool:
    """Plain words may name a topic, too: "when do I like to come?" asks for times, whatever the
    reply before it was about."""
    found = _named(words, known, ())
    return bool(found) and found[0][1] >= topics.NAMED


def _named(
    words: str, known: tuple[Topic, ...], standing: tuple[Fact, ...]
) -> tuple[tuple[str, float], ...]:
    if not words:
        return ()
    return tuple(topics.named(words, known, embed=embedding.embed_one, facts=standing)[:6])


def _pointed_at(
    text: str,
    before: list[Message],
    reading: intents.Reading,
    known: tuple[Topic, ...],
    known_facts: tuple[Fact, ...],
) -> str:
    """Return the topic that "the second one" of the last reply's list speaks of."""
    if reading.kind is not Kind.FORGET or not before:
        return ""
    item = intents.pointed_at(text, before[-1].text)
    held = tuple(t for t in known if any(f.topic == t.key for f in known_facts))
    told = [replace(f, near=None) for f in known_facts]  # near or far to other words than `item`
    found = topics.named(item, held, embed=embedding.embed_one, facts=told) if item else []
    return found[0][0] if found else ""


def _answer(asked: Asked, before: list[str], now: datetime) -> AnswerFor:
    s = asked.situation
    asking = intents.asking_part(s.text)
    # "Do you take it?" asks nothing without what was told before it.
    question = asking if s.told and not intents.leans_back(asking) else s.text
    # In another language the words themselves are near to no title; their glosses may be.
    glossed = language.english(question)
    return services.answer_for(
        question,
        glossed=glossed if glossed != question else "",
        customer_id=asked.conversation.customer_id,
        now=now,
        before=before,
        ref=f"message:{asked.messages[-1].pk}",
        chat=lambda: conversations.transcript_of(asked.conversation, up_to=asked.messages[-1].seq),
    )


class _Step:
    """Runs a step and keeps how long it took."""

    def __init__(self, milliseconds: dict[str, float]) -> None:
        self.milliseconds = milliseconds

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        start = perf_counter()
        try:
            return work()
        finally:
            self.milliseconds[name] = round((perf_counter() - start) * 1000, 2)
