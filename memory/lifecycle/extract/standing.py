"""Whose words a clause is made of, and whether it states: only what is hers, meant and lasting counts."""
# ruff: noqa: E501

from __future__ import annotations

import re

from memory.speech import acts, clauses, kinds
from memory.speech.clauses import Clause

QUOTED_LINE = re.compile(
    r"^\s*>.*$|^-+ ?(?:forwarded|original).*$|^(?:from|to|subject|date|sent): .*$", re.I | re.M
)
QUOTED_WORDS = re.compile(r"[\"“«](?=[^\"”»\n]*\s[^\"”»\n]*\s)[^\"”»\n]{12,}[\"”»]")
# "Dr. Lee, the dentist: …", "Kim from billing: …", "[staff]: …"; "Morning. About the bill: …" is none.
SPEAKER = re.compile(
    r"^\s*\[?[A-Z]\w*(?:(?<=\b[A-Z]\w)\.|(?<=\b[A-Z]\w\w)\.)?(?: [A-Z][\w.]*)?"
    r"(?:, (?:the |our )?| (?:the|our|from|at|in) )[a-z][\w ]{2,30}\]?:\s|^\s*\[[^\]]+\]:"
    r"|^\s*(?:[A-Z]\w* )?(?:[Aa]gent|[Aa]dvis[eo]r|[Ss]upport|[Ss]taff|[Rr]eception(?:ist)?|[Oo]perator|[Rr]epresentative|[Cc]olleague)(?: \w+)?:\s"
)
# "Member number: 7009-44", "Medical history: a weak heart, …": no more than the value follows.
LABELLED = re.compile(
    r"^\s*(?:[\w'-]+ ){0,3}[\w'-]+:\s+(?:[\w'+./-]*\d[\w'+./-]*|[\w'-]+(?: [\w'-]+)?)\s*(?:[,.;\n]|$)"
)
HEARSAY = re.compile(
    r"\b(?:she|he|they|who|somebody|someone|people|you(?: guys)?) (?:said|says|told|claims?|reckons?|swears?|asked|wrote)\b|"
    r"\bi (?:hear|heard|gather|gathered) (?:that|from|you)\b"
)
PAST_EVENT = re.compile(
    r"\b(?:last (?:time|week|month|year|night|tuesday|monday|friday|visit)|yesterday|back then|years ago|when i was|once|the other day|"
    r"used to|in (?:19|20)\d\d|at my (?:old|last|former|previous)|my (?:old|former|previous|last)|from my (?:old|last|former))\b"
)
POINTS_BACK = re.compile(
    r"^(?:it's me\W+)?the one (?:who|whose)\b|\b(?:the|my|our) usual\b|\bsame\b.* (?:as|again)\b|\b(?:you|u) know\b|\bas (?:before|last time|i said|always)$|\blike (?:i always|last|before|always)\b|"
    r"\bway (?:i|we) always\b|\bin my (?:file|record)|\bwhenever i usually\b|\b(?:already )?told you\b|\byou (?:already )?have (?:that|it|my)\b"
)
PAST_VERB = re.compile(
    r"\b(?:was|were|had|did|didn't|went|got|gave|told|said|came|took|saw|sent|broke|found|forgot|felt|kept|bought|ate|wore|"
    r"thought|met|paid|heard|read|ran|fell|threw|rang|(?!need|feed|speed|seed|wed|bed|red|allerg|shared|fixed|married|retired|divorced|saved|gifted|used to)\w{3,}ed)\b"
)
LASTING_CHANGE = re.compile(
    r"\b(?:switched|changed|moved|bumped|signed|give up|giving up|was a mistake|started|stopped|joined|quit|retired|bought|sold|adopted|upgraded|downgraded|married|"
    r"registered|diagnosed|lost|left|gave up|got (?:a|an|one|rid|our|my|divorced)(?! (?:\w+ ){0,2}(?:bill|invoice|letter|e-?mail|mail|message|text|call|reminder|notice|parcel|package|error|note)\b)|went (?:from|up|down|back|over|to|for)|relocated|"
    r"replaced|dropped|cancelled|canceled|closed|ended(?! up)|renamed|merged|turned|became|passed|"
    r"grew|born|trained|graduated|swapped|added|opened|hired|promoted|transferred|converted|plugged|connected|hooked|"
    r"installed|unhooked|ditched|finished|put me on|put in|took (?:over|up|in)|(?:was|were) (?:told|born|given|diagnosed))\b"
)
PRESENT = re.compile(
    r"\b(?:i'm|im|i am|we're|we are|is|are|it's|its|that's|have|has|i've|we've|ive|don't|dont|can't|cant|cannot|can|need|needs|"
    r"been|want|prefer|like|love|hate|use|take|takes|please|pls|now|always|never|only|usually|allergic|suffer|react|reacts|"
    r"makes|gives|works|live|lives|work|call|calls|doesn't|won't|will|i'll|we'll|i'd|we'd|does|no longer)\b"
)
SLOT = re.compile(
    r"\b(?:works?|is (?:good|fine|ok|okay|perfect|great)|sounds|then|suits|please|pls|thx|that one|i'll take|let's do|book)\b"
)
CLOCK_OR_DAY = re.compile(
    r"(?<![\w-])\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m)?(?![\w-])|\b(?:mon|tue|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\b|\btomorrow\b"
)
PLURAL_TIME = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|mornings|afternoons|evenings|weekends|weekdays|nights|lunchtimes)\b"
)
STRONG_LASTING = re.compile(
    r"\b(?:always|usually|generally|in general|from now on|from here on|in (?:the )?future|every time|each time|prefer|never|only|these days|"
    r"no longer|any ?more|best|easiest|rather|whenever|as a rule|can't|cannot|cant|don't|dont|hate|permanently|suits?|instead|going forward)\b"
)
ORDER = re.compile(
    r"\b(?:i'd like|i would like|i want|i need|can i|could i|can you|could you|please|pls)\b.*\b(?:book|appointment|order|cancel|reschedule|refund|"
    r"return|reset|send (?:me )?(?:the|a|an|it|that)|transfer|quote|estimate|copy|invoice|receipt|link|look|help|check)\b"
)


