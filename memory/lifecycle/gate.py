"""Two cheap questions before any model call: is this worth saving, does this need the past?

Rules first, each a plain sentence of what the customer does; where they are silent, a small
classifier that was trained on our own examples (memory/training). Recall first: what the save gate
lets through, `extract` still judges clause by clause; a needless look into the past costs little.
"""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.speech import acts, clauses, kinds, language
from memory.speech.classifier import Classifier, shipped
from memory.types import GateResult, Said, Vector

LONG = 35  # words: one vector of a long message hides the one clause that matters
SHORT = 6
JOKE_WORDS = 14
_NUMBER = re.compile(r"\d[\d -]{3,}")
_ASKED_ALREADY = re.compile(
    r"\b(?:already|as (?:before|always|usual|ever)|same|usual|usually|on file|in my file|told you|you have|you know)\b"
)
_STANDING_ORDER = re.compile(
    r"\b(?:from (?:now|here) on|always|in (?:the )?future|every time|each time|never|instead|any ?more|no longer)\b"
)
_POINTS_BACK = re.compile(
    r"\b(?:my|our|the) usual\b|\bsame .*\b(?:as|again)\b|\byou (?:already|know)\b"
)
_OWN_STATE = re.compile(
    r"\b(?:my|mine)\b.*\b(?:yet|ready|arrived?|due|in|through|back|done|confirmed|sorted|status)\b"
)
_ABOUT_ME = re.compile(
    r"\b(?:(?:about|for|on|with) (?:me|us)\b(?! to)|have (?:me|us) (?:down|as)|(?:my|our) (?:file|record|records|chart|"
    r"usual|next|last|old|previous|normal|own)\b|who(?:'s| is| are)? my\b|(?:do|did) (?:i|we) (?:usually|"
    r"normally|still|always|have|say|tell|book|order|owe|pay|choose|last)\b|(?:you|u) (?:still )?(?:have|had|got|know|"
    r"remember|noted?|told|said|recommended|promised|gave)\b.*\b(?:me|my|i|our)\b|remind me (?:what|which|who|"
    r"when|how)|last time|again\b.*\?|with what i)"
)
_FUTURE_CONTACT = re.compile(
    r"\bhow (?:will|are|would|do) (?:you|u|i|we)\b.*\b(?:me|know|hear|contact|reach|remind)\b"
)


def gates() -> dict[str, Classifier]:
    """The shipped classifiers: `save` and `retrieve`."""
    return shipped()


def worth_saving(
    message: Said,
    *,
    before: Sequence[Said | str] = (),
    vector: Vector,
    classifier: Classifier,
) -> GateResult:
    """May this message hold a lasting preference or a confirmed fact of the customer's own?"""
    if message.sender != "customer":
        return GateResult(False, f"said by {message.sender}")
    if message.offered:
        return GateResult(False, "an answer that was shown, not the customer's words")
    earlier = _texts(before)
    if before and not isinstance(before[-1], str) and before[-1].offered:
        earlier[-1] = ""  # "Did you mean one of these?" asks nothing of herself
    text = understood(message.text)
    for passes, reason, holds in _save_rules(text, earlier, bool(message.asks_topic)):
        if holds:
            return GateResult(passes, reason)
    if text is not message.text:  # the vector knows English alone
        return GateResult(_own(text) and not acts.only_asks(text), "by its words, glossed")
    return _classified(classifier, vector, text, earlier, "a lasting fact or wish")


def needs_past(
    message: str, *, before: Sequence[Said | str] = (), vector: Vector, classifier: Classifier
) -> GateResult:
    """Does a good reply rest on something about this customer from before?"""
    earlier = _texts(before)
    text = understood(message)
    for passes, reason, holds in _past_rules(text, earlier):
        if holds:
            return GateResult(passes, reason)
    if text is not message:
        return GateResult(_own(text) and "?" in text, "by its words, glossed")
    return _classified(classifier, vector, text, earlier, "something from before")


