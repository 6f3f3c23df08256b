"""Who is chatting.

A browser by its opaque token, a business's customer by a signed one. Never by what is typed.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import jwt
from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import CharField

from chat import conversations, frames, throttle
from chat.models import Conversation, VisitorToken
from memory import services
from memory.models import Customer
from memory.prepared import Prepared, argument

COOKIE = "rapport_visitor"
LINK_SALT = "chat.link_back"
TOKEN_SALT = "chat.visitor"  # noqa: S105 - a salt, no secret
ALGORITHMS = ["HS256"]


class NotAccepted(Exception):
    """The signed token is wrong, over, or not for us; the words are for staff's log."""


class Gone(Exception):
    """The customer was erased, or is not who sits there any more."""


@dataclass(frozen=True, slots=True)
class Who:
    customer_id: int
    verified: bool  # named by the business with a signed token


def recognise(token: str, *, now: datetime) -> Who | None:
    """Return whose browser this is, or None when nobody's (any more)."""
    if not token:
        return None
    known = (
        VisitorToken.objects.valid(digest(token), now)
        .filter(customer__erase_requested_at=None)
        .select_related("customer")
        .first()
    )
    if known is None:
        return None
    return Who(known.customer_id, verified=known.customer.kind == Customer.Kind.IDENTIFIED)


def of(token: str, *, now: datetime) -> Who | None:
    """Return whom a browser's token or a signed one names.

    Raises NotAccepted for a bad signed one.
    """
    return from_signed(token, now=now) if is_signed(token) else recognise(token, now=now)


def stands(who: Who, token: str) -> bool:
    """Say whether an open tab may still speak as `who`: erased, or "not me", may have come since.

    `token`: the browser's, where that says who. One that ends in mid-chat cuts nobody off.
    """
    if token:
        return bool(_BROWSER(hers=who.customer_id, digest=digest(token)))
    return bool(_KNOWN(hers=who.customer_id))


_KNOWN = Prepared(
    lambda: Customer.objects.filter(pk=argument("hers"), erase_requested_at=None).values_list("pk")
)
_BROWSER = Prepared(
    lambda: Customer.objects.filter(
        pk=argument("hers"),
        erase_requested_at=None,
        tokens__digest=argument("digest", CharField()),
    ).values_list("pk")
)


def is_signed(token: str) -> bool:
    return token.count(".") == 2


def part(who: Who, *, now: datetime) -> None:
    """Somebody else is chatting from here on: what the bot alone had with `who` ends."""
    left = conversations.current(who.customer_id, now=now)
    if left is not None and left.handler == Conversation.Handler.BOT:
        conversations.close(left.pk, reason="identified", now=now)


def mint() -> str:
    """Return a token for a browser nobody knows. It means nobody until the first message is sent:
    whoever only looks at the page leaves nothing in the database."""
    return signing.Signer(salt=TOKEN_SALT).sign(secrets.token_urlsafe(24))


def unused(token: str) -> bool:
    """Say whether this is a minted token that means nobody yet, so that it may still become one."""
    return _minted(token) and not _used(token)


@transaction.atomic
def new_visitor(token: str, *, address: str, now: datetime) -> tuple[Who, str]:
    """Make a visitor for the browser with that minted token, or with a fresh one.

    Of two tabs that say their first word at once, the second is who the first made.
    Raises throttle.Throttled.
    """
    if _minted(token):
        conversations.in_turn(f"visitor:{digest(token)}")
        if (who := recognise(token, now=now)) is not None:
            return who, token
    throttle.check_new_visitor(address=address, now=now)
    customer = services.new_customer(kind=Customer.Kind.VISITOR, now=now)
    fresh = token if unused(token) else mint()
    issue(customer.pk, address=address, now=now, token=fresh)
    return Who(customer.pk, verified=False), fresh


