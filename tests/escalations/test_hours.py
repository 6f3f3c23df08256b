"""Opening hours: split days, holidays, and both nights on which the clock is changed."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from escalations import hours as h

WORKDAYS = {str(day): [["08:00", "12:00"], ["13:00", "17:00"]] for day in range(5)}
NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"


def practice(zone=NEW_YORK, weekly=WORKDAYS, exceptions=None):
    return h.parse(timezone=zone, weekly=weekly, exceptions=exceptions or {})


def at(zone, *parts, fold=0):
    return datetime(*parts, tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


class TestIsOpen:
    @pytest.mark.parametrize(
        ("clock", "expected"),
        [((7, 59), False), ((8, 0), True), ((11, 59), True), ((12, 0), False), ((12, 30), False),
         ((13, 0), True), ((16, 59), True), ((17, 0), False)],
    )  # fmt: skip
    def test_follows_a_split_day(self, clock, expected):
        assert h.is_open(practice(), at(NEW_YORK, 2026, 3, 2, *clock)) is expected

    def test_is_shut_on_a_holiday_and_short_on_a_short_day(self):
        hours = practice(exceptions={"2026-12-25": [], "2026-12-24": [["08:00", "12:00"]]})

        assert not h.is_open(hours, at(NEW_YORK, 2026, 12, 25, 9))
        assert h.is_open(hours, at(NEW_YORK, 2026, 12, 24, 9))
        assert not h.is_open(hours, at(NEW_YORK, 2026, 12, 24, 14))

    def test_goes_by_the_clock_on_the_wall_of_the_business(self):
        assert h.is_open(practice(BERLIN), datetime(2026, 1, 5, 7, 30, tzinfo=UTC))
        assert not h.is_open(practice(NEW_YORK), datetime(2026, 1, 5, 7, 30, tzinfo=UTC))


class TestNextOpening:
    @pytest.mark.parametrize(
        ("now", "opens"),
        [((2026, 3, 2, 9, 0), (2026, 3, 2, 9, 0)), ((2026, 3, 2, 12, 10), (2026, 3, 2, 13, 0)),
         ((2026, 3, 6, 18, 0), (2026, 3, 9, 8, 0)), ((2026, 12, 24, 20, 0), (2026, 12, 28, 8, 0))],
    )  # fmt: skip
    def test_finds_the_door_opening_next(self, now, opens):
        hours = practice(exceptions={"2026-12-25": []})
        assert h.next_opening(hours, at(NEW_YORK, *now)) == at(NEW_YORK, *opens)

    def test_promises_nothing_when_it_never_opens(self):
        assert h.next_opening(practice(weekly={}), at(NEW_YORK, 2026, 3, 2, 9)) is None
        assert h.add_open_minutes(practice(weekly={}), at(NEW_YORK, 2026, 3, 2, 9), 5) is None


class TestAddOpenMinutes:
    def test_runs_over_the_lunch_break_and_the_weekend(self):
        friday_noon = at(NEW_YORK, 2026, 3, 13, 11, 30)

        assert h.add_open_minutes(practice(), friday_noon, 60) == at(NEW_YORK, 2026, 3, 13, 13, 30)
        assert h.add_open_minutes(practice(), friday_noon, 5 * 60) == at(
            NEW_YORK, 2026, 3, 16, 8, 30
        )

    def test_ends_on_the_closing_minute_when_it_fits(self):
        start = at(NEW_YORK, 2026, 3, 2, 16, 0)
        assert h.add_open_minutes(practice(), start, 60) == at(NEW_YORK, 2026, 3, 2, 17, 0)


ROUND_THE_CLOCK = {str(day): [["00:00", "24:00"]] for day in range(7)}
NIGHTS = {str(day): [["00:00", "06:00"], ["22:00", "24:00"]] for day in range(7)}
CHANGES = [
    (NEW_YORK, (2026, 3, 8), 23, 5),
    (NEW_YORK, (2026, 11, 1), 25, 7),
    (BERLIN, (2026, 3, 29), 23, 5),
    (BERLIN, (2026, 10, 25), 25, 7),
]


@pytest.mark.parametrize(("zone", "day", "day_hours", "night_hours"), CHANGES)
class TestTheDaysOfTheClockChange:
    def test_are_as_long_as_they_are(self, zone, day, day_hours, night_hours):
        start, end = at(zone, *day), at(zone, *day) + timedelta(hours=day_hours)

        assert h.open_minutes(practice(zone, ROUND_THE_CLOCK), start, end) == day_hours * 60
        assert h.open_minutes(practice(zone, NIGHTS), start, at(zone, *day, 12)) == night_hours * 60

    def test_open_at_eight_on_the_wall(self, zone, day, day_hours, night_hours):
        hours = practice(zone, {str(d): [["08:00", "17:00"]] for d in range(7)})
        opening = h.next_opening(hours, at(zone, *day))

        assert opening == at(zone, *day, 8)
        assert h.is_open(hours, opening)
        assert not h.is_open(hours, opening - timedelta(seconds=1))
        assert h.add_open_minutes(hours, at(zone, *day), 9 * 60) == at(zone, *day, 17)

    def test_say_the_time_that_the_clock_on_the_wall_will_show(
        self, zone, day, day_hours, night_hours
    ):
        hours = practice(zone, {"6": [["08:00", "17:00"]]})
        evening_before = at(zone, *day) - timedelta(hours=4)

        opening = h.next_opening(hours, evening_before)

        told = h.moment_in_words(hours, opening, evening_before, reader_zone=zone)
        assert told == "tomorrow at 8:00"


class TestTheHourThatTheClockSkips:
    @pytest.mark.parametrize(("zone", "day"), [(NEW_YORK, (2026, 3, 8)), (BERLIN, (2026, 3, 29))])
    def test_opens_when_the_clock_jumps(self, zone, day):
        hours = practice(zone, {"6": [["02:30", "04:00"]]})
        jump = at(zone, *day, 3)

        assert h.next_opening(hours, at(zone, *day)) == jump
        assert h.open_minutes(hours, at(zone, *day), at(zone, *day, 12)) == 60

    def test_swallows_a_span_that_lies_in_it(self):
        hours = practice(NEW_YORK, {"6": [["02:10", "02:50"]]})
        assert h.next_opening(hours, at(NEW_YORK, 2026, 3, 8)) == at(NEW_YORK, 2026, 3, 15, 2, 10)


class TestTheHourThatComesTwice:
    @pytest.mark.parametrize(
        ("zone", "day", "hour"),
        [(NEW_YORK, (2026, 11, 1), 1), (BERLIN, (2026, 10, 25), 2)],
    )
    def test_counts_from_its_first_coming(self, zone, day, hour):
        hours = practice(zone, {"6": [[f"0{hour}:30", f"0{hour + 1}:00"]]})

        assert h.next_opening(hours, at(zone, *day)) == at(zone, *day, hour, 30)
        assert h.open_minutes(hours, at(zone, *day), at(zone, *day, 12)) == 90
        assert h.is_open(hours, at(zone, *day, hour, 45, fold=1))


class TestMomentInWords:
    NOW = (2026, 3, 5, 18, 0)  # a Thursday

    @pytest.mark.parametrize(
        ("when", "words"),
        [((2026, 3, 5, 19, 5), "today at 19:05"), ((2026, 3, 6, 8, 0), "tomorrow at 8:00"),
         ((2026, 3, 9, 8, 0), "on Monday at 8:00"),
         ((2026, 3, 12, 8, 0), "on Thursday 12 March at 8:00"),
         ((2027, 1, 4, 8, 0), "on Monday 4 January at 8:00")],
    )  # fmt: skip
    def test_says_the_day_as_people_do(self, when, words):
        now, when = at(NEW_YORK, *self.NOW), at(NEW_YORK, *when)
        assert h.moment_in_words(practice(), when, now, reader_zone="America/New_York") == words

    def test_names_the_zone_where_the_readers_clock_differs(self):
        now, when = at(NEW_YORK, *self.NOW), at(NEW_YORK, 2026, 3, 9, 8)
        hours = practice()

        there = h.moment_in_words(hours, when, now, reader_zone="Europe/Berlin")
        assert there == "on Monday at 8:00 (New York time)"
        assert (
            h.moment_in_words(hours, when, now, reader_zone="America/Toronto")
            == "on Monday at 8:00"
        )

    @pytest.mark.parametrize("unknown", ["", "no/zone"])
    def test_names_the_zone_where_the_readers_clock_is_not_known(self, unknown):
        now, when = at(NEW_YORK, *self.NOW), at(NEW_YORK, 2026, 3, 9, 8)

        told = h.moment_in_words(practice(), when, now, reader_zone=unknown)

        assert told == "on Monday at 8:00 (New York time)"


class TestWeekInWords:
    def test_joins_days_that_are_alike(self):
        weekly = WORKDAYS | {"4": [["08:00", "12:00"]]}
        assert h.week_in_words(practice(weekly=weekly)) == (
            "Mon–Thu 8:00–12:00, 13:00–17:00 · Fri 8:00–12:00"
        )


class TestParse:
    @pytest.mark.parametrize(
        ("zone", "weekly", "exceptions"),
        [("Mars/Base", {}, {}), (BERLIN, {"0": [["17:00", "08:00"]]}, {}),
         (BERLIN, {"0": [["08:00", "13:00"], ["12:00", "17:00"]]}, {}),
         (BERLIN, {"0": [["8 am", "9"]]}, {}),
         (BERLIN, {}, {"Christmas": []}), (BERLIN, {"0": 5}, {})],
    )  # fmt: skip
    def test_refuses_what_cannot_be_read(self, zone, weekly, exceptions):
        with pytest.raises(h.BadHours):
            h.parse(timezone=zone, weekly=weekly, exceptions=exceptions)


@given(
    zone=st.sampled_from([NEW_YORK, BERLIN, "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"]),
    start=st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),
    minutes=st.integers(0, 5000),
)
def test_minutes_that_were_added_are_the_minutes_that_passed(zone, start, minutes):
    hours = practice(zone, exceptions={date(2026, 12, 25).isoformat(): []})

    end = h.add_open_minutes(hours, start, minutes)

    assert end is not None
    assert round(h.open_minutes(hours, start, end), 3) == minutes
