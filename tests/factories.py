"""The cast and what they need: ada and ben are customers, sam and kim are staff."""

from datetime import UTC, datetime

from django.contrib.auth.models import User

from chat.models import Conversation
from memory.models import Customer, Topic

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)  # a Monday, 10:00 in New York


def make_customer(name="Ada", **fields):
    fields = {"kind": Customer.Kind.IDENTIFIED, "created_at": NOW} | fields
    return Customer.objects.create(name=name, **fields)


def make_topic(key="insurance_plan", **fields):
    fields = {"label": key.replace("_", " "), "category": "confirmed_fact"} | fields
    return Topic.objects.create(key=key, **fields)


def make_staff(username="sam", *, role="dental hygienist", **fields):
    from escalations.models import StaffProfile

    fields = {"first_name": username.title(), "is_staff": True} | fields
    fields.setdefault("email", f"{username}@practice.example")
    user = User.objects.create_user(username, password="secret", **fields)
    StaffProfile.objects.create(user=user, role=role)
    return user


def make_conversation(customer, **fields):
    fields = {"started_at": NOW, "last_message_at": NOW} | fields
    return Conversation.objects.create(customer=customer, **fields)
