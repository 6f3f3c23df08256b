"""Candidates out of placed clauses: spans that belong together, their value, sentence and time."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from memory.speech import acts, clauses, kinds, times
from memory.types import Candidate, Category, Intent, TopicSpec

from . import evidence, replies, values
from .runs import Run
from .understanding import SURE, Reading, Understanding

AGREED = 0.3
SURE_OF_A_PART = 0.7  # that a fragment states something of its own beside a strong clause
OF_ADDRESSES = 0.3  # share of a topic's examples that name a street
BY_CONSENT = 0.6  # how certain what she agreed to is at least, once its topic is known
_MAY_HANG = ("", "says nothing", "told of the past", "a part of what stands beside it")
_CHANGES = re.compile(
    r"\b(?:now|instead|from now on|from here on|these days|switched|changed|moved|no longer|any ?more|back to|new|gone|"
    r"upgraded|downgraded|since|as of|it is|make that|went)\b"
)
# "…, it brings me out in a rash", "…, comes up in welts", "…, 2018": of the thing just named.
_OF_THE_SAME = re.compile(
    r"\d{1,4}\W*$|(?:it|they|that|this|which|those|these)(?:'s|'re|'ll)?\b|(?!is\b|has\b|was\b|does\b|yes\b|this\b|always\b)[a-z]+(?:[^s\W]s|sses|shes|ches) (?!and\b|or\b|please\b|only\b)\w+"
)
# "What I told you about …" names what comes after.
_TOLD_ABOUT = re.compile(
    r"^(?:(?:what|anything|all)(?: that)? (?:i|we|you)\b[^,.;!?]*?|the (?:notes?|bit|part|thing|stuff) )\babout "
)
# Capitals and numbers alone: of what they are the number is not said.
_LINE = r"[A-ZÀ-Ý\d][\w'’/-]*"
_LINE_OF_AN_ADDRESS = re.compile(rf"{_LINE}(?:,? {_LINE}){{0,3}}(?: (?:now|these days))?\W*$")
_SOMEBODY = re.compile(r"\b(?:her|him|them)\b")
_ADDS = re.compile(
    r"\b(?:also|too|as well|plus|another|additionally|besides|except|but not|just not|for (?:the )?\w+s\b)"
)


def spans_of(readings: Sequence[Reading], u: Understanding) -> list[list[Reading]]:
    """Clauses that state one thing together: the same topic, or what hangs on it."""
    for i, r in enumerate(readings):
        _yield_to_neighbour(
            r, [k for k in readings if k is not r], readings[i - 1] if i else None, u
        )
    spans: list[list[Reading]] = []
    for i, r in enumerate(readings):
        if r.doubt or not r.clear or (spans and _mere_adverb(spans[-1], r)):
            if spans and r.doubt in _MAY_HANG and _hangs_on(spans[-1], r):
                spans[-1].append(r)
            continue
        if spans and _continues(spans[-1], r, u):
            spans[-1].append(r)
        elif i and _means_who_was_named(r, readings[i - 1]):
            r.chances = np.maximum(r.chances, readings[i - 1].chances)
            spans.append([readings[i - 1], r])
        else:
            spans.append([r])
    return spans


def _means_who_was_named(r: Reading, before: Reading) -> bool:
    """ "Kim did that so well. I'd like her from now on": the name stands in the story before."""
    return (
        before.doubt == "told of the past"
        and bool(_SOMEBODY.search(acts.plain(r.text)))
        and not _names_somebody(r.clause.text)
        and _names_somebody(before.clause.text)
        and before.best == r.best
        and before.chance >= SURE
    )


def _names_somebody(text: str) -> bool:
    common = kinds.stop() | kinds.frame()
    return any(acts.plain(w) not in common for w in re.findall(r"\b[A-ZÀ-Ý][a-zà-ÿ]+", text))


def _only_a_name(text: str) -> bool:
    return bool(re.fullmatch(r"[A-ZÀ-Ý][\w'-]+(?: [A-ZÀ-Ý][\w'-]+){0,2}\W*", text.strip()))


def _yield_to_neighbour(
    r: Reading, others: Sequence[Reading], before: Reading | None, u: Understanding
) -> None:
    """A weak guess beside a strong one in the same sentence is a part or a reason of that one.

    So is a line of an address after the one before it, whatever it looks like.
    """
    if before is not None and not r.doubt and _goes_on_with_an_address(r, before, u):
        r.place(before.best, before.chance)
        return
    if r.doubt or r.borrowed or not r.clear:
        return
    strong = [
        k
        for k in others
        if k.clause.sentence == r.clause.sentence
        and not k.doubt
        and k.best != r.best
        and k.chance >= 0.7
        and (k.clause.full or not r.clause.full)
    ]
    if _holds_its_own_code(r, u):
        return
    if not strong or r.chance >= (SURE if r.clause.full else SURE_OF_A_PART):
        return
    listed = before in strong and not r.clause.full and not u.specs[before.best].single_valued
    if listed and before is not None:
        r.place(before.best, before.chance * 0.9)
    else:
        r.doubt = "a part of what stands beside it" if not r.clause.full else "a reason"


def _goes_on_with_an_address(r: Reading, before: Reading, u: Understanding) -> bool:
    """ "3 Mill Lane, Ballina, F26 XK72": a town or a code after a street, named as nothing else."""
    if before.doubt or not before.clear or before.clause.sentence != r.clause.sentence:
        return False
    if u.known.kinds[before.best].get("street", 0.0) < OF_ADDRESSES or r.clause.full:
        return False
    if r.clear and r.best != before.best and not values.coded(u.known.kinds[r.best]):
        return False
    return bool(_LINE_OF_AN_ADDRESS.match(r.clause.text)) and not _holds_its_own_code(r, u)


def _holds_its_own_code(r: Reading, u: Understanding) -> bool:
    """A number of a topic of numbers is no part of what stands beside it, if it reads like one."""
    if not (values.coded(u.known.kinds[r.best]) and "code" in kinds.of(r.text)):
        return False
    named = kinds.stems(r.text) & u.known.words[r.best]  # "…, number HP/30-7741-K"
    return r.clause.full or bool(named) or evidence.written_alike(u.known, r.text) == r.best


def _mere_adverb(span: list[Reading], r: Reading) -> bool:
    """ "…, every evening after the news": when or where, of what was just said."""
    last = span[-1].clause
    return (
        r.clause.sentence == last.sentence
        and last.full
        and r.clause.adverbial
        and not r.clause.full
        and not acts.NEGATION.search(acts.plain(r.text))
    )


def _hangs_on(span: list[Reading], r: Reading) -> bool:
    """A fragment or relative clause right after: a part of what was said."""
    last = span[-1].clause
    return r.clause.sentence == last.sentence and (
        not r.clause.full or r.clause.joint in ("which", "who", "where", "when")
    )


def _continues(span: list[Reading], r: Reading, u: Understanding) -> bool:
    if _only_a_name(r.clause.text) and r.best == span[0].best:
        # "We have a baby girl! Juniper."
        next_to_it = r.clause.sentence - span[-1].clause.sentence <= 1
        if next_to_it and not any(_names_somebody(k.clause.text) for k in span):
            return True
    if r.clause.sentence != span[-1].clause.sentence or r.best != span[0].best:
        return False
    if u.specs[r.best].single_valued or (r.clause.adverbial and not r.clause.full):
        return True
    told = acts.opened(r.text)
    return r.clause.joint not in ("and", "&", "plus") and bool(_OF_THE_SAME.match(told))


def candidate(
    run: Run, span: list[Reading], made: Sequence[Candidate], u: Understanding, *, corrects: bool
) -> Candidate | None:
    """Return what a span says, or None where it holds no value of the topic."""
    main = max((r for r in span if not r.doubt), key=lambda r: r.chance)
    topic, shares = u.specs[main.best], u.known.kinds[main.best]
    quote = run.text[span[0].clause.start : span[-1].clause.end]
    message = run.message_at(span[0].clause.start)
    told = times.begun(main.clause.text, said_at=message.at, timezone=u.timezone)
    value = (
        evidence.address_in(told) or evidence.address_in(quote)
        if evidence.all_hold_an_address(topic)
        else values.value_of(told, topic, u.known.words[main.best], shares)
    )
    if not value and values.coded(shares):
        value = values.code_in(quote, shares, u.known.words[main.best])
    folded = acts.plain(main.text)
    intent = Intent.RETRACT if _takes_back(folded, topic) else Intent.STATE
    if not values.tells(value):
        return None
    sentence = " ".join(
        c.text for c in clauses.split(run.text) if c.sentence == main.clause.sentence
    )
    holds = times.holds(sentence, said_at=message.at, timezone=u.timezone)
    negated = topic.category is Category.PREFERENCE and bool(acts.NEGATION.search(folded))
    beside = any(
        c.topic == topic.key and c.intent is Intent.STATE and not _is_over(c) for c in made
    )
    adds = not corrects and (
        (beside and not _CHANGES.search(folded)) or _adds(folded, topic, shares, negated=negated)
    )
    return Candidate(
        category=topic.category,
        topic=topic.key,
        value=value,
        text=values.sentence(
            quote.replace("\n", " "), topic, alone=main.clause.full and not main.borrowed
        ),
        quote=quote,
        seq=message.seq,
        stated_at=message.at,
        intent=intent,
        negated=negated,
        adds=intent is Intent.STATE and adds,
        valid_from=holds.since.at if holds.since else None,
        valid_until=holds.until.at if holds.until and intent is Intent.STATE else None,
        confidence=round(min(1.0, main.chance), 3),
        importance=0.8 if topic.permanent or topic.sensitive else 0.5,
    )


def _takes_back(folded: str, topic: TopicSpec) -> bool:
    """A fact that is over is taken back; a wish that is over is a wish the other way."""
    if topic.category is Category.PREFERENCE:
        return False
    return _takes_back_words(folded)


def _adds(folded: str, topic: TopicSpec, shares: dict[str, float], *, negated: bool) -> bool:
    """Does it stand beside what was said before, rather than in its place?"""
    if _CHANGES.search(folded):
        return False
    described = topic.category is Category.CONFIRMED_FACT and not (
        values.coded(shares) or shares.get("name", 0.0) >= 0.4
    )
    return negated or described or bool(_ADDS.search(folded))


def only_last_words(made: Sequence[Candidate], u: Understanding) -> list[Candidate]:
    """Of a one-valued topic the old value need not be taken back where the new one is said."""
    stated = {c.topic for c in made if c.intent is Intent.STATE and not _is_over(c)}
    single = {t.key for t in u.specs if t.single_valued}
    over = (c for c in made if c.intent is Intent.RETRACT or _is_over(c))
    needless = {id(c) for c in over if c.topic in stated & single}
    return [c for c in made if id(c) not in needless]


def _is_over(c: Candidate) -> bool:
    """ "I don't … any more": says what holds no longer, and not what holds."""
    folded = acts.plain(c.quote)
    return _takes_back_words(folded) and c.intent is Intent.STATE


def _takes_back_words(folded: str) -> bool:
    return bool(values.NO_LONGER.search(folded)) and not re.search(
        r"\b(?:now|instead|anything)\b", folded
    )


def _what_to_forget(text: str) -> str:
    """ "Please delete my chassis number, I don't want it there": my chassis number."""
    found = acts.FORGET.search(acts.plain(text)) or acts.NOT_KEEP.search(acts.plain(text))
    named = text[found.end() :].strip() if found else text
    named = _TOLD_ABOUT.sub("", named)
    return re.split(r"[,.;!?]| (?:please|pls|from|off)\b", named)[0] or text


def forgetting(run: Run, readings: Sequence[Reading], u: Understanding) -> list[Candidate]:
    """Requests to forget: a topic's, or (no topic, no value) everything."""
    made: list[Candidate] = []
    for r in readings:
        if not acts.wants_forgotten(r.text):
            continue
        message = run.message_at(r.clause.start)
        topic = None
        if not acts.wants_all_forgotten(r.text):
            (vector,) = u.embed([_what_to_forget(r.text)])
            near = np.maximum(u.known.labels @ vector, u.known.descriptions @ vector)
            topic = u.specs[int(np.argmax(near))]
        made.append(
            Candidate(
                category=topic.category if topic else Category.CONFIRMED_FACT,
                topic=topic.key if topic else None,
                value="",
                text=r.clause.text,
                quote=r.clause.text,
                seq=message.seq,
                stated_at=message.at,
                intent=Intent.FORGET,
                confidence=0.9,
            )
        )
    return made


def agreement(run: Run, question: replies.Question | None, u: Understanding) -> list[Candidate]:
    """ "Would you prefer e-mail?" "Yes please": her wish, in our words, by her consent."""
    if question is None or not question.lasting:
        return []
    first = run.messages[0]
    offer = replies.accepted(first.text, question.text)
    if not offer:
        return []
    chances = np.maximum(u.chances(offer, 0.9), u.chances(question.text.rstrip("?"), 0.9))
    best = int(np.argmax(chances))
    if chances[best] < AGREED:
        return []
    topic = u.specs[best]
    value = values.value_of(offer, topic, u.known.words[best], u.known.kinds[best]) or offer
    return [
        Candidate(
            category=topic.category,
            topic=topic.key,
            value=value,
            text=f"{topic.label}: {offer}",
            quote=first.text.strip(),
            seq=first.seq,
            stated_at=first.at,
            confidence=round(max(float(chances[best]), BY_CONSENT), 3),
        )
    ]
