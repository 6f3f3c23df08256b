"""What of the stored answers comes of a question: the words, an offer, or a person. Pure."""

from __future__ import annotations

from . import patterns as p
from .base import Answer, Move, NeedsHuman, Offer, Situation
from .intents import Kind

# From here a question is about this customer's own case, for a person to judge: the surer the
# stored answer, the surer that must be.
PERSONAL, PERSONAL_IF_LIKELY = 0.7, 0.75
# … unless what staff answered for everyone reads personal too: so much, and half as much as hers.
ALIKE = 0.3
LIKELY = 0.38
CERTAIN = 0.93  # an answer this sure is given whatever the message reads like
CERTAIN_OF_HERS = 0.96  # … and this sure what reads like her own case
FOR_A_WISH = 0.165  # a title that is less likely than that is no help to who wants something done
# An answer this likely is offered though nothing seems to be asked; the sooner where staff gave it
# for everyone to what reads alike, and where else nothing would come but a person.
UNASKED, UNASKED_BEFORE, SOONER_THAN_NOBODY = 0.3, 0.12, 0.1
CLEARLY_SMALL_TALK = 0.6
MAYBE_SELF = 0.15  # "how many have I had?" reads like "how many can one have?": which, is asked


def worth_showing(s: Situation, enough: float) -> bool:
    """Nothing seems to be asked that an answer for everyone would do for; yet there is one.

    A less likely one will do where staff answered for everyone what reads alike.
    """
    small_talk = s.reading.score(Kind.SMALL_TALK) >= CLEARLY_SMALL_TALK
    before = LIKELY if small_talk else UNASKED_BEFORE
    return likely(s) >= (before if _answered_alike(s) else enough)


def unasked(s: Situation) -> float:
    """How likely it must be for what asks nothing. Who names a thing and nobody, asks about it."""
    return UNASKED if p.OF_ONES_OWN.search(s.text) else UNASKED_BEFORE


def _answered_alike(s: Situation) -> bool:
    return s.precedent is not None and s.precedent.kind is s.reading.kind


def likely(s: Situation) -> float:
    """How likely the best answer is; 0 where none is near enough."""
    return 0.0 if s.answer.way == "gap" else max((c.score for c in s.answer.candidates), default=0)


def from_answers(s: Situation) -> tuple[list[Move], NeedsHuman | None]:
    """A stored answer, an offer, or a person; what only a person can judge goes to one."""
    if s.answer.blocked:
        told = ", ".join(sorted({f.label for f in s.answer.blocked}))
        return [], NeedsHuman("personal", wording="personal", detail=told)
    if s.answer.way == "gap" or not s.answer.candidates:
        return [], NeedsHuman("no_answer", detail=s.answer.reason)
    if _for_a_person(s):
        return [], NeedsHuman("unsure", wording="personal", detail="for a person to judge")
    if s.answer.way == "deliver" and (likely(s) >= _certain(s) or _plain(s)):
        return [Answer(s.answer.candidates[0])], None
    return [Offer(s.answer.offerable)], None


def _for_a_person(s: Situation) -> bool:
    """It reads like her own case, and staff gave the answer to none that reads so for everyone."""
    if told_her(s):
        return False  # a person has judged it already
    hers = s.reading.score(Kind.PERSONAL)
    if s.precedent is not None and s.precedent.score(Kind.PERSONAL) >= max(ALIKE, hers / 2):
        return False
    cut = PERSONAL_IF_LIKELY if likely(s) >= LIKELY else PERSONAL
    return hers >= cut and likely(s) < CERTAIN


def told_her(s: Situation) -> bool:
    return bool(s.answer.candidates) and s.answer.candidates[0].memory_id is not None


def _plain(s: Situation) -> bool:
    """A question that anybody might ask: what reads like something else is offered, not given."""
    before = s.precedent.score(Kind.SELF) if s.precedent is not None else 0.0
    if s.reading.score(Kind.SELF) >= MAYBE_SELF > 2 * before:
        return False
    if s.reading.kind is Kind.PERSONAL:
        return False
    return _answered_alike(s) or s.reading.kind in {Kind.QUESTION, Kind.REQUEST, Kind.REPORT}


def _certain(s: Situation) -> float:
    hers = s.reading.kind is Kind.PERSONAL and not told_her(s)
    return CERTAIN_OF_HERS if hers else CERTAIN
