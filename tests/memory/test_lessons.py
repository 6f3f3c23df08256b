"""Lessons come from events and agree with their evidence; the failure itself is not kept."""

import pytest

from memory import services
from memory.models import Lesson, Memory
from tests.memory.statements import NOW

pytestmark = pytest.mark.django_db
SPACE = ("agents", "bot")


def learn(status, **more):
    return services.learn_from_tool("order_status", status=status, namespace=SPACE, now=NOW, **more)


def test_a_refused_call_never_teaches_that_the_endpoint_is_missing():
    lesson = learn(403)

    assert "may not" in lesson.text
    assert "exist" not in lesson.text


def test_a_lesson_that_its_status_does_not_bear_out_is_not_kept():
    text = "The endpoint does not exist: use another one."

    assert (
        services.learn_lesson(
            "tool:x", text=text, conditions={}, evidence={"status": 403}, namespace=SPACE, now=NOW
        )
        is None
    )
    assert not Lesson.objects.exists()


def test_the_same_lesson_is_counted_and_not_doubled():
    learn(429)
    assert learn(429).times_seen == 2


def test_a_status_that_teaches_nothing_leaves_nothing():
    assert learn(418) is None


def test_lessons_are_read_from_exactly_the_namespaces_asked_for():
    lesson = learn(401)

    assert services.lessons_for("tool:order_status", namespaces=[SPACE]) == [lesson]
    assert services.lessons_for("tool:order_status", namespaces=[("agents",)]) == []


def test_what_worked_is_kept_for_this_customer(ada):
    made = services.feedback(
        ada.pk, kind="thumbs_down", tried="A link", worked="Steps, one by one",
        evidence={"message": 7}, now=NOW,
    )  # fmt: skip

    assert (made.kind, made.memory_type) == ("experience", "episodic")
    assert "Steps" in made.text


def test_a_failure_alone_is_no_experience(ada):
    services.feedback(ada.pk, kind="thumbs_down", tried="A link", worked="", evidence={}, now=NOW)

    assert not Memory.objects.exists()
