"""The wire format between a customer's tab and the server. Pure: parse, or BadFrame with words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

MAX_TEXT = 10_000  # characters of one message
MAX_ID = 64
MAX_TOKEN = 4_000
# One address and nothing beside it: no second one, no line of a mail's head.
_CHOICE = re.compile(r"none|m?\d{1,18}")
_ADDRESS = re.compile(r"[^\s@,;:<>()\x00-\x1f\ud800-\udfff]+@[^\s@,;:<>()\x00-\x1f\ud800-\udfff]+")


class BadFrame(Exception):
    """`code` for the program, `str()` for the customer; `client_id` where the frame had one."""

    def __init__(self, code: str, text: str, client_id: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.client_id = client_id


@dataclass(frozen=True, slots=True)
class Hello:
    token: str = ""
    after: int = 0
    conversation: int | None = None  # whose rows the tab already shows


@dataclass(frozen=True, slots=True)
class Say:
    client_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Choose:
    client_id: str
    offer_seq: int
    choice: str  # "<answer id>", "m<id>" for what was told this customer alone, or "none"


@dataclass(frozen=True, slots=True)
class Person:
    client_id: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class End:
    client_id: str


@dataclass(frozen=True, slots=True)
class Rate:
    client_id: str
    score: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class Email:
    """An address for one signed link back."""

    client_id: str
    address: str


@dataclass(frozen=True, slots=True)
class Typing:
    pass


Frame = Hello | Say | Choose | Person | End | Rate | Email | Typing


def parse(content: object) -> Frame:
    """Return the frame that `content` (decoded JSON) stands for. Raises BadFrame."""
    if not isinstance(content, Mapping):
        raise BadFrame("bad_frame", "This is not a message that we understand.")
    kind = content.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise BadFrame("bad_frame", "This is not a message that we understand.", _loose_id(content))
    return reader(content)


def clean(text: object, *, client_id: str = "", maximum: int = MAX_TEXT) -> str:
    """Return `text` with CRLF and CR as LF, and nothing else changed. Raises BadFrame."""
    if not isinstance(text, str):
        raise BadFrame("bad_frame", "The text of this message is missing.", client_id)
    if "\x00" in text:
        raise BadFrame("nul", "This message holds a character that cannot be stored.", client_id)
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise BadFrame(
            "broken", "This message holds half a character. Please type it again.", client_id
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > maximum:
        raise BadFrame(
            "too_long",
            f"This message has {len(text):,} characters; {maximum:,} is the most we can take."
            " Please send it in parts.",
            client_id,
        )
    return text


def is_address(text: str) -> bool:
    """Say whether this is one e-mail address, which can stand in the head of a mail."""
    return len(text) <= 254 and _ADDRESS.fullmatch(text) is not None


class Row(Protocol):
    """What `row` reads of a `chat.models.Message`."""

    seq: int
    kind: str
    sender: str
    text: str
    created_at: datetime
    role: str
    author_name: str
    client_id: str | None
    meta: dict[str, Any]


def row(message: Row, *, names: bool, own: bool = True) -> dict[str, Any]:
    """Return a stored row as customers (`own`) and staff see it.

    `names`: staff are named, not only their role.
    """
    sent: dict[str, Any] = {
        "seq": message.seq,
        "kind": message.kind,
        "sender": message.sender,
        "text": message.text,
        "at": message.created_at.isoformat(),
        "role": message.role,
        "name": message.author_name if names else "",
        "meta": dict(message.meta),
    }
    if not names:
        sent["meta"].pop("author", None)
    if own and message.client_id:
        sent["client_id"] = message.client_id
    return sent


def error(fault: BadFrame) -> dict[str, Any]:
    sent = {"type": "error", "code": fault.code, "text": str(fault)}
    return sent | ({"client_id": fault.client_id} if fault.client_id else {})


def _hello(content: Mapping[str, object]) -> Hello:
    token = content.get("token") or ""
    # All that are made are ASCII; half a character could not even be hashed.
    if not isinstance(token, str) or len(token) > MAX_TOKEN or not token.isascii():
        raise BadFrame("bad_frame", "The token of this page is not valid.")
    conversation = content.get("conversation")
    shown = conversation if isinstance(conversation, int) and _is_number(conversation) else None
    return Hello(token, _number(content, "after"), shown)


def _say(content: Mapping[str, object]) -> Say:
    client_id = _client_id(content)
    text = clean(content.get("text"), client_id=client_id)
    if not text.strip():
        raise BadFrame("empty", "There is nothing in this message yet.", client_id)
    return Say(client_id, text)


def _choose(content: Mapping[str, object]) -> Choose:
    client_id, choice = _client_id(content), content.get("choice")
    if not isinstance(choice, str | int) or not _CHOICE.fullmatch(str(choice)):
        raise BadFrame("bad_choice", "This choice is not one of those offered.", client_id)
    return Choose(client_id, _number(content, "offer_seq", client_id), str(choice)[:20])


def _person(content: Mapping[str, object]) -> Person:
    client_id = _client_id(content)
    return Person(client_id, clean(content.get("text") or "", client_id=client_id))


def _end(content: Mapping[str, object]) -> End:
    return End(_client_id(content))


def _rate(content: Mapping[str, object]) -> Rate:
    client_id, score = _client_id(content), content.get("score")
    if str(score) not in {"1", "-1"}:  # true and 1.0 equal 1 and are no rating
        raise BadFrame("bad_score", "A rating is 1 or -1.", client_id)
    words = clean(content.get("words") or "", client_id=client_id, maximum=2_000)
    return Rate(client_id, int(str(score)), words)


def _email(content: Mapping[str, object]) -> Email:
    client_id, address = _client_id(content), content.get("address")
    address = address.strip() if isinstance(address, str) else ""
    if not is_address(address):
        raise BadFrame("bad_email", "This does not look like an e-mail address.", client_id)
    return Email(client_id, address)


def _client_id(content: Mapping[str, object]) -> str:
    client_id = content.get("client_id")
    if (
        not isinstance(client_id, str)
        or not 0 < len(client_id) <= MAX_ID
        or not client_id.isprintable()
    ):
        raise BadFrame(
            "bad_frame", "This message has no number of its own. Please reload the page."
        )
    return client_id


def _loose_id(content: Mapping[str, object]) -> str:
    client_id = content.get("client_id")
    return client_id[:MAX_ID] if isinstance(client_id, str) else ""


def _number(content: Mapping[str, object], key: str, client_id: str = "") -> int:
    value = content.get(key, 0)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    if not _is_number(value):
        raise BadFrame("bad_frame", f"{key} is not a number.", client_id)
    return value  # type: ignore[return-value]


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


_READERS: dict[str, Callable[[Mapping[str, object]], Frame]] = {
    "hello": _hello,
    "say": _say,
    "choose": _choose,
    "person": _person,
    "end": _end,
    "rate": _rate,
    "email": _email,
    "typing": lambda content: Typing(),
}
