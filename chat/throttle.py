"""How much one visitor, and one address, may send in a minute.

Counted in the cache; without a cache, not at all.
"""

from __future__ import annotations

import hashlib
import logging
from datetime import datetime

from django.conf import settings
from django.core.cache import cache

logger = logging.getLogger(__name__)

WINDOW = 60  # seconds
HOUR = 3600


class Throttled(Exception):
    def __init__(self, seconds: int) -> None:
        super().__init__(f"wait {seconds} s")
        self.seconds = seconds


def check(*, customer_id: int | None, address: str, now: datetime) -> None:
    """Count one message. Raises Throttled with the seconds to wait."""
    if customer_id is not None:
        _count(f"visitor:{customer_id}", settings.CHAT_VISITOR_PER_MINUTE, now)
    if address:
        _count(f"address:{hashed(address)}", settings.CHAT_ADDRESS_PER_MINUTE, now)


def check_new_visitor(*, address: str, now: datetime) -> None:
    """Count one new visitor: a script must not fill the database with them."""
    if address:
        _count(f"new:{hashed(address)}", settings.CHAT_VISITORS_PER_MINUTE, now)


def check_hello(*, address: str, now: datetime) -> None:
    """Count one greeting of a tab: each reads the conversation. An office may come back at once."""
    if address:
        _count(f"hello:{hashed(address)}", settings.CHAT_ADDRESS_PER_MINUTE * 5, now)


def check_mail(*, address: str, mailbox: str, now: datetime) -> None:
    """Count one mail to an address that somebody typed: it may be a stranger's."""
    most = settings.CHAT_MAILS_PER_HOUR
    _count(f"mailbox:{hashed(mailbox.casefold())}", most, now, window=HOUR)
    if address:
        _count(f"mails:{hashed(address)}", most, now, window=HOUR)


def hashed(address: str) -> str:
    """Return an address so that equal ones can be seen and none can be read."""
    return hashlib.blake2b(
        address.encode(), key=settings.SECRET_KEY.encode()[:64], digest_size=16
    ).hexdigest()


def _count(key: str, most: int, now: datetime, *, window: int = WINDOW) -> None:
    number, into = divmod(int(now.timestamp()), window)
    key = f"throttle:{key}:{number}"
    try:
        cache.add(key, 0, timeout=window * 2)
        count = cache.incr(key)
    except Exception:
        # Any driver's error: a customer is not turned away because the counter is.
        logger.warning("Unable to count messages", exc_info=True)
        return
    if count > most:
        raise Throttled(window - into)
