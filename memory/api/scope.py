"""What a key may reach. Asked before any row is looked for: a refusal says nothing about what
exists."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja.errors import HttpError

from memory import services
from memory.models import ApiKey, Customer
from memory.types import told_time

# Which key a call takes, for its documentation.
DESK = "Takes a key of the desk."
SHARED = "Takes a key of the desk, or an agent's with the namespace shared."
CUSTOMERS = "Takes an agent's key with the namespace customers, or customers/{customer_id}."


def api_key(request: HttpRequest) -> ApiKey:
    key: ApiKey = request.auth  # type: ignore[attr-defined]
    return key


def require(request: HttpRequest, *namespace: str) -> None:
    if not services.may(api_key(request), namespace):
        raise PermissionDenied(f"This key does not reach {'/'.join(namespace)}.")


def require_shared(request: HttpRequest) -> None:
    """What is everybody's: keys of the desk may always, agents' keys by their namespaces."""
    if api_key(request).namespaces:
        require(request, "shared")


def require_desk(request: HttpRequest) -> None:
    if api_key(request).namespaces:
        raise PermissionDenied("An agent's key may not do that: it takes a key of the desk.")


def customer_of(request: HttpRequest, customer_id: int) -> Customer:
    require(request, "customers", str(customer_id))
    return Customer.objects.get(pk=customer_id)


def actor(request: HttpRequest) -> str:
    return f"api:{api_key(request).name}"


def aware(when: datetime) -> datetime:
    try:
        return told_time(when)
    except ValueError as exc:
        raise HttpError(422, str(exc)) from None


def zone(name: str) -> str:
    """A time zone that there is, or none said. For a schema's field."""
    try:
        return ZoneInfo(name).key if name else ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("There is no time zone of this name, like America/New_York.") from None
