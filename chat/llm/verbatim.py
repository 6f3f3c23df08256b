"""The engine without a key. It generates no text: stored answers, notes, the customer's own facts,
honest gaps, a person."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from memory.types import Category, Fact

from . import answering
from .base import (
    Ask,
    Forget,
    Known,
    Move,
    NeedsHuman,
    Noted,
    Recall,
    RunTool,
    Situation,
    SmallTalk,
    TextDelta,
    Topic,
    Usage,
    UseNote,
)
from .filling import with_tool_result
from .intents import Kind, asks_for_all, courtesy, standing_wish, usual
from .topics import NAMED

ENOUGH_SMALL_TALK = 0.5
CLEARLY_A_REPORT = 0.6
FOR_THE_DESK = {Kind.REQUEST, Kind.REPORT}  # somebody is to do something about it
ASKED = 0.30  # how surely a question names the topic that the customer is asked for
# … and that, with how surely it is about herself; surer where it does not read so at once.
HERS, CLEARLY_HERS = 1.0, 1.25
NEAR_ENOUGH = 0.15  # for a topic of which something is known
# A question that reads a little like one about oneself is one, if it names a topic clearly enough;
# and the sooner where something is known of that topic.
HARDLY_SELF, SELF_BY_TOPIC, KNOWN_OF_IT = 0.1, 1.0, 0.4
# … the sooner still where no answer is near: then it is her fact, or a person.
NOTHING_NEAR = 0.15
ALONE = 0.5  # … unless it is her own case that she asks about


class Verbatim:
    name = "offline"

    async def turn(
        self, situation: Situation, *, run_tool: RunTool | None, tools: Sequence[dict[str, Any]]
    ) -> AsyncIterator[TextDelta | Move | Usage]:
        moves, need = decide(situation)
        for move in moves:
            yield await with_tool_result(move, run_tool)
        if need is not None:
            raise need


def decide(s: Situation) -> tuple[list[Move], NeedsHuman | None]:
    """Return what to do, and whether a person must come too."""
    match s.reading.kind:
        case Kind.FORGET:
            return [_forget(s)], None
        case Kind.KNOWN:
            return [Known(s.standing)], None
        case Kind.PERSON if not _answers_our_question(s):
            return [], NeedsHuman("asked", wording="person")
    moves: list[Move] = []
    if s.told:
        moves.append(Noted(s.told, asked=s.asked_topic))
    if s.reading.distress and not (s.note is not None and s.note.hands_over):
        return moves, NeedsHuman("distress", wording="distress")
    if s.note is not None and s.reading.kind is not Kind.SMALL_TALK:
        return _by_note(s, moves)
    certain = s.answer.way == "deliver" and answering.likely(s) >= answering.CERTAIN
    if moves and certain and not s.asked_topic:
        given, need = answering.from_answers(s)  # whatever else it tells: that is what was asked
        return moves + given, need
    if moves and _for_the_desk(s) and not _standing_wish(s):
        wanted, need = _wanted(s)
        return moves + wanted, need
    if moves and not _asks_too(s):
        return moves, None
    rest, need = _settle(s)
    return moves + rest, need


def _for_the_desk(s: Situation) -> bool:
    """Something is to be done beside noting it; "I can only come after four" is noted, and done."""
    if s.reading.kind is Kind.REPORT:
        return s.reading.score(Kind.REPORT) >= CLEARLY_A_REPORT
    return s.reading.kind is Kind.REQUEST


def _standing_wish(s: Situation) -> bool:
    liked = all(c.get("category") == Category.PREFERENCE for c in s.told)
    return liked and standing_wish(s.text, (str(c["quote"]) for c in s.told))


def _settle(s: Situation) -> tuple[list[Move], NeedsHuman | None]:
    if s.reading.kind is Kind.SELF or _names_her_own(s):
        return _about_oneself(s)
    kind = s.reading.kind
    wanted = kind in FOR_THE_DESK
    enough = answering.LIKELY if kind is Kind.REPORT else answering.FOR_A_WISH
    if wanted and (usual(s.text) or not answering.worth_showing(s, enough)):
        return _wanted(s)
    if kind is Kind.SMALL_TALK and not answering.worth_showing(s, answering.CERTAIN):
        return [SmallTalk(courtesy(s.text))], None
    unasked = kind is Kind.STATEMENT and not s.reading.asks
    if unasked and not answering.worth_showing(s, answering.unasked(s)):
        return _remark(s)
    return answering.from_answers(s)


def _about_oneself(s: Situation) -> tuple[list[Move], NeedsHuman | None]:
    topic = _topic(s)
    if s.answer.way == "deliver" and answering.told_her(s):
        return answering.from_answers(s)
    if topic is not None:
        facts = s.standing_on(topic.key)
        if need := _in_doubt(s, topic, told=bool(facts)):
            return [], need
        if facts:
            return [Recall(facts)], None
        if _may_ask(s, topic) and not answering.worth_showing(s, answering.CERTAIN):
            return [Ask(topic)], None
    if s.answer.way != "deliver" and (both := _agreed(s)):
        return [Recall(both)], None
    if (
        s.answer.blocked
        or s.answer.way == "deliver"
        or answering.likely(s) >= answering.SOONER_THAN_NOBODY
    ):
        return answering.from_answers(s)
    return [], NeedsHuman("no_answer")


def _may_ask(s: Situation, topic: Topic) -> bool:
    named = s.named[0][1]
    sure = HERS if s.reading.kind is Kind.SELF else CLEARLY_HERS
    return topic.may_ask and named >= ASKED and named + s.reading.score(Kind.SELF) >= sure


def _names_her_own(s: Situation) -> bool:
    if s.reading.kind not in {Kind.QUESTION, Kind.PERSONAL} or not s.named:
        return False
    likely, (topic, named) = s.reading.score(Kind.SELF), s.named[0]
    known = bool(s.standing_on(topic))
    alone = known and s.answer.way == "gap" and s.reading.score(Kind.PERSONAL) < ALONE
    if likely < HARDLY_SELF and not alone:
        return False
    return likely + named + KNOWN_OF_IT * known + NOTHING_NEAR * alone >= SELF_BY_TOPIC


def _in_doubt(s: Situation, topic: Topic, *, told: bool) -> NeedsHuman | None:
    """A person, where what is stored may be so no longer. `told`: this conversation says it."""
    if topic.key in s.withheld.disputed:
        return NeedsHuman("conflict", wording="personal", detail=topic.label)
    if topic.key in s.withheld.unread and not told:
        return NeedsHuman("unread", wording="unread", detail=topic.label)
    return None


def _agreed(s: Situation) -> tuple[Fact, ...]:
    """Return what recall found first, if of all that is known the question names it best, too."""
    found = s.recalled.facts[0].topic if s.recalled.facts else None
    for topic, named in s.named:
        if facts := s.standing_on(topic):
            return facts if topic == found and named >= NEAR_ENOUGH else ()
    return ()


def _wanted(s: Situation) -> tuple[list[Move], NeedsHuman | None]:
    """Something is to be done: the desk gets it, with how the customer likes it."""
    topic = _topic(s) if usual(s.text) else None
    facts = s.standing_on(topic.key) if topic else s.recalled.facts
    moves: list[Move] = [Recall(facts)] if topic and facts else []
    return moves, NeedsHuman("request", wording="request", request=_request(s, facts))


def _by_note(s: Situation, moves: list[Move]) -> tuple[list[Move], NeedsHuman | None]:
    note = s.note
    if note is None:
        return moves, None
    if not note.usable:
        request = _request(s, s.recalled.facts) | {"note": note.title}
        return moves, NeedsHuman("request", wording="request", detail=note.title, request=request)
    facts = s.standing_on(note.topic) if note.topic else ()
    if note.topic and not facts:
        topic = s.topic(note.topic)
        if topic is not None and (need := _in_doubt(s, topic, told=False)):
            need.request = _request(s, s.recalled.facts) | {"note": note.title}
            return moves, need
        if topic is not None and topic.may_ask:
            return [*moves, Ask(topic)], None
    others = tuple(f for f in s.recalled.facts if f not in facts)
    moves.append(UseNote(note, (*facts, *others)))
    if not note.hands_over:
        return moves, None
    request = _request(s, (*facts, *others)) | {"note": note.title, "topic": note.topic or ""}
    return moves, NeedsHuman("request", wording="", detail=note.title, request=request)


def _remark(s: Situation) -> tuple[list[Move], NeedsHuman | None]:
    """Something is said that is neither noted nor asked: a pleasantry, or for a person."""
    light, told = s.reading.score(Kind.SMALL_TALK), s.reading.score(Kind.STATEMENT)
    if light + told >= ENOUGH_SMALL_TALK and light >= s.reading.score(Kind.REPORT):
        return [SmallTalk(courtesy(s.text))], None
    if answering.likely(s) >= answering.SOONER_THAN_NOBODY:
        return answering.from_answers(s)
    return [], NeedsHuman("unsure", wording="unsure")


def _forget(s: Situation) -> Move:
    if asks_for_all(s.text):
        return Forget(s.text, everything=True)
    return Forget(s.text, topic=_meant(s))


def _meant(s: Situation) -> str:
    """Return the topic to forget: of what is known, the one that the words come nearest to."""
    held = {f.topic for f in s.standing}
    if s.pointed_at and s.pointed_at in held:
        return s.pointed_at
    named = [(key, score) for key, score in s.named if key in held]
    if named and named[0][1] >= NEAR_ENOUGH:
        return named[0][0]
    topic = _topic(s)
    return topic.key if topic else ""


def _topic(s: Situation) -> Topic | None:
    if not s.named or s.named[0][1] < NAMED:
        return None
    return s.topic(s.named[0][0])


def _asks_too(s: Situation) -> bool:
    return s.reading.asks and not s.asked_topic


def _answers_our_question(s: Situation) -> bool:
    return bool(s.asked_topic and s.told)


def _request(s: Situation, facts: Iterable[Fact]) -> dict[str, Any]:
    """`topic` and `sensitive` are for the desk, which hides by them: a label may be renamed."""
    told = [
        {"label": f.label, "text": f.text, "topic": f.topic or "", "sensitive": f.sensitive}
        for f in facts
    ]
    return {"text": s.text, "facts": told}
