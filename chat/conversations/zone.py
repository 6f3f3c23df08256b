"""Whose clock a conversation goes by: the customer's where it is known, else the business's."""

from chat.models import Business, Conversation


def timezone_of(conversation: Conversation) -> str:
    return conversation.customer.timezone or business().timezone


def business() -> Business:
    return Business.objects.get_or_create(pk=1)[0]