def _save_rules(text: str, before: Sequence[str], gap: bool) -> list[tuple[bool, str, bool]]:
    folded = acts.plain(text)
    asked = bool(before) and bool(acts.BOT_ASKS_LASTING.search(acts.plain(before[-1])))
    sentences = acts.parts(text)
    return [
        (False, "put in front of the bot to be stored", acts.planted(text)),
        (True, "asks that something be forgotten", acts.wants_forgotten(text)),
        (True, "answers what was asked of them", (gap or asked) and not _declines(text)),
        (False, "small talk", acts.small_talk(text)),
        (False, "declines", bool(before) and len(text.split()) <= 4 and bool(acts.DECLINES.search(folded))
         and not acts.WISH.search(folded)),
        (False, "answers a question of the moment", bool(before) and len(text.split()) <= SHORT + 1
         and bool(acts.MOMENT_QUESTION.search(acts.plain(before[-1]))) and not _earnest(folded)),
        (True, "asks for something for good", any(_for_good(s) for s in sentences)),
        (False, "sarcasm", acts.mocks(text) and "please" not in folded),
        (False, "only asks", acts.only_asks(text) and not (_corrects(folded) or _tells_a_number(text))),
        (False, "somebody else's", len(sentences) == 1 and acts.of_acquaintances(text)),
        (False, "a joke", acts.jests(text) and len(text.split()) <= JOKE_WORDS and not _earnest(folded)),
        (False, "points to what is known", len(text.split()) <= SHORT
         and bool(_POINTS_BACK.search(folded)) and not acts.CHANGE.search(folded)),
        (False, "only imagined", acts.only_imagines(text) and not acts.LASTING.search(folded)),
        (True, "a long message with a lasting word", len(text.split()) > LONG
         and bool(acts.LASTING.search(folded) and acts.FIRST_PERSON.search(folded))),
        (True, "puts a number right", bool(before and _corrects(folded) and _NUMBER.search(folded))),
    ]  # fmt: skip


def _past_rules(text: str, before: Sequence[str]) -> list[tuple[bool, str, bool]]:
    folded = acts.plain(text)
    question = acts.asks(text)
    return [
        (False, "put in front of the bot", acts.planted(text)),
        (False, "small talk", acts.small_talk(text)),
        (True, "refers to what was said before", bool(_ABOUT_ME.search(folded)) and question),
        (True, "asks how things of their own stand", question and bool(_OWN_STATE.search(folded))),
        (True, "asks how they will be reached", bool(_FUTURE_CONTACT.search(folded))),
        (True, "points to what is known",
         len(text.split()) <= SHORT + 2 and bool(_ASKED_ALREADY.search(folded)) and not question),
    ]  # fmt: skip


def _classified(
    classifier: Classifier, vector: Vector, text: str, before: Sequence[str], what: str
) -> GateResult:
    score = classifier.score(vector, text, before)
    passed = score >= classifier.threshold
    reason = f"reads like {what}" if passed else f"does not read like {what}"
    return GateResult(passed, reason, by="classifier", score=score)


def asks_of_something(text: str) -> bool:
    """A question that is neither small talk nor put in front of the bot."""
    glossed = understood(text)
    return acts.asks(glossed) and not (acts.small_talk(glossed) or acts.planted(glossed))


def understood(text: str) -> str:
    """The message in English words, as far as it can be glossed: rules are English."""
    return language.gloss(text, language.detect(text))


def _own(text: str) -> bool:
    folded = acts.plain(text)
    return bool(
        acts.FIRST_PERSON.search(folded) or acts.WISH.search(folded) or acts.PAST_REFERENCE.search(folded)
        or _NUMBER.search(folded)
    )  # fmt: skip


def _texts(before: Sequence[Said | str]) -> list[str]:
    return [m if isinstance(m, str) else m.text for m in before]


def _for_good(sentence: str) -> bool:
    folded = acts.plain(sentence)
    return (
        bool(
            re.search(
                r"\b(?:please|pls|plz|could you|can you|i'd like|i'd prefer|i'd rather)\b", folded
            )
        )
        and bool(_STANDING_ORDER.search(folded))
        and not acts.imagines(sentence)
    )


def _tells_a_number(text: str) -> bool:
    """ "Customer no. 20418 here, how do I …?" """
    told = (c.text for c in clauses.split(text) if not (c.asked and c.last))
    return any("code" in kinds.of(t) and not acts.asks(t) for t in told)


def _declines(text: str) -> bool:
    return bool(acts.DECLINES.search(acts.plain(text))) and len(text.split()) <= SHORT


def _earnest(folded: str) -> bool:
    return bool(
        acts.NEGATION.search(folded) or acts.CHANGE.search(folded) or acts.WISH.search(folded)
        or acts.LASTING.search(folded) or _NUMBER.search(folded)
    )  # fmt: skip


def _corrects(folded: str) -> bool:
    return bool(
        acts.CORRECTION.search(folded) or acts.is_request(folded) or acts.CHANGE.search(folded)
    )