_HEADING = re.compile(
    r"^(?:(?:re|regarding|concerning|about|as for)\b|otherwise\b|(?:sorry |thanks )?in advance\W*$)"
)
# "Kim Meyer here": who writes, not what she wants to be called.
_INTRODUCES = re.compile(r"(?:[A-ZÀ-Ý][\w'’-]+ ){1,3}(?:here|speaking)\W*")
_EXCUSE = re.compile(
    r"\bi (?:(?:always|keep|often|just|must have|tend to) )?(?:mix|mixed|mixing|muddled?|muddling|confused?|confusing) .*\b(?:up|names?|numbers?|them|those)\b"
)
_STORY = re.compile(
    r"^(?:and |but |so )?(?:when|while|after|before|until) (?:i|we|he|she|they|it|my|our|the)\b"
)
_WOULD = re.compile(
    r"\b(?:would|(?:it|he|she|they|that)'d)\b(?! (?:like|prefer|rather|love|be (?:better|best|easier)|suit|help|work)\b)"
)
_SAYS_WHY = re.compile(
    r"^(?:that's|thats|that is|it's|that was) (?:when|where|how|because|just because)\b"
)


def own_words(text: str) -> str:
    """`text` with what was quoted or forwarded blanked, at the same length."""
    for pattern in (QUOTED_LINE, QUOTED_WORDS):
        text = pattern.sub(lambda m: re.sub(r"\S", " ", m.group()), text)
    return text


def in_a_role(text: str, names: frozenset[str]) -> bool:
    """She plays somebody else, or writes orders to the machine."""
    speaker = SPEAKER.search(text)
    if acts.planted(text):
        return True
    if speaker and not (_opens_a_sentence(speaker.group()) or LABELLED.search(text)):
        return True
    label = re.match(r"^\s*([A-Z][\w.]+)(?:,| \(|:)", text)
    return bool(label and label.group(1).casefold() in names and ":" in text[: label.end() + 40])


def _opens_a_sentence(label: str) -> bool:
    """ "For the form: …" names nobody."""
    first = kinds.WORD.match(acts.plain(label).lstrip(" ["))
    return bool(first and first.group() in kinds.stop() | kinds.frame())


