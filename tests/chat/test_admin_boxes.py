"""Boxes in the admin that hold more than text: nothing, or nonsense, is said in words."""

import pytest

from chat.models import Business, Tool
from escalations.models import Calendar

TOOL = {
    "name": "order_status",
    "description": "Where an order is.",
    "arguments": '{"type": "object", "properties": {"order_id": {"type": "string"}}}',
    "result": '{"type": "object"}',
    "url": "https://shop.example/orders/{order_id}",
    "timeout_ms": "3000",
}
CALENDAR = {
    "name": "Practice",
    "timezone": "America/New_York",
    "weekly": '{"0": [["08:00", "12:00"]]}',
    "exceptions": '{"2026-12-25": []}',
}
PLACES = [
    ("/admin/chat/tool/add/", Tool, TOOL, "arguments", False),
    ("/admin/chat/tool/add/", Tool, TOOL, "result", True),
    ("/admin/escalations/calendar/add/", Calendar, CALENDAR, "weekly", False),
    ("/admin/escalations/calendar/add/", Calendar, CALENDAR, "exceptions", True),
]


@pytest.mark.parametrize(("path", "model", "filled", "box", "may_be_empty"), PLACES)
@pytest.mark.parametrize("typed", ["", "  ", "null"])
def test_an_empty_box_is_an_empty_object_or_asked_for(
    admin_client, path, model, filled, box, may_be_empty, typed
):
    answer = admin_client.post(path, filled | {box: typed})

    if may_be_empty:
        assert answer.status_code == 302
        assert getattr(model.objects.get(), box) == {}
    else:
        assert "This field is required." in answer.content.decode()
        assert not model.objects.exists()


@pytest.mark.parametrize(("path", "model", "filled", "box", "may_be_empty"), PLACES)
@pytest.mark.parametrize("typed", ["{", "[" * 20_000, '{"a":' * 20_000, "\x00"])
def test_what_is_no_json_is_refused_and_shown_again(
    admin_client, path, model, filled, box, may_be_empty, typed
):
    answer = admin_client.post(path, filled | {box: typed})

    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors[box]
    assert not model.objects.exists()


@pytest.mark.parametrize("typed", ["Mars/Olympus", "../etc/passwd", "Europe", "America/New York"])
def test_a_zone_that_there_is_not_is_refused_for_the_business(admin_client, typed):
    named = {"name": "Practice", "timezone": "Europe/London"}
    business, _ = Business.objects.update_or_create(pk=1, defaults=named)
    told = {"name": "Practice", "timezone": typed}

    answer = admin_client.post(f"/admin/chat/business/{business.pk}/change/", told)

    assert "There is no time zone of this name" in answer.content.decode()
    business.refresh_from_db()
    assert business.timezone == "Europe/London"
