"""Whose clock a conversation goes by: the customer's where it is known, else the business's."""

from zoneinfo import ZoneInfo

from chat.models import Business, Conversation
from memory.kept import Kept
from memory.models import Customer
from memory.prepared import related


def timezone_of(conversation: Conversation) -> str:
    return related(conversation, "customer").timezone or business().timezone


def clock_of(conversation: Conversation | None) -> ZoneInfo:
    """Return the clock of a page that has no browser's own: hers if she told, else ours."""
    return customer_clock(conversation.customer) if conversation else business_clock()


def customer_clock(customer: Customer) -> ZoneInfo:
    return _zone(customer.timezone) or business_clock()


def business_clock() -> ZoneInfo:
    """The one clock of the business: of the desk, the admin and the reports."""
    return _zone(business().timezone) or ZoneInfo("UTC")


def _business() -> Business:
    return Business.objects.get_or_create(pk=1)[0]


business: Kept[Business] = Kept(_business, "chat_business")  # to read; admins change the row


def _zone(name: str) -> ZoneInfo | None:
    """An admin may have misspelt it: no page falls over that."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None
