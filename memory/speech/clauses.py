"""Cutting a message into sentences and clauses, each with its place in the message."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .acts import plain

_ABBREVIATED = re.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|no|nr|vs|approx|ca|e\.g|i\.e|a\.m|p\.m|jr|sr|apt|tel|ext|sra?|herr|fr)\.$"
)
_SENTENCE_END = re.compile(
    r"[.!?…]+[\"')\]]*(?=\s|$)|\n+|[;]\s|\s[-–—]+\s|\.{3}|[\U0001F300-\U0001FAFF☀-➿]+\ufe0f?"
)
_AND = r"and|n|&|plus|y|e|und|et"
_BUT = r"but|though|although|except that|pero|mas|aber|mais"
_BECAUSE = r"because|bc|cos|cuz|coz|since|as|porque|weil|parce que|car|pois"
_SO = r"so|then|so that"
_WHO = r"which|who|where|when|while|whenever"
_CUT = re.compile(
    rf"\s*(?P<mark>[,:(]|\))\s*(?:(?P<word>{_AND}|{_BUT}|{_BECAUSE}|{_SO}|{_WHO})\s+)?"
    rf"|\s+(?P<bare>{_AND}|{_BUT}|because|bc|cos|cuz|coz|so(?! (?:u|you|that|much|many|far)\b)|porque|weil|parce que)\s+"
)
_SUBJECT_VERB = re.compile(
    r"\b(?:i|we|you|u|he|she|it|they|there|that|this|who|which|everyone|everybody|nobody|someone)(?:'(?:m|s|re|ve|d|ll))?\s+\w+|"
    r"\b(?:i'm|im|i've|ive|i'd|it's|its|he's|she's|we're|we've|they're|that's|mine's|there's|who's|what's|name's)\b|"
    r"\b(?:is|are|was|were|am|has|have|had|does|do|did|can|can't|cant|could|will|would|won't|works?|suits?|goes|comes?|"
    r"needs?|takes?|hates?|likes?|loves?|prefers?|gets?|says?|uses?|beats?|terrif\w+|makes?|helps?|changed|moved|"
    r"called|calls|joined|starts?|started|lives?|ist|sind|es|está|é|est|son|tengo|tenho|habe|uso|prefiero|prefiro|soy|sou|puedo|posso|kann)\b"
)
IMPERATIVE = re.compile(
    r"^(?:please |pls |plz |just |always |never |only |don't |dont |do not |kindly |and |so |but |also |can you |could you )*"
    r"(?:call|text|e-?mail|mail|ring|phone|send|use|put|write|keep|leave|make|change|note|book|stop|drop|ship|deliver|bill|"
    r"charge|forget|delete|remove|add|set|switch|message|contact|reach|give|let|bring|take|cancel|update|skip|avoid|go|"
    r"speak|talk|address|don't|remember|tell|notify|invoice|move|schedule|include|exclude|seat|play|show|turn|try|get)\b"
)
LABEL_WORDS = 4
_ENDS = ".!?…"
_ADVERBIAL = re.compile(
    r"^(?:every|each|after|before|on|in|at|since|until|till|from|for|during|with|without|to|by|about|over|under|near|"
    r"because|as|like|if|when|while|where|which|who|than|not|no|nor|or|always|never|ever|usually|mostly|even|especially|"
    r"unless|though|rather|instead|please|pls|thanks|too|either|again|at least|at most|ideally|preferably|around|through|via|because of|thanks to|due to)\b"
)


@dataclass(frozen=True)
class Clause:
    """A piece of a message: message[start:end] == text. `joint` is the word that ties it on."""

    text: str
    start: int
    end: int
    sentence: int
    joint: str = ""
    last: bool = False  # the last of its sentence: a question mark is its
    asked: bool = False  # its sentence ends with a question mark

    @property
    def full(self) -> bool:
        return is_full(self.text)

    @property
    def adverbial(self) -> bool:
        return bool(_ADVERBIAL.search(plain(self.text).strip()))


def is_full(text: str) -> bool:
    """Does it have a verb of its own: a statement, a question or a request?"""
    folded = plain(text).strip()
    return bool(_SUBJECT_VERB.search(folded) or IMPERATIVE.search(folded))


def sentences(text: str) -> list[tuple[int, int, bool]]:
    """Return (start, end, asked) of each sentence, without the white space around it."""
    found: list[tuple[int, int, bool]] = []
    start = 0
    for mark in _SENTENCE_END.finditer(text):
        upto = text[start : mark.end()].rstrip()
        if mark.group().startswith(".") and _ABBREVIATED.search(plain(upto).rstrip("\"')")):
            continue
        _keep(found, text, start, mark.end())
        start = mark.end()
    _keep(found, text, start, len(text))
    return found


def _keep(found: list[tuple[int, int, bool]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if re.search(r"\w", piece):
        left = len(piece) - len(piece.lstrip())
        found.append((start + left, start + len(piece.rstrip()), "?" in piece))


def split(text: str) -> list[Clause]:
    """Cut a message into clauses, in order."""
    clauses: list[Clause] = []
    for number, (start, end, asked) in enumerate(sentences(text)):
        pieces = list(_pieces(text, start, end))
        for i, (a, b, joint) in enumerate(pieces):
            last = i == len(pieces) - 1
            clauses.append(Clause(text[a:b], a, b, number, joint, last, asked))
    return clauses


def joined(cut: Sequence[Clause], texts: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return clauses, as `texts` words them, as one text again, and where each stands in it."""
    whole, places = "", []
    for i, (clause, text) in enumerate(zip(cut, texts, strict=True)):
        if i:
            same = clause.sentence == cut[i - 1].sentence
            ended = whole[-1:] in (_ENDS + ",:;" if same else _ENDS)
            whole += " " if ended else ", " if same else ". "
        places.append((len(whole), len(whole) + len(text)))
        whole += text
    return whole, places


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    folded = plain(text)
    cuts: list[tuple[int, int, str]] = []
    for m in _CUT.finditer(folded, start, end):
        joint = m["word"] or m["bare"] or m["mark"]
        if m["mark"] and m["mark"] in ",:" and _inside_number(folded, m):
            continue
        if m["mark"] == ":" and _names_what_follows(folded, start, m, end):
            continue
        if m["bare"] and not _worth_cutting(folded, start, m, end):
            continue
        cuts.append((m.start(), m.end(), joint))
    pieces: list[tuple[int, int, str]] = []
    begin, joint = start, ""
    for a, b, word in [*cuts, (end, end, "")]:
        trimmed = text[begin:a].strip()
        if re.search(r"\w", trimmed):
            at = begin + (len(text[begin:a]) - len(text[begin:a].lstrip()))
            pieces.append((at, at + len(trimmed), joint))
        begin, joint = b, word
    return pieces


def _names_what_follows(text: str, start: int, m: re.Match[str], end: int) -> bool:
    """ "Member number: 7009": what stands before the colon says what the rest is."""
    label = re.split(r"[,:;(]", text[start : m.start()])[-1]
    value = re.split(r"[,:;(]", text[m.end() : end])[0]
    return 0 < len(label.split()) <= LABEL_WORDS and not is_full(label) and not is_full(value)


def _inside_number(text: str, m: re.Match[str]) -> bool:
    return (
        text[m.start() - 1 : m.start()].isdigit()
        and text[m.end() : m.end() + 1].isdigit()
        and m.end() - m.start() == 1
    )


def _worth_cutting(text: str, start: int, m: re.Match[str], end: int) -> bool:
    """A bare "and" parts clauses or items of a list, not "salt and pepper" in the middle."""
    right = re.split(r"[,:;(]", text[m.end() : end])[0]
    if right.startswith("including "):  # "up to and including 6 March"
        return False
    return is_full(right) or (
        m["bare"] in ("and", "n", "&", "plus", "y", "e", "und", "et", "but")
        and len(right.split()) <= 4
    )
