"""What must never be stored: card numbers, passwords, keys, one-time codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CARD = re.compile(r"(?<![\w.+-])[2-6](?:[ -]?\d){13,18}(?![\w-])")
# Who issues cards, by the first digits and how many there are: what has another form is an order,
# a parcel or a phone. https://en.wikipedia.org/wiki/Payment_card_number
_ISSUED = re.compile(
    r"4(\d{15}|\d{18})|5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(0[0-5]|[689]\d)\d{11}|6(011|4[4-9]\d|5\d\d|2\d\d)\d{12,15}|35(2[89]|[3-8]\d)\d{12,15}"
    r"|(50|5[6-9]|6\d)\d{14,17}"
)
# What stands right before such a number says that it is none of these things.
_ORDINARY = (
    r"order|orders|parcel|package|tracking|shipment|member|membership|customer|patient|client|invoice|"
    r"ticket|policy|reference|ref|case|claim|booking|reservation|serial|imei|phone|telephone|mobile|"
    r"cell|fax|number to call|zip|postal|postcode|appointment|deposit|room|suite|flight|"
    r"extension|street|year|file|chart"
)
_NAMED_OTHERWISE = re.compile(
    rf"\b(?:{_ORDINARY})(?:\s+(?:number|no\.?|nr\.?|id|code|ref|is|was)|\s*[#:])*\s*[#:(]?\s*$",
    re.I,
)
# Said of a number, these win over what stands beside it: "the card for my booking: 4242 …".
_CARD_WORD = re.compile(
    r"\b(?:(?:credit|debit) ?cards?|cards?|(?:kredit)?karten?|tarjeta|carte)\b", re.I
)
# Another kind of code; where a code was sent to, or for what, makes it no other kind.
_OTHER_CODE = re.compile(
    r"\b(?:promo|discount|coupon|voucher|gift|area|dial(?:ling)?|zip|postal|tracking)\b|[$€£]", re.I
)
_MARKED = re.compile(r"\[removed: [a-z -]+\]")
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
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_LONG = re.compile(r"(?<![\w/.-])[A-Za-z0-9_+=-]{32,}(?![\w/-])")
_DIGITS = r"(?<!\d)(?P<code>\d{3}[ -]?\d{3}|\d{4}[ -]\d{4}|\d{4,8})(?![\d-])"
_CODE = re.compile(
    # "one-time …", "verification code", "the code they texted me": and then the digits
    r"(?:\b(?:one[- ]?time|otp|2fa|two[- ]factor)\b[^\d\n.!?]{0,40}?"
    r"|\b(?:verification|verify|security|log[- ]?in|sign[- ]?in|access|"
    r"confirmation from (?:the )?bank|best[aä]tigungs|verificaci[oó]n)\b[^\d\n.!?]{0,25}?"
    r"\b(?:code|pin|tan|token|digits)\b[^\d\n.!?]{0,20}?"
    r"|\b(?:verification|best[aä]tigungs-?code|c[oó]digo de verificaci[oó]n)\b\s*(?:is|:|=|es)?\s*"
    r"|\b(?:text(?:ed)?|sms|sent)\b[^\d\n.!?]{0,25}\b(?:code|pin|tan)\b[^\d\n.!?]{0,15}"
    r"|\b(?:code|pin|tan)\b[^\d\n.!?]{0,30}\b(?:text(?:ed)?|sms|app|phone|sent)\b"
    r"[^\d\n.!?]{0,20}?)" + _DIGITS,
    re.I,
)
_MY_CODE = re.compile(
    r"\b(?:my|the) code\s*(?:is|:|=)\s*(?<!\d)(?P<code>\d{3}[ -]?\d{3})(?![\d-])", re.I
)
_CODE_AFTER = re.compile(
    r"(?<!\d)(?P<code>\d{3}[ -]?\d{3}|\d{4,8})(?![\d-])[^\d\n.!?]{0,30}\b(?:one[- ]?time|otp|2fa|"
    r"verification|log-?in|sign-?in|security) (?:code|pin|password)",
    re.I,
)
# Words that follow "password" in complaints about one.
_COMPLAINTS = (
    "wrong not incorrect expired reset resets resetting weak strong the a an still being on in "
    "correct required too field page link works working doesn't does don't isn't and or but for "
    "manager protected change changed changes changing has have again when then was were is "
    "please which that this my your their because since never always lost gone invalid email mail "
    "saved unknown stolen compromised blocked locked hacked leaked known secure safe short empty "
    "missing "
    "screen option options button prompt prompts recovery rules policy hint forgotten form"
)
_COMPLAINT = frozenset(_COMPLAINTS.split())


@dataclass(frozen=True, slots=True)
class Secret:
    start: int
    end: int
    kind: str


def find(text: str) -> list[Secret]:
    """Return every secret in `text`, in order, none inside another and none that is blanked."""
    marked = [m.span() for m in _MARKED.finditer(text)]
    found: list[Secret] = []
    for secret in sorted(_all(text), key=lambda s: (s.start, -s.end)):
        overlaps = any(secret.start < end and start < secret.end for start, end in marked)
        if not overlaps and (not found or secret.start >= found[-1].end):
            found.append(secret)
    return found


def blank(text: str) -> str:
    """Return `text` with each secret replaced by its kind."""
    return without(text)[0]


def without(text: str) -> tuple[str, tuple[str, ...]]:
    """Return `text` with each secret replaced by its kind, and the kinds that there were."""
    found = find(text)
    for secret in reversed(found):
        text = f"{text[: secret.start]}[removed: {secret.kind}]{text[secret.end :]}"
    return text, tuple(dict.fromkeys(secret.kind for secret in found))


def unmarked(text: str) -> str:
    """Return what is left of a text when the places of its secrets are taken out."""
    return _MARKED.sub("", text)


def _all(text: str) -> Iterator[Secret]:
    for m in _CARD.finditer(text):
        digits = "".join(c for c in m[0] if c.isdigit())
        if luhn(digits) and _ISSUED.fullmatch(digits) and not _named_otherwise(text, m.start()):
            yield Secret(m.start(), m.end(), "card number")
    for m in _CARD_CHECK.finditer(text):
        yield Secret(m.start(1), m.end(1), "card check code")
    for pattern in (_CODE, _MY_CODE, _CODE_AFTER):
        for m in pattern.finditer(text):
            if not _OTHER_CODE.search(text[max(0, m.start() - 12) : m.end()]):
                yield Secret(*m.span("code"), "one-time code")
    for m in _LABELLED_KEY.finditer(text):
        if _looks_random(m[1]):
            yield Secret(m.start(1), m.end(1), "key")
    for pattern in (_KEY_BLOCK, _KEY):
        for m in pattern.finditer(text):
            yield Secret(m.start(), m.end(), "key")
    for m in _LONG.finditer(text):
        if _looks_random(m[0]) and not _UUID.fullmatch(m[0]):
            yield Secret(m.start(), m.end(), "key")
    yield from _passwords(text)


def _named_otherwise(text: str, start: int) -> bool:
    """ "Order 4539…" and "member id: 4539…" are not cards, whatever their check digit says."""
    before = text[max(0, start - 60) : start]
    return _NAMED_OTHERWISE.search(before) is not None and not _CARD_WORD.search(before)


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