def issue(
    customer_id: int,
    *,
    address: str,
    now: datetime,
    days: float | None = None,
    token: str = "",
) -> str:
    """Return a new token for that customer; only its hash is stored."""
    token = token or mint()
    VisitorToken.objects.create(
        digest=digest(token),
        customer_id=customer_id,
        created_at=now,
        expires_at=now + timedelta(days=settings.CHAT_VISITOR_DAYS if days is None else days),
        address=throttle.hashed(address) if address else "",
    )
    return token


def renew(token: str, *, now: datetime) -> None:
    """A visitor who comes back stays known, once a day at most; a name proven for a time ends."""
    until = now + timedelta(days=settings.CHAT_VISITOR_DAYS)
    VisitorToken.objects.valid(digest(token), now).filter(
        customer__kind=Customer.Kind.VISITOR, expires_at__lt=until - timedelta(days=1)
    ).update(expires_at=until)


def drop(token: str) -> None:
    """ "Not me": this browser starts afresh; what was remembered stays with whoever it was."""
    VisitorToken.objects.filter(digest=digest(token)).delete()


def from_signed(token: str, *, now: datetime) -> Who:
    """Return the customer that the business's own site names. Raises NotAccepted.

    HS256 with the shared secret; `exp` and `aud` are required, `sub` is the business's own id of
    the customer.
    """
    if not settings.CHAT_IDENTITY_SECRET:
        raise NotAccepted("no secret is set")
    try:
        claims = jwt.decode(
            token,
            settings.CHAT_IDENTITY_SECRET,
            algorithms=ALGORITHMS,
            audience=settings.CHAT_IDENTITY_AUDIENCE,
            options={"require": ["exp", "aud", "sub"], "verify_exp": False},
        )
        expires = int(claims["exp"])
    except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError) as exc:
        raise NotAccepted(str(exc)) from exc
    longest = timedelta(minutes=settings.CHAT_IDENTITY_MINUTES)
    if not now.timestamp() < expires <= (now + longest).timestamp():
        raise NotAccepted("over, or good for longer than is accepted")
    return _identified(claims, now)


def link_back(conversation_id: int) -> str:
    """Return what stands in the one link back; good for CHAT_LINK_DAYS."""
    return signing.dumps(conversation_id, salt=LINK_SALT, compress=False)


def from_link(signed: str) -> Conversation | None:
    """Return the conversation of a link that is still good.

    Only a visitor's: an identified customer signs in.
    """
    days = settings.CHAT_LINK_DAYS
    try:
        pk = signing.loads(signed, salt=LINK_SALT, max_age=timedelta(days=days))
    except signing.BadSignature:
        return None
    visitors = Conversation.objects.filter(
        customer__kind=Customer.Kind.VISITOR, customer__erase_requested_at=None
    )
    return visitors.filter(pk=pk).first() if isinstance(pk, int) else None


def _identified(claims: dict[str, object], now: datetime) -> Who:
    external_id = claims["sub"]
    if not isinstance(external_id, str) or not 0 < len(external_id) <= 200:
        raise NotAccepted("sub is not a text of 1 to 200 characters")
    if not external_id.isprintable():  # a NUL could not even be looked for
        raise NotAccepted("sub holds a character that cannot be printed")
    email = str(claims.get("email") or "")
    customer = services.identify(
        external_id,
        name=_one_line(claims.get("name"))[:200],
        email=email if frames.is_address(email) else "",
        timezone=_zone(claims.get("zoneinfo")),
        now=now,
    )
    if customer.erase_requested_at is not None:
        raise NotAccepted("this customer asked to be erased")
    return Who(customer.pk, verified=True)


def _minted(token: str) -> bool:
    """Only what we made ourselves is long enough to be a secret."""
    try:
        signing.Signer(salt=TOKEN_SALT).unsign(token)
    except signing.BadSignature:
        return False
    return True


def _used(token: str) -> bool:
    return VisitorToken.objects.filter(digest=digest(token)).exists()


def _one_line(said: object) -> str:
    return "".join(c for c in str(said or "") if c.isprintable())


def _zone(name: object) -> str:
    """The reader's zone if there is such a one: times are told by it."""
    try:
        return ZoneInfo(str(name)).key if name else ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ""


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
