"""Keys to the API: made once, shown once, kept as a hash, held to their namespaces."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from memory.lifecycle.write import record_event
from memory.models import ApiKey

MARK = "rk_"
SEEN_EVERY = timedelta(minutes=1)  # one write a request would be more than the figure is worth


@transaction.atomic
def issue_key(
    name: str,
    *,
    user_id: int,
    namespaces: Sequence[Sequence[str]] = (),
    by: str,
    now: datetime,
) -> tuple[ApiKey, str]:
    """Return the key's row and the key itself, which nobody can show again.

    Without namespaces it opens the desk's part of the API alone; with them memory's part alone,
    as far as they reach: ["customers", "12"] one customer, ["customers"] all, ["agents", "billing"]
    that agent's lessons, ["shared"] what is everybody's.
    """
    raw = MARK + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        name=name,
        prefix=raw[: len(MARK) + 5],
        digest=_digest(raw),
        user_id=user_id,
        namespaces=[list(map(str, n)) for n in namespaces],
        created_at=now,
    )
    record_event("key.issued", at=now, actor=by, after=_about(key))
    return key, raw


@transaction.atomic
def revoke_key(key_id: int, *, by: str, now: datetime) -> None:
    if ApiKey.objects.filter(pk=key_id, revoked_at=None).update(revoked_at=now):
        record_event("key.revoked", at=now, actor=by, before=_about(ApiKey.objects.get(pk=key_id)))


def key_for(raw: str, *, now: datetime) -> ApiKey | None:
    """Return the key in force whose secret is `raw`; it ends when its owner is staff no more."""
    owned = ApiKey.objects.filter(user__is_active=True, user__is_staff=True)
    keys = owned.filter(revoked_at=None).select_related("user")
    key = keys.filter(digest=_digest(raw)).first()
    if key is not None:
        unseen = Q(last_used_at=None) | Q(last_used_at__lt=now - SEEN_EVERY)
        ApiKey.objects.filter(unseen, pk=key.pk).update(last_used_at=now)
    return key


def may(key: ApiKey, namespace: Sequence[str]) -> bool:
    """Is `namespace` within one of the key's own? Segments are compared whole."""
    wanted = [str(segment) for segment in namespace]
    return any(own and wanted[: len(own)] == own for own in key.namespaces)


def _digest(raw: str) -> str:
    # No salt and no slow hash: 256 random bits cannot be guessed.
    return hashlib.sha256(raw.encode()).hexdigest()


def _about(key: ApiKey) -> dict[str, object]:
    return {"key": key.pk, "name": key.name, "prefix": key.prefix, "namespaces": key.namespaces}
