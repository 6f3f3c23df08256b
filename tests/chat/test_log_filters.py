from datetime import UTC, datetime

import pytest
from django.template import Context, Template
from django.utils import timezone

from chat.templatetags.chat_log import day, moment


def test_a_rows_time_is_told_in_the_readers_zone():
    with timezone.override("America/New_York"):
        told = Template("{% load chat_log %}{{ at|moment|date:'H:i' }}")

        at = datetime(2026, 3, 2, 15, 4, tzinfo=UTC).isoformat()

        assert told.render(Context({"at": at})) == "10:04"


@pytest.mark.parametrize(
    ("iso", "words"),
    [
        ("2026-03-12", "12 March 2026"),
        ("2026-03-12T23:10:00+00:00", "12 March 2026"),
        ("", ""),
        (None, ""),
        ("soon", ""),
    ],
)
def test_a_day_is_written_as_people_write_it(iso, words):
    assert day(iso) == words


def test_what_is_no_time_is_left_as_it_is():
    assert moment("soon") == "soon"
