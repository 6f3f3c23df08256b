"""What the database itself holds: each constraint by its name, with what it refuses and allows."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction

from escalations.models import Calendar, Escalation
from memory.models import Answer, Memory
from tests.factories import NOW, make_conversation, make_customer, make_staff, make_topic

pytestmark = pytest.mark.django_db

OURS = ("memory", "chat", "escalations")


def held() -> Iterator[tuple[str, type[models.Model]]]:
    """Every constraint of our models by its name, every unique column as "app.Model.column"."""
    for model in apps.get_models():
        if model._meta.app_label in OURS:
            yield from ((one.name, model) for one in model._meta.constraints)
            for field in model._meta.local_fields:
                if field.unique and not field.primary_key:
                    yield f"{model._meta.label}.{field.name}", model


@pytest.fixture
def world() -> dict[str, Any]:
    """What rows may point at."""
    ada, ben, sam, kim = make_customer("Ada"), make_customer("Ben"), make_staff(), make_staff("kim")
    lee, mia = (User.objects.create_user(name) for name in ("lee", "mia"))
    plan = make_topic("plan")
    told = {"customer": ada, "category": "preference", "stated_at": NOW, "recorded_at": NOW}
    old, new = (Memory.objects.create(**told, confirmed_at=NOW, text=text) for text in "ab")
    said = {"parts": ["x"], "said_at": NOW, "recorded_at": NOW, "status": "superseded"}
    first, second = (Answer.objects.create(title="T?", **said) for _ in range(2))
    calendar = Calendar.objects.create(name="Hours")
    chat, other = make_conversation(ada), make_conversation(ben)
    open_one = Escalation.objects.create(conversation=other, reason="asked", opened_at=NOW)
    return {f"@{name}": row for name, row in locals().items()}


# By name: the first row; what of it changes in one that is refused beside it; and in one that may
# stand. "@ada" is one of `world`.
Row = dict[str, Any]
BESIDE: dict[str, tuple[Row, Row, Row]] = {
    "memory.ApiKey.digest": (
        {"name": "a", "prefix": "rk", "digest": "d", "user": "@sam", "created_at": NOW},
        {"name": "b", "user": "@kim"},
        {"digest": "e"},
    ),
    "storeitem_key_unique": (
        {"namespace": ["a"], "key": "k", "value": {}, "created_at": NOW, "updated_at": NOW},
        {"value": {"other": 1}},
        {"namespace": ["a", "b"]},
    ),
    "memory.Customer.external_id": (
        {"external_id": "A-1", "created_at": NOW},
        {"name": "Another"},
        {"external_id": None},
    ),
    "answer_one_active_per_title": (
        {"title": "Where?", "parts": ["x"], "said_at": NOW, "recorded_at": NOW},
        {"parts": ["y"]},
        {"status": "superseded"},
    ),
    "answermatch_one_vote_per_customer": (
        {"answer": "@first", "customer": "@ada", "asked": "Q", "asked_normalised": "q",
         "outcome": "chosen", "created_at": NOW},
        {"outcome": "refused"},
        {"customer": "@ben"},
    ),
    "answermatch_one_answer_per_wording": (
        {"answer": "@first", "customer": "@ada", "asked": "Q", "asked_normalised": "q",
         "outcome": "confirmed", "created_at": NOW},
        {"answer": "@second", "customer": "@ben"},
        {"customer": "@ben"},
    ),
    "memory.Topic.key": (
        {"key": "colour", "category": "preference", "label": "Colour"},
        {"label": "Hue"},
        {"key": "hue"},
    ),
    "instruction_one_per_version": (
        {"kind": "guidance", "version": 1, "created_at": NOW},
        {"text": "Other words"},
        {"kind": "knowledge"},
    ),
    "episode_ref_unique": (
        {"customer": "@ada", "ref": "r", "transcript": {}, "ended_at": NOW, "recorded_at": NOW},
        {"transcript": {"messages": []}},
        {"customer": "@ben"},
    ),
    "memory_one_active_per_topic": (
        {"customer": "@ada", "topic": "@plan", "category": "preference", "single_valued": True,
         "stated_at": NOW, "recorded_at": NOW, "confirmed_at": NOW},
        {"text": "another value"},
        {"valid_until": NOW},
    ),
    "conflict_one_open_per_topic": (
        {"customer": "@ada", "topic": "@plan", "old": "@old", "new": "@new", "opened_at": NOW,
         "due_at": NOW},
        {"old": "@new", "new": "@old"},
        {"decided_at": NOW},
    ),
    "chat.Wording.key": ({"key": "thanks"}, {"variants": ["Ta"]}, {"key": "fine"}),
    "chat.VisitorToken.digest": (
        {"digest": "d", "customer": "@ada", "created_at": NOW, "expires_at": NOW},
        {"customer": "@ben"},
        {"digest": "e"},
    ),
    "message_seq_unique": (
        {"conversation": "@chat", "seq": 1, "sender": "customer", "text": "a", "created_at": NOW},
        {"text": "b"},
        {"conversation": "@other"},
    ),
    "message_client_id_unique": (
        {"conversation": "@chat", "seq": 1, "client_id": "c", "sender": "customer", "text": "a",
         "created_at": NOW},
        {"seq": 2},
        {"seq": 3, "client_id": None},
    ),
    "chat.Tool.name": (
        {"name": "orders", "description": "a", "url": "https://shop.example/"},
        {"description": "b"},
        {"name": "returns"},
    ),
    "escalations.StaffProfile.user": ({"user": "@lee"}, {"role": "dentist"}, {"user": "@mia"}),
    "escalations.Calendar.name": ({"name": "Winter"}, {"timezone": "UTC"}, {"name": "Summer"}),
    "queue_one_default": (
        {"name": "Desk", "calendar": "@calendar", "is_default": True},
        {"name": "Lab"},
        {"name": "Yard", "is_default": False},
    ),
    "escalations.Queue.name": (
        {"name": "Desk", "calendar": "@calendar"},
        {"first_reply_minutes": 5},
        {"name": "Lab"},
    ),
    "escalation_one_open_per_conversation": (
        {"conversation": "@chat", "reason": "asked", "opened_at": NOW},
        {"reason": "unsure"},
        {"closed_at": NOW},
    ),
    "draft_one_per_staff": (
        {"escalation": "@open_one", "staff": "@sam", "updated_at": NOW},
        {"text": "another"},
        {"staff": "@kim"},
    ),
    "escalations.CannedReply.shortcut": (
        {"shortcut": "bye", "text": "Bye"},
        {"text": "So long"},
        {"shortcut": "hello"},
    ),
    "presence_one_per_staff": (
        {"escalation": "@open_one", "staff": "@sam", "seen_at": NOW},
        {"typing_at": NOW},
        {"staff": "@kim"},
    ),
    "escalations.RatingLook.conversation": (
        {"conversation": "@chat", "staff": "@sam", "at": NOW},
        {"staff": "@kim"},
        {"conversation": "@other"},
    ),
}  # fmt: skip
_FACT = {
    "customer": "@ada", "category": "preference", "stated_at": NOW, "recorded_at": NOW,
    "confirmed_at": NOW,
}  # fmt: skip
_MATCH = {"asked": "Q", "asked_normalised": "q", "outcome": "open", "created_at": NOW}
_HANDS = {"conversation": "@chat", "reason": "asked", "opened_at": NOW}
_NOTE = {"author": "@sam", "text": "note", "created_at": NOW}
# By name: rows that are refused by themselves; and rows that may stand.
ALONE: dict[str, tuple[list[Row], list[Row]]] = {
    "answermatch_score_between_0_and_1": (
        [_MATCH | {"score": -0.01}, _MATCH | {"score": 1.01}],
        [_MATCH | {"score": 0.0}, _MATCH | {"score": 1.0}],
    ),
    **{
        f"memory_{name}_between_0_and_1": (
            [_FACT | {name: -0.01}, _FACT | {name: 1.01}],
            [_FACT | {name: 0.0}, _FACT | {name: 1.0}],
        )
        for name in ("confidence", "importance", "usefulness")
    },
    "business_is_one": ([{"pk": 2}], [{"pk": 1}]),
    "reportsetting_is_one": ([{"pk": 2}], [{"pk": 1}]),
    "escalation_claim_is_whole": (
        [_HANDS | {"claimed_by": "@sam"}, _HANDS | {"claimed_at": NOW}],
        [_HANDS | {"claimed_by": "@sam", "claimed_at": NOW}],
    ),
    "staffnote_has_one_place": (
        [_NOTE, _NOTE | {"conversation": "@chat", "customer": "@ada"}],
        [_NOTE | {"conversation": "@chat"}, _NOTE | {"customer": "@ada"}],
    ),
}


def test_every_constraint_has_a_test_that_bears_its_name():
    assert sorted(name for name, _ in held()) == sorted([*BESIDE, *ALONE])


def make(name: str, world: dict[str, Any], row: Row) -> None:
    model: Any = dict(held())[name]
    model.objects.create(
        **{k: world[v] if isinstance(v, str) and v in world else v for k, v in row.items()}
    )


def refuse(name: str, world: dict[str, Any], row: Row) -> None:
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        make(name, world, row)
    constraint = refused.value.__cause__.diag.constraint_name  # type: ignore[union-attr]
    wanted = name.rsplit(".", maxsplit=1)[-1] if "." in name else name
    assert constraint == name or ("." in name and f"_{wanted}_" in constraint)


@pytest.mark.parametrize("name", BESIDE)
def test_two_rows(name, world):
    first, refused, stands = BESIDE[name]
    make(name, world, first)

    refuse(name, world, first | refused)

    make(name, world, first | stands)


@pytest.mark.parametrize("name", ALONE)
def test_one_row(name, world):
    refused, stands = ALONE[name]
    for row in refused:
        refuse(name, world, row)
    for row in stands:
        with transaction.atomic():
            make(name, world, row)
            transaction.set_rollback(True)
