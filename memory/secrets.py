"""What must never be stored: card numbers, passwords, keys, one-time codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CARD = re.compile(r"(?<![\w.-])[2-6](?:[ -]?\d){12,18}(?![\w-])")
_CARD_CHECK = re.compile(
    r"\b(?:cvv2?|cvc2?|cv2|card (?:security|verification) (?:code|number))\b\W{0,4}"
    r"(?:(?:is|was|number|code)\W+)?(\d{3,4})\b",
    re.I,
)
_PASSWORD = re.compile(
    r"\b(?:pass ?word|pass ?code|pass ?phrase|pwd|passwort|kennwort|contrase[nñ]a|clave|"
    r"mot de passe|senha|pin(?: code| number)?|log-?in)\b"
    r"(?P<says>\s*(?::|=|->|→)\s*|\s+(?:is|was|ist|lautet|es|est|é|are)(?:\s+now|\s+still)?\s*:?\s+|\s+)"
    r"[\"'“‘`]?(?P<secret>[^\s\"'”’`]{4,64})",
    re.I,
)
_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|api|key|ghp|gho|ghs|glpat|xox[abprs]|whsec|pat|tok|shpat)[-_][\w-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})"
)
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
)
_LABELLED_KEY = re.compile(
    r"\b(?:api[ -]?(?:key|token)|secret(?: key)?|access[ -]?token|bearer|auth[ -]?token|token)\b"
    r"[\s:=\"'`]*(?:is\s+)?[\"'`]?([A-Za-z0-9_\-./+]{12,})",
    re.I,
)
_LONG = re.compile(r"(?<![\w/.-])[A-Za-z0-9_+=-]{32,}(?![\w/-])")
_CODE = re.compile(
    r"(?:\b(?:one[- ]?time|otp|2fa|two[- ]factor|verification|verify|security|log-?in|sign-?in|"
    r"confirmation from (?:the )?bank|best[aä]tigungs|verificaci[oó]n)\b[^\d\n.!?]{0,40}?"
    r"|\b(?:code|pin|tan)\b[^\d\n.!?]{0,30}\b(?:text(?:ed)?|sms|app|phone|sent)\b[^\d\n.!?]{0,20}?)"
    r"(?<!\d)(\d{3}[ -]?\d{3}|\d{4,8})(?![\d-])",
    re.I,
)
_CODE_AFTER = re.compile(
    r"\b(\d{3}[ -]?\d{3}|\d{4,8})\b[^\d\n.!?]{0,30}\b(?:one[- ]?time|otp|2fa|verification|log-?in|"
    r"sign-?in|security) (?:code|pin|password)",
    re.I,
)
# Words that follow "password" in complaints about one.
_COMPLAINTS = (
    "wrong not incorrect expired reset resets resetting weak strong the a an still being on in "
    "correct required too field page link works working doesn't does don't isn't and or but for "
    "manager protected change changed changes changing has have again when then was were is "
    "please which that this my your their because since never always lost gone invalid email mail "
    "screen option options button prompt prompts recovery rules policy hint forgotten form"
)
_COMPLAINT = frozenset(_COMPLAINTS.split())


@dataclass(frozen=True, slots=True)
class Secret:
    start: int
    end: int
    kind: str


def find(text: str) -> list[Secret]:
    """Return every secret in `text`, in order, none inside another."""
    found: list[Secret] = []
    for secret in sorted(_all(text), key=lambda s: (s.start, -s.end)):
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return found


def blank(text: str) -> str:
    """Return `text` with each secret replaced by its kind."""
    for secret in reversed(find(text)):
        text = f"{text[: secret.start]}[removed: {secret.kind}]{text[secret.end :]}"
    return text


def _all(text: str) -> Iterator[Secret]:
    for m in _CARD.finditer(text):
        if luhn("".join(c for c in m[0] if c.isdigit())):
            yield Secret(m.start(), m.end(), "card number")
    for pattern, kind in (
        (_CARD_CHECK, "card check code"),
        (_CODE, "one-time code"),
        (_CODE_AFTER, "one-time code"),
        (_LABELLED_KEY, "key"),
    ):
        for m in pattern.finditer(text):
            if kind != "key" or _looks_random(m[1]):
                yield Secret(m.start(1), m.end(1), kind)
    for pattern in (_KEY_BLOCK, _KEY):
        for m in pattern.finditer(text):
            yield Secret(m.start(), m.end(), "key")
    for m in _LONG.finditer(text):
        if _looks_random(m[0]):
            yield Secret(m.start(), m.end(), "key")
    yield from _passwords(text)


def _passwords(text: str) -> Iterator[Secret]:
    for m in _PASSWORD.finditer(text):
        word = m["secret"].rstrip(".,;:!?)")
        named = m["says"].strip() != ""
        mixed = any(c.isdigit() for c in word) or bool(re.search(r"[^\w'’-]", word))
        if len(word) >= 4 and (mixed or (named and word.casefold() not in _COMPLAINT)):
            yield Secret(m.start("secret"), m.start("secret") + len(word), "password")


def _looks_random(word: str) -> bool:
    digits = sum(c.isdigit() for c in word)
    return digits >= 2 and digits < len(word) and len(set(word)) >= 8


def luhn(digits: str) -> bool:
    """The check digit of payment cards, ISO/IEC 7812-1 annex B."""
    doubled = (int(d) * 2 if i % 2 else int(d) for i, d in enumerate(reversed(digits)))
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0 and len(set(digits)) > 1
