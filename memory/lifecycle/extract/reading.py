"""Reading a transcript run by run: which clauses become which candidates."""
# ruff: noqa: E501

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from memory.speech import acts, clauses, kinds, language, times
from memory.speech.classifier import Classifier, shipped
from memory.speech.clauses import Clause
from memory.types import Candidate, Category, Intent, Said, TopicSpec, Transcript

from . import replies, standing, topics, values
from .topics import Array, Embed

SURE = 0.5
CLEAR = 0.3  # enough where no other topic comes near, or where several cues of a statement agree
AHEAD = 2.0  # times the next topic's chance
TOLD_WHEN_ASKED = 0.12  # the topic is known from the question: little is needed
AGREED = 0.3


@cache
def pairs() -> topics.Pairs:
    return topics.load()


@dataclass
class Reading:
    """One clause, understood."""

    clause: Clause
    text: str  # in English words where it could be glossed
    doubt: str
    chances: Array
    statement: float
    borrowed: bool = False  # its topic came from the words before it
    taken: bool = False

    @property
    def best(self) -> int:
        return int(np.argmax(self.chances))

    @property
    def chance(self) -> float:
        return float(self.chances.max())


@dataclass(frozen=True)
class Run:
    """The customer's messages with nobody between, as one text; `marks` are where each begins."""

    messages: tuple[Said, ...]
    before: Said | None
    earlier: str  # her own last message before that
    text: str
    marks: tuple[int, ...]

    def message_at(self, offset: int) -> Said:
        return self.messages[max(i for i, m in enumerate(self.marks) if m <= offset)]


