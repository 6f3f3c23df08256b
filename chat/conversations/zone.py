"""Whose clock a conversation goes by: the customer's where it is known, else the business's."""

from zoneinfo import ZoneInfo

from chat.models import Business, Conversation


def timezone_of(conversation: Conversation) -> str:
    return conversation.customer.timezone or business().timezone


def clock_of(conversation: Conversation | None) -> ZoneInfo:
    """Return the clock of a page that has no browser's own: hers if she told, else ours."""
    hers = conversation.customer.timezone if conversation is not None else ""
    return _zone(hers) or business_clock()


def business_clock() -> ZoneInfo:
    """The one clock of the business: of the desk, the admin and the reports."""
    return _zone(business().timezone) or ZoneInfo("UTC")


def business() -> Business:
    return Business.objects.get_or_create(pk=1)[0]


def _zone(name: str) -> ZoneInfo | None:
    """An admin may have misspelt it: no page falls over that."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None
