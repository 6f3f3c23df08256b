"""Each clause of a run, understood: in English words, with its chances for every topic."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property, partial

import numpy as np

from memory.speech import acts, clauses, kinds, language, times
from memory.speech.classifier import inputs, shipped
from memory.speech.clauses import Clause
from memory.types import TopicSpec

from . import evidence, fitted, learned, replies, rerank, site, standing, topics
from .rerank import Beside, InView
from .runs import Run
from .topics import Array, Embed, Read

SURE = 0.5
CLEAR = 0.3  # enough where it reads like a statement, or no other topic comes near
AHEAD = 2.0  # times the next topic's chance
HEARD = 0.7  # how much the fitted encoders say beside likeness, half of it each
CERTAIN = 0.75  # of trades left out, nearly all that is placed so surely was told in spite of these
_YIELDING = ("told of the past", "somebody else's")  # "asked" too, if nothing else is
_OF_THEM = re.compile(r"(?:he|she|they|his|hers?|theirs?|has|is|was|had)\b")
_TO_THEM = re.compile(r"\b(?:her|him|them)\W*$")


@cache
def pairs() -> topics.Pairs:
    return topics.load()


@dataclass
class Reading:
    """One clause, understood. `borrowed`: its topic came from the words before it."""

    clause: Clause
    text: str  # in English words where it could be glossed
    doubt: str
    weigh: Callable[[], Array]  # asked once, if at all
    hear: Callable[[], Array]  # what the fitted encoders say alone
    statement: float
    borrowed: bool = False

    @cached_property
    def chances(self) -> Array:
        """For every topic, how likely the clause states something of it."""
        return self.weigh()

    @property
    def best(self) -> int:
        return int(np.argmax(self.chances))

    @property
    def chance(self) -> float:
        return float(self.chances.max())

    @property
    def certain(self) -> bool:
        """Is it so sure to be told that the form of the words tells less?"""
        return self.chance >= CERTAIN or float(self.hear()[self.best]) >= CERTAIN

    @property
    def clear(self) -> bool:
        """Is it clear which topic this clause states something of?"""
        if self.chance >= SURE:
            return True
        second = float(np.sort(self.chances)[-2]) if len(self.chances) > 1 else 0.0
        sure = self.statement >= SURE or self.chance >= AHEAD * second
        return self.chance >= CLEAR and sure

    def place(self, topic: int, chance: float) -> None:
        self.chances = np.zeros_like(self.chances)
        self.chances[topic] = chance
        self.borrowed = True


@dataclass(frozen=True)
class Understanding:
    """What is needed to understand clauses of one business's customers."""

    known: topics.Index
    embed: Embed
    reader: Read
    beside: Beside
    timezone: str

    @property
    def specs(self) -> tuple[TopicSpec, ...]:
        return self.known.topics

    def chances(
        self, text: str, statement: float, marks: Array | None = None, *, start: int = 0
    ) -> Array:
        """Which topic it would be. `marks`: of the clause; None where it is taken to state.

        `start`: where in `text` the clause begins, if it stands after what it leans on.
        """
        view = InView(text, ((start, len(text)),), 0, self.reader, self.beside)
        return self._chances(text, statement, marks, view)

    def _chances(self, text: str, statement: float, marks: Array | None, view: InView) -> Array:
        """By likeness to what the business wrote, and by what statements of many trades taught.

        The one judge knows names, which the others learnt to look past.
        """
        (views,) = topics.views_of([text], self.embed)
        rows = topics.features(self.known, text, views, statement)
        whole = topics.narrow(views.whole)
        among = learned.shipped().chances(self.known, rows, whole, marks)
        alike = topics.between(pairs().chance(rows), among)
        if marks is None:  # what is told to tell something: of what kind, likeness says as well
            taught = fitted.shipped().chances(self.known.encoded, view.vector, told=True)
            chances = topics.between(alike, taught)
        else:
            chances = topics.between(alike, self._heard(view), HEARD)
        return site.leaned(self.known, views, evidence.weighed(self.known, text, chances))

    def _heard(self, view: InView) -> Array:
        """What the fitted encoders say."""
        taught = fitted.shipped().chances(self.known.encoded, view.vector, told=False)
        return topics.between(taught, rerank.reranked(self.specs, taught, view))

    def read(self, run: Run, question: replies.Question | None) -> list[Reading]:
        cut = clauses.split(run.text)
        code = language.detect(run.text)
        texts = [bare(language.gloss(c.text, code), run.messages[0].at, self.timezone) for c in cut]
        before = [run.before.text] if run.before else []
        together, places = clauses.joined(cut, texts)
        together, at = fitted.after(before[0] if before else "", together)
        places = [(start + at, end + at) for start, end in places]
        first = InView(together, tuple(places), 0, cache(self.reader), self.beside)
        readings = []
        for i, (c, text, whole) in enumerate(zip(cut, texts, self.embed(texts), strict=True)):
            # What is imagined at the start of a sentence holds for the rest of it, not backwards.
            sentence = ", ".join(
                t
                for k, t in zip(cut, texts, strict=True)
                if k.sentence == c.sentence and k.start <= c.start
            )
            judge = partial(
                standing.doubt,
                c,
                text,
                sentence,
                asked=question.text
                if question and not question.lasting and not question.gap
                else "",
                offered_slots=bool(question and question.slots),
            )
            marks = inputs(np.asarray(whole, np.float32), text, before)
            statement = shipped()["states"].of(marks)
            view = replace(first, at=i)
            weigh = partial(self._chances, text, statement, marks, view)
            r = Reading(c, text, judge(), weigh, partial(self._heard, view), statement)
            if r.doubt == "asked" and r.chance >= CERTAIN:  # "could you always text me?"
                r.doubt = judge(though_asked=True)
            readings.append(r)
        self._third_parties(readings)
        for i, r in enumerate(readings):
            after = readings[i + 1] if i + 1 < len(readings) else None
            if r.doubt in _YIELDING and r.certain and not _leads_up(r, after):
                r.doubt = ""
        self._together(readings, before)
        if code not in ("en", *language.GLOSSED):
            for r in readings:
                r.doubt = r.doubt or "not understood"
        return readings

    def _together(self, readings: Sequence[Reading], before: Sequence[str]) -> None:
        """Where no clause of a sentence tells what it is about alone, all of it may."""
        for number in {r.clause.sentence for r in readings}:
            told = [r for r in readings if r.clause.sentence == number and not r.doubt]
            if len(told) < 2 or any(r.clear for r in told):
                continue
            text = ", ".join(r.text for r in told)
            marks = inputs(self.embed([text])[0], text, before)
            chances = self.chances(text, shipped()["states"].of(marks), marks)
            if chances.max() >= SURE:
                for r in told:
                    r.chances = chances

    def about_people(self, i: int) -> bool:
        """Do the topic's own examples speak of people or animals of hers?"""
        shares = self.known.kinds[i]
        examples = self.specs[i].examples
        told = sum(acts.of_others(e) for e in examples)
        return (
            (told > 0 and told * 2 >= len(examples))
            or shares.get("relation", 0.0) >= 0.3
            or shares.get("animal", 0.0) >= 0.3
        )

    def _third_parties(self, readings: list[Reading]) -> None:
        """Somebody else's fact stays out, unless the topic is about people of hers."""
        other = False
        before: Reading | None = None
        for r in readings:
            core = acts.opened(r.text)
            if acts.of_others(r.text):
                other = True
            elif acts.FIRST_PERSON.search(core) or not (
                _OF_THEM.match(core)
                or (
                    before and before.clause.sentence == r.clause.sentence and _TO_THEM.search(core)
                )
            ):
                other = False
            if other and not self.about_people(r.best) and not self._of_who_was_told(r, before):
                r.doubt = r.doubt or "somebody else's"
            before = r

    def _of_who_was_told(self, r: Reading, before: Reading | None) -> bool:
        """ "My dad comes along too, his name's Walter": of the one of hers who was just told of."""
        if before is None or before.clause.sentence != r.clause.sentence:
            return False
        if not acts.RELATIVE.search(acts.plain(before.text)):
            return False
        together = self.chances(f"{before.text}, {r.text}", max(before.statement, r.statement))
        best = int(np.argmax(together))
        if together[best] < SURE or not self.about_people(best):
            return False
        r.place(best, float(together[best]))
        return True


def _leads_up(r: Reading, after: Reading | None) -> bool:
    """ "Kim did that so well. I'd like her from now on": the one is why the other is wished."""
    if after is None or after.doubt or r.doubt != "told of the past":
        return False
    return after.best == r.best and after.chance >= SURE


def bare(text: str, said_at: datetime, timezone: str) -> str:
    """The clause without greetings, and without the words that say from or until when."""
    left = times.without(text, said_at=said_at, timezone=timezone)
    core = acts.OPENERS.match(acts.plain(left))
    left = left[core.end() :].strip(" ,") if core else left.strip(" ,")
    return left if re.search(r"\d", left) or kinds.stems(left) else text