class Reader:
    def __init__(self, transcript: Transcript, specs: tuple[TopicSpec, ...], embed: Embed) -> None:
        self.transcript, self.specs, self.embed = transcript, specs, embed
        self.known = topics.index(specs, embed)
        self.says: Classifier = shipped()["states"]
        self.names = frozenset(
            part.casefold().strip(".,")
            for m in transcript.messages
            if m.sender == "staff"
            for part in m.name.split()
        )
        self.found: list[Candidate] = []

    def candidates(self) -> list[Candidate]:
        for run in self._runs():
            self.found += self._read(run)
        return self.found

    def _runs(self) -> list[Run]:
        runs: list[Run] = []
        current: list[Said] = []
        before: Said | None = None
        earlier = ""
        for m in (*self.transcript.messages, None):
            if m is not None and m.sender == "customer" and not m.offered:
                current.append(m)
                continue
            if current:
                marks = np.cumsum([0] + [len(c.text) + 1 for c in current[:-1]]).tolist()
                text = "\n".join(standing.own_words(c.text) for c in current)
                runs.append(Run(tuple(current), before, earlier, text, tuple(marks)))
                earlier = current[-1].text
                current = []
            before = m
        return runs

    def _read(self, run: Run) -> list[Candidate]:
        if any(standing.in_a_role(m.text, self.names) for m in run.messages):
            return []
        question = replies.asked_before(run.before)
        readings = self._understand(run, question)
        forgetting = self._forgetting(run, readings)
        if forgetting:
            return forgetting
        asked = self._asked_topic(run, question)
        agreed = self._agreement(run, question)
        if agreed:
            return agreed
        self._place(run, readings, question, asked)
        return self._collect(run, readings, asked)

    # --- understanding -----------------------------------------------------------------------

    def _understand(self, run: Run, question: replies.Question | None) -> list[Reading]:
        cut = clauses.split(run.text)
        code = language.detect(run.text)
        texts = [language.gloss(c.text, code) if code != "en" else c.text for c in cut]
        texts = [self._bare(t, run) for t in texts]
        vectors = list(self.embed(texts)) if texts else []
        contents = list(self.embed([kinds.content(t) for t in texts])) if texts else []
        before = [run.before.text] if run.before else []
        readings = []
        for c, text, vector, content in zip(cut, texts, vectors, contents, strict=True):
            # What is imagined at the start of a sentence holds for the rest of it, not backwards.
            sentence = ", ".join(
                t
                for k, t in zip(cut, texts, strict=True)
                if k.sentence == c.sentence and k.start <= c.start
            )
            statement = self.says.score(vector, text, before)
            row = topics.features(self.known, text, vector, content, statement)
            readings.append(
                Reading(
                    c,
                    text,
                    standing.doubt(
                        c, text, sentence, offered_slots=bool(question and question.slots)
                    ),
                    pairs().chance(row),
                    statement,
                )
            )
        self._third_parties(readings)
        if code not in ("en", *language.GLOSSED):
            for r in readings:
                r.doubt = r.doubt or "not understood"
        return readings

    def _bare(self, text: str, run: Run) -> str:
        """The clause without greetings, and without the words that say until when."""
        limit = times.until(text, said_at=run.messages[0].at, timezone=self.transcript.timezone)
        left = (text[: limit.start] + text[limit.end :]) if limit else text
        core = acts.OPENERS.match(acts.plain(left))
        left = left[core.end() :].strip(" ,") if core else left.strip(" ,")
        return left if len(kinds.stems(left)) > 0 else text

    def _third_parties(self, readings: list[Reading]) -> None:
        """Somebody else's fact stays out, unless the topic is about people of hers."""
        other = False
        for r in readings:
            core = acts.opened(r.text)
            if acts.of_others(r.text):
                other = True
            elif acts.FIRST_PERSON.search(core) or not re.match(
                r"(?:he|she|they|his|her|their)\b", core
            ):
                other = False
            if other and not self._about_people(r.best):
                r.doubt = r.doubt or "somebody else's"

    def _about_people(self, i: int) -> bool:
        shares = self.known.kinds[i]
        return shares.get("relation", 0.0) >= 0.3 or shares.get("animal", 0.0) >= 0.3

    def _borrow(self, before: str, r: Reading) -> Array:
        joined = f"{before.strip()} {r.text}"
        return self._chances(joined, max(r.statement, 0.5))

    def _chances(self, text: str, statement: float) -> Array:
        vector, content = self.embed([text, kinds.content(text)])
        return pairs().chance(topics.features(self.known, text, vector, content, statement))

    # --- placing -----------------------------------------------------------------------------

    def _place(
        self,
        run: Run,
        readings: list[Reading],
        question: replies.Question | None,
        asked: int | None,
    ) -> None:
        for i, r in enumerate(readings):
            if r.doubt or self._clear(r) or not self._elliptical(r) or acts.small_talk(r.text):
                continue
            previous = readings[i - 1] if i else None
            if previous is not None and previous.chance >= CLEAR:
                said = previous.text
            elif previous is None and question is not None and question.text.endswith("?"):
                said = question.text
            elif (
                previous is not None
                and previous.clause.sentence == r.clause.sentence
                and not previous.clause.full
            ):
                said = previous.text
            else:
                continue
            chances = self._borrow(said, r)
            if chances.max() > r.chance:
                r.chances, r.borrowed = chances, True
        if asked is None:
            return
        for r in readings:
            if (
                r.doubt in ("asked", "imagined", "mocked", "planted")
                or replies.stalls(r.text)
                or acts.small_talk(r.text)
            ):
                continue
            if r.chance >= SURE and r.best != asked:
                continue
            topic = self.specs[asked]
            lifted = self._borrow(f"{topic.label}:", r)
            if lifted[asked] >= TOLD_WHEN_ASKED or not r.clause.full:
                r.chances = np.zeros_like(r.chances)
                r.chances[asked] = max(SURE, float(lifted[asked]))
                r.borrowed, r.doubt = True, ""

    def _elliptical(self, r: Reading) -> bool:
        core = acts.opened(r.text)
        return not r.clause.full or bool(
            re.match(r"(?:it|that|this|they|mine|ours|we're|i'm|it's|its|that's)\b", core)
        )

    def _asked_topic(self, run: Run, question: replies.Question | None) -> int | None:
        if question is None or not question.gap:
            return None
        for i, topic in enumerate(self.specs):
            if topic.key == question.asks_topic:
                return i
        for text in (run.before.text if run.before else "", run.earlier):
            if not text:
                continue
            chances = self._chances(text, 0.9)
            if chances.max() >= 0.2:
                return int(np.argmax(chances))
        return None

    # --- collecting --------------------------------------------------------------------------

    def _collect(self, run: Run, readings: list[Reading], asked: int | None) -> list[Candidate]:
        made: list[Candidate] = []
        spans: list[list[Reading]] = []
        for r in readings:
            if r.doubt or not self._clear(r):
                if spans and not r.doubt and self._hangs_on(spans[-1], r):
                    spans[-1].append(r)
                continue
            if spans and self._continues(spans[-1], r):
                spans[-1].append(r)
            else:
                spans.append([r])
        for span in spans:
            made += self._candidate(run, span, made)
        return made

    def _clear(self, r: Reading) -> bool:
        """Is it clear which topic this clause states something of?"""
        if r.chance >= SURE:
            return True
        second = float(np.sort(r.chances)[-2]) if len(r.chances) > 1 else 0.0
        return r.chance >= CLEAR and r.chance >= AHEAD * second

    def _hangs_on(self, span: list[Reading], r: Reading) -> bool:
        """A fragment or relative clause right after: a part of what was said."""
        last = span[-1].clause
        return r.clause.sentence == last.sentence and (
            not r.clause.full or r.clause.joint in ("which", "who", "where", "when")
        )

    def _continues(self, span: list[Reading], r: Reading) -> bool:
        head, last = span[0], span[-1].clause
        if r.clause.sentence != last.sentence or r.best != head.best:
            return False
        topic = self.specs[r.best]
        return topic.single_valued or r.clause.adverbial

    def _candidate(self, run: Run, span: list[Reading], made: list[Candidate]) -> list[Candidate]:
        main = max(span, key=lambda r: r.chance)
        topic = self.specs[main.best]
        start, end = span[0].clause.start, span[-1].clause.end
        quote = run.text[start:end]
        message = run.message_at(start)
        text = main.clause.text
        folded = acts.plain(main.text)
        shares = self.known.kinds[main.best]
        value = values.value_of(text, topic, self.known.words[main.best], shares)
        if not value:
            return []
        limit = times.until(
            self._sentence(run, main.clause), said_at=message.at, timezone=self.transcript.timezone
        )
        negated = bool(acts.NEGATION.search(folded)) and topic.category is Category.PREFERENCE
        intent = Intent.RETRACT if self._takes_back(main, topic) else Intent.STATE
        same = [c for c in made if c.topic == topic.key and c.intent is Intent.STATE]
        return [
            Candidate(
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
                adds=intent is Intent.STATE and (bool(same) or self._adds(folded, topic, negated)),
                valid_until=limit.at if limit and intent is Intent.STATE else None,
                confidence=round(min(1.0, main.chance), 3),
                importance=0.8 if topic.permanent or topic.sensitive else 0.5,
            )
        ]

    def _sentence(self, run: Run, clause: Clause) -> str:
        return " ".join(c.text for c in clauses.split(run.text) if c.sentence == clause.sentence)

    def _takes_back(self, r: Reading, topic: TopicSpec) -> bool:
        folded = acts.plain(r.text)
        return bool(values.NO_LONGER.search(folded)) and not re.search(
            r"\b(?:now|instead|anything)\b", folded
        )

    def _adds(self, folded: str, topic: TopicSpec, negated: bool) -> bool:
        if re.search(
            r"\b(?:now|instead|from now on|from here on|these days|switched|changed|moved|no longer|any ?more|back to|new)\b",
            folded,
        ):
            return False
        return negated or bool(
            re.search(
                r"\b(?:also|too|as well|plus|another|except|but|only .* (?:after|before|when)|for (?:the )?\w+s\b)\b",
                folded,
            )
        )

    # --- requests to forget, agreement ---------------------------------------------------------

    def _forgetting(self, run: Run, readings: list[Reading]) -> list[Candidate]:
        made: list[Candidate] = []
        for r in readings:
            if not acts.wants_forgotten(r.text):
                continue
            message = run.message_at(r.clause.start)
            whole = acts.FORGET_ALL.search(acts.plain(r.text))
            key, value = None, ""
            if not whole:
                near = np.array(
                    [
                        float(self.known.labels[i] @ self.embed([r.text])[0])
                        for i in range(len(self.specs))
                    ]
                )
                best = r.best if r.chance >= 0.3 else int(np.argmax(near))
                key = self.specs[best].key
            category = (
                self.specs[self.known.position(key)].category if key else Category.CONFIRMED_FACT
            )
            made.append(
                Candidate(
                    category,
                    key,
                    value,
                    r.clause.text,
                    r.clause.text,
                    message.seq,
                    message.at,
                    Intent.FORGET,
                    confidence=0.9,
                )
            )
        return made

    def _agreement(self, run: Run, question: replies.Question | None) -> list[Candidate]:
        if question is None or not question.lasting or run.before is None:
            return []
        first = run.messages[0]
        offer = replies.accepted(first.text, question.text)
        if not offer:
            return []
        chances = np.maximum(
            self._chances(offer, 0.9), self._chances(question.text.rstrip("?"), 0.9)
        )
        best = int(np.argmax(chances))
        if chances[best] < AGREED:
            return []
        topic = self.specs[best]
        value = (
            values.value_of(offer, topic, self.known.words[best], self.known.kinds[best]) or offer
        )
        return [
            Candidate(
                topic.category, topic.key, value, f"{topic.label}: {offer}", first.text.strip(), first.seq, first.at,
                confidence=round(float(chances[best]), 3),
            )
        ]  # fmt: skip
