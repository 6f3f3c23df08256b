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


def hashed(address: str) -> str:
    """Return an address so that equal ones can be seen and none can be read."""
    return hashlib.blake2b(
        address.encode(), key=settings.SECRET_KEY.encode()[:64], digest_size=16
    ).hexdigest()


def _count(key: str, most: int, now: datetime) -> None:
    window, into = divmod(int(now.timestamp()), WINDOW)
    key = f"throttle:{key}:{window}"
    try:
        cache.add(key, 0, timeout=WINDOW * 2)
        count = cache.incr(key)
    except Exception:
        # Any driver's error: a customer is not turned away because the counter is.
        logger.warning("Unable to count messages", exc_info=True)
        return
    if count > most:
        raise Throttled(WINDOW - into)
