"""What exactly a clause says: the value, letter for letter, and a sentence that reads alone."""
# ruff: noqa: E501

from __future__ import annotations

import re

from memory.speech import acts, kinds
from memory.types import TopicSpec

NO_LONGER = re.compile(
    r"\b(?:no longer|not\b.* any ?(?:more|longer)|n't\b.* any ?(?:more|longer)|any ?more|any longer|no more|after all|is gone|are gone|ended|"
    r"(?:i|we|i've|we've|has|have) (?:lost|stopped|quit|dropped|cancelled|canceled|sold|left|closed|given up|moved out of|unhooked|ditched|finished)|"
    r"let \S+(?: \S+){0,3} go\b|got rid of|gave up|grown out of|come off|fell through|stopped (?:taking|using|being|going|doing|eating|drinking|wearing)|"
    r"moved (?:out|away)|passed away|(?:is|are|'s|has|have|got|been) (?:just )?(?:died|sold|gone|scrapped|closed|finished|cancelled|canceled|ended)|is healed|all better now|done with)\b"
)
DENIES_HAVING = re.compile(
    r"\b(?:not|n't|never|no|dont|isnt|arent|wasnt|wasn't|aren't|isn't)\b.*\b(?:allergic|gluten|vegan|vegetarian|member|any more|after all)\b"
)
FROM_TO = re.compile(r"\bfrom (?P<old>[^,.;]+?) (?:to|over to|onto) (?P<new>[^,.;!?]+)")
INSTEAD = re.compile(r"\b(?P<new>.+?),? (?:instead of|rather than|not) (?P<old>[^,.;!?]+)")
NOT_BUT = re.compile(r"\bnot (?P<old>[^,.;]+?),? but (?P<new>[^,.;!?]+)")
SWAP = re.compile(
    r"(?P<old>\S+(?: \S+)?)\s*(?:,|\.\.\.|…|-)?\s*(?:no|no wait|nope|sorry|i mean|or rather|wait|scratch that)\b[,.… ]+(?:it's |make that |actually |wait,? |sorry,? |i mean )*(?P<new>\S.*)",
    re.I,
)
CALLED = re.compile(
    r"(?:\b(?:call me|calls? me|called|go(?:es)? by|known as|name is|name's|named|address me as|prefer|use|i'm|it's|is|(?<!\w)llamo|chamo|heiße|appelle)\s+(?:just |always )?)(?P<name>[A-ZÀ-Ý][\w.'-]*(?: [A-ZÀ-Ý][\w.'-]*)*)"
)


def coded(shares: dict[str, float]) -> bool:
    return shares.get("code", 0.0) >= 0.4 or shares.get("phone", 0.0) >= 0.4


def code_in(text: str, shares: dict[str, float], vocabulary: frozenset[str] = frozenset()) -> str:
    """The number, id or phone number, to the character; the one that is not denied. Empty if none."""
    folded = acts.plain(text)
    phone = shares.get("phone", 0.0) >= 0.4
    found = list((kinds.PHONE if phone else kinds.CODE).finditer(folded))
    if not found and phone:
        found = list(kinds.CODE.finditer(folded))
    if not found:
        found = list(re.finditer(r"\b\d{3,}\b", folded))
    kept = [
        m
        for m in found
        if not re.search(r"\b(?:not|instead of|old|was)\s+(?:the )?$", folded[: m.start()])
    ]
    best = max(kept, key=lambda m: (len(re.sub(r"\W", "", m.group())), m.start()), default=None)
    if best is None:
        return ""
    start, end = best.span()
    # A word before the number is part of it only where it is written like a code: "K 5500", not "ID 5500".
    lead = re.match(r"([A-Za-z]+)[ .]+(?=\d)", text[start:end])
    if lead and (
        not lead[1].isupper()
        or kinds.stem(lead[1].lower()) in vocabulary | kinds.frame() | kinds.stop()
    ):
        start += lead.end()
    else:
        head = re.search(r"(?<!\w)[A-Z]{1,5}[-_ ]?$", text[:start])
        if head and kinds.stem(head.group().strip("-_ ").lower()) not in vocabulary:
            start = head.start()
    return text[start:end].strip(" .,;:")