def doubt(
    clause: Clause,
    text: str,
    sentence: str,
    *,
    asked: str = "",
    offered_slots: bool,
    though_asked: bool = False,
) -> str:
    """Why this clause does not state a lasting fact of hers; empty if it may.

    `text` is the clause as it is understood (glossed), `sentence` the whole sentence likewise.
    `though_asked`: that it asks is no doubt.
    """
    folded = acts.plain(text)
    if acts.planted(text):
        return "planted"
    if not though_asked and _asks(clause, text):
        return "asked"
    if imagined(sentence) and not _own_instruction(folded):
        return "imagined"
    if acts.mocks(sentence) or (acts.jests(sentence) and _WOULD.search(folded)):
        return "mocked"
    if HEARSAY.search(folded) and not acts.PREFERS.search(folded):
        return "hearsay"
    if _of_the_moment(folded, offered_slots):
        return "of the moment"
    if POINTS_BACK.search(folded) and not (
        acts.CHANGE.search(folded) or PLURAL_TIME.search(folded)
    ):
        return "points to what is known"
    if (
        asked
        and not clause.full
        and acts.MOMENT_QUESTION.search(acts.plain(asked))
        and not (acts.CHANGE.search(folded) or "code" in kinds.of(text))
    ):
        return "answers a question of the moment"
    if _says_nothing(clause, text, folded):
        return "says nothing"
    if _SAYS_WHY.search(folded):
        return "a reason"
    if acts.passes_on(text):
        return "an errand"
    if _told_of_the_past(folded):
        return "told of the past"
    return ""


def _says_nothing(clause: Clause, text: str, folded: str) -> bool:
    if acts.INTERJECTION.search(folded) or acts.small_talk(text) or _heads(clause, folded):
        return True
    return bool(_INTRODUCES.fullmatch(text.strip()) or _EXCUSE.search(folded))


def _heads(clause: Clause, folded: str) -> bool:
    """ "Re the certificate: …" says what is to come."""
    return not clause.full and ":" not in folded and bool(_HEADING.search(folded))


def _told_of_the_past(folded: str) -> bool:
    """A story: it happened, and nothing in it says that it still holds."""
    if clauses.IMPERATIVE.search(folded):
        return False
    if _STORY.search(folded) and PAST_VERB.search(folded) and not STRONG_LASTING.search(folded):
        return True
    if PRESENT.search(folded) or LASTING_CHANGE.search(folded) or STRONG_LASTING.search(folded):
        return False
    return bool(PAST_VERB.search(folded) or PAST_EVENT.search(folded))


def _asks(clause: Clause, text: str) -> bool:
    if not acts.asks(text):
        return clause.asked and clause.last and not acts.is_request(text) and "?" in clause.text
    return True


def imagined(sentence: str) -> bool:
    return acts.imagines(sentence)


def _own_instruction(folded: str) -> bool:
    return bool(
        re.search(r"\b(?:please|pls|only|always|never|from now on)\b", folded)
    ) and not re.search(r"\bwould (?:i|you|it|we)\b|\?", folded)


# It was yesterday, and holds from then on.
_WENT_OVER = re.compile(
    r"\b(?:i|we)(?:'ve| have|'d| had)?(?: just| now| recently| finally)? "
    r"(?:(?:switched|moved|changed|converted|transferred|upgraded|downgraded)(?: over| back| across)?|(?:went|gone) (?:over|back))"
    r"(?: (?:over )?from [\w' -]{2,30}?)? to \b"
)


def _of_the_moment(folded: str, offered_slots: bool) -> bool:
    if STRONG_LASTING.search(folded) or PLURAL_TIME.search(folded):
        return False
    if _WENT_OVER.search(folded) and not CLOCK_OR_DAY.search(folded):
        return False
    if acts.ONE_OFF.search(folded):
        return True
    if ORDER.search(folded):
        return True
    slot = bool(CLOCK_OR_DAY.search(folded))
    return slot and (offered_slots or bool(SLOT.search(folded))) and len(folded.split()) <= 9
