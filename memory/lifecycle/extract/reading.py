"""Reading a transcript run by run: the order in which the parts of this package are asked."""

from __future__ import annotations

from types import MappingProxyType

from memory.types import Candidate, Transcript

from . import making, placing, replies, standing
from .runs import Run, runs_of
from .understanding import Understanding


class Reader:
    def __init__(
        self,
        transcript: Transcript,
        understanding: Understanding,
        known: placing.KnownValues = MappingProxyType({}),
    ) -> None:
        self.known = known
        self.runs = runs_of(transcript)
        self.u = understanding
        self.names = frozenset(
            part.casefold().strip(".,")
            for m in transcript.messages
            if m.sender == "staff"
            for part in m.name.split()
        )
        self.found: list[Candidate] = []
        self.left: list[Run] = []  # said before what is wanted, and not read yet

    def candidates(self, *, since: int = 0) -> list[Candidate]:
        for run in self.runs:
            if any(standing.in_a_role(m.text, self.names) for m in run.messages):
                continue
            if run.messages[-1].seq < since:
                self.left.append(run)
            else:
                self.found += self._read(run)
        return self.found

    def _found_before(self) -> list[Candidate]:
        left, self.left = self.left, []
        for run in left:
            self.found += self._read(run)
        return self.found

    def _read(self, run: Run) -> list[Candidate]:
        question = replies.asked_before(run.before)
        readings = self.u.read(run, question)
        settled = making.forgetting(run, readings, self.u) or making.agreement(
            run, question, self.u
        )
        if settled:
            return settled
        corrects = placing.corrects(readings)
        found = self._found_before() if corrects else []
        placing.place(run, readings, question, found, self.u, known=self.known)
        made: list[Candidate] = []
        for span in making.spans_of(readings, self.u):
            c = making.candidate(run, span, made, self.u, corrects=corrects)
            if c is not None:
                made.append(c)
        if corrects:
            self._drop_corrected(made)
        return making.only_last_words(made, self.u)

    def _drop_corrected(self, made: list[Candidate]) -> None:
        """What she puts right in the same conversation was never so: its first form is not kept."""
        for c in made:
            wrong = next((k for k in reversed(self.found) if k.topic == c.topic), None)
            if wrong is not None and wrong.quote != c.quote:
                self.found.remove(wrong)
