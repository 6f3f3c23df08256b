"""How staff are named: to colleagues in full, to customers by role, by name if so set."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet

from chat import wordings
from chat.conversations import business
from memory.models import Customer

from .models import StaffProfile

NO_ROLE = "staff"


def name_of(user: User) -> str:
    """Return the name that colleagues see."""
    return named(user.first_name, user.last_name, user.username)


def named(first: str | None, last: str | None, username: str | None) -> str:
    """The same from columns: a list builds no user for each row."""
    return f"{first or ''} {last or ''}".strip() or username or ""


def called(pk: int, name: str, kind: str) -> str:
    """Return how a customer is called, from columns as well."""
    return name or str(Customer(pk=pk, kind=kind))


def staff() -> QuerySet[User]:
    """Return everybody at the desk, as colleagues are listed."""
    return User.objects.filter(is_staff=True, is_active=True).order_by("first_name", "username")


def role_of(user: User) -> str:
    return _profile(user).role or NO_ROLE


def signs_as(user: User) -> str:
    """Return the name kept with what they write; the business decides if customers see it."""
    return _profile(user).display_name or name_of(user)


def introduced(user: User) -> str:
    """Return how the customer is told who has the conversation: "Sam, dental hygienist"."""
    role = role_of(user)
    if business().show_staff_names:
        return wordings.say("who_named", 0, 0, name=signs_as(user), role=role)
    return wordings.say("who_team" if role == NO_ROLE else "who_role", 0, 0, role=role)


def _profile(user: User) -> StaffProfile:
    try:
        return user.staff_profile
    except StaffProfile.DoesNotExist:
        return StaffProfile(user=user, role=NO_ROLE)