# When it came about is no part of what is so: "Acorn Health last week".
_SINCE = re.compile(
    r"[ ,]+(?:yesterday|recently|lately|the other day|last (?:week|weekend|month|year|night|spring|summer|autumn|fall|winter)"
    r"|(?:an?|one|two|three|four|five|six|\d+|a few|a couple of) (?:day|week|month|year)s? ago)$",
    re.I,
)


def value_of(
    text: str, topic: TopicSpec, vocabulary: frozenset[str], shares: dict[str, float]
) -> str:
    """The part of a clause that carries the value. Falls back to the whole clause."""
    return _SINCE.sub("", _value_of(text, topic, vocabulary, shares))


def _value_of(
    text: str, topic: TopicSpec, vocabulary: frozenset[str], shares: dict[str, float]
) -> str:
    if coded(shares):
        return code_in(text, shares, vocabulary)
    changed = FROM_TO.search(text)
    if changed and re.search(r"\b(?:switch|chang|mov|went|go|from)", acts.plain(text)):
        return _trim(changed["new"])
    named = CALLED.search(text)
    if (
        named
        and re.search(r"\bname\b|\bcalled\b", acts.plain(f"{topic.label} {topic.description}"))
        and shares.get("relation", 0) < 0.3
    ):
        return named["name"].rstrip(".,!")
    return _novel(text, vocabulary, shares) or _trim(text)


_CONTRACTED = re.compile(
    r"(?:i|we|you|ye|he|she|it|they|that|this|there|who|what|here)'(?:m|d|s|re|ve|ll)"
)


def _novel(text: str, vocabulary: frozenset[str], shares: dict[str, float]) -> str:
    """The span of words that the topic's own description does not already hold."""
    wanted = {k for k, share in shares.items() if share >= 0.25}
    words = [(m.group(), m.start(), m.end()) for m in re.finditer(r"[\w$€£][\w'’:./@+#-]*", text)]
    # A name counts even where the topic's own examples hold it: people ask for whom there is.
    kept = [
        (w, a, b)
        for w, a, b in words
        if _carries(w, frozenset() if a and w[0].isupper() else vocabulary, wanted)
    ]
    if not kept:
        return ""
    start, end = kept[0][1], kept[-1][2]
    span = text[start:end]
    if len(span.split()) <= 7 and not re.search(r"[.!?;\n]", span):
        return span.rstrip(".,")
    return " ".join(w.rstrip(".,") for w, _, _ in kept[:8])


def tells(value: str) -> bool:
    """Is there a word in it that says something: a name, a number, a matter?"""
    common = kinds.frame() | kinds.stop() | _EMPTY
    return bool(kinds.of(value)) or any(
        any(c.isdigit() for c in w) or (w not in common and not _CONTRACTED.fullmatch(w))
        for w in (acts.plain(m).strip(".,'") for m in re.findall(r"[\w$€£][\w'’:./@+#-]*", value))
    )


_EMPTY = frozenset({"well", "else", "while", "main", "whole", "both", "ones", "thing", "things"})


def _carries(word: str, vocabulary: frozenset[str], wanted: set[str]) -> bool:
    low = acts.plain(word).strip(".,'")
    if low in kinds.frame() or low in kinds.stop() or _CONTRACTED.fullmatch(low):
        return False
    if kinds.of(low) & wanted or any(c.isdigit() for c in low):
        return True
    return kinds.stem(low.split("'")[0]) not in vocabulary


def _trim(text: str) -> str:
    core = acts.OPENERS.match(acts.plain(text))
    return text[core.end() if core else 0 :].strip(" ,.;:!-–")


def sentence(text: str, topic: TopicSpec, *, alone: bool) -> str:
    """A sentence for people: her own clause, with the topic's label where it would not stand alone."""
    core = _trim(text) or text.strip()
    return core if alone else f"{topic.label}: {core}"
