"""Times in plain words and cron: what is understood and said back, and which moments come, whatever the clocks do."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import BadTask
from agents.timing import read, say

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "Asia/Kolkata",
)
MEANT = [
    ("every weekday at 9:00", "0 9 * * 1-5", "Every weekday at 09:00"),
    ("daily at 9am and 5:30 pm", "0 9 * * *\n30 17 * * *", "Every day at 09:00 and 17:30"),
    ("Mondays and Thursdays at 8:30", "30 8 * * 1,4", "Every Monday and Thursday at 08:30"),
    ("from Monday to Friday at noon", "0 12 * * 1-5", "Every weekday at 12:00"),
    ("every weekend at 10", "0 10 * * 0,6", "Every weekend day at 10:00"),
    ("every 15 minutes", "*/15 * * * *", "Every 15 minutes"),
    ("every hour at :05 and :35", "5,35 * * * *", "Every hour at :05 and :35"),
    (
        "every 30 minutes from 16:00 to 17:00 on weekdays",
        "0,30 16 * * 1-5\n0 17 * * 1-5",
        "Every weekday at 16:00, 16:30 and 17:00",
    ),
    (
        "on the 1st, 15th and last day of the month at 18:00",
        "0 18 1,15,L * *",
        "On the 1st, 15th and last day of the month at 18:00",
    ),
    ("first Monday of the month at 10:00", "0 10 * * 1#1", "On the first Monday of the month at 10:00"),
    ("the last Friday of each month at 16:30", "30 16 * * 5L", "On the last Friday of the month at 16:30"),
    ("every year on 24 December at 8:00", "0 8 24 12 *", "Every year on 24 December at 08:00"),
    ("Dec 24, 2026 at 8pm", "2026-12-24 20:00", "Once on 24 December 2026 at 20:00"),
    ("every day in March and June at 7:15", "15 7 * 3,6 *", "Every day in March and June at 07:15"),
    ("0 9 1 * 1", "0 9 1 * 1", "On the 1st of the month and every Monday at 09:00"),
]
NOT_MEANT = [
    ("every fortnight at 9", "“fortnight” is not understood"),
    ("every day", "say at what time"),
    ("every day at 25:00", "no time"),
    ("every 7 minutes", "does not come out even"),
    ("every Monday at 9:00 every 2 hours", "not both"),
    ("31 February at 9:00", "there is no"),
    ("0 25 * * *", "“25” is no hour"),
    ("0 9 * * 8", "“8” is no day of the week"),
    ("*/0 * * * *", "is no minute"),
    ("", "say when"),
    ("1" * 600, "within 500"),
]


def local(text: str, zone: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def shown(wording: str, zone: str, after: str, count: int) -> list[str]:
    rule = read(wording, zone)
    return [f"{at.astimezone(rule.zone):%m-%d %H:%M %z}" for at in rule.upcoming(local(after, zone), count)]


@pytest.mark.parametrize(("typed", "stored", "said"), MEANT)
def test_it_understands_plain_words_and_says_them_back(typed: str, stored: str, said: str) -> None:
    rule = read(typed, "UTC")
    assert (rule.text, say(rule)) == (stored, said)
    again = read(say(rule), "UTC")
    assert (again.crons, again.dates) == (rule.crons, rule.dates)


@pytest.mark.parametrize(("typed", "words"), NOT_MEANT)
def test_it_says_what_it_does_not_understand(typed: str, words: str) -> None:
    with pytest.raises(BadTask, match=words):
        read(typed, "UTC")


def test_it_knows_no_time_zone_that_is_none() -> None:
    for name in ("Middle/Earth", "../../etc/passwd", ""):
        with pytest.raises(BadTask, match="no time zone"):
            read("every day at 9:00", name)


@pytest.mark.parametrize(
    ("wording", "zone", "after", "expected"),
    [
        # 02:30 does not exist on 28 March: it comes an hour later.
        (
            "every day at 2:30", "Europe/Berlin", "2027-03-26 12:00",
            ["03-27 02:30 +0100", "03-28 03:30 +0200", "03-29 02:30 +0200"],
        ),
        # 02:30 comes twice on 25 October: it counts once.
        (
            "every day at 2:30", "Europe/Berlin", "2026-10-24 12:00",
            ["10-25 02:30 +0200", "10-26 02:30 +0100"],
        ),
        # What recurs every hour goes on through both.
        (
            "every 30 minutes", "Europe/Berlin", "2026-10-25 01:45",
            ["10-25 02:00 +0200", "10-25 02:30 +0200", "10-25 02:00 +0100", "10-25 02:30 +0100", "10-25 03:00 +0100"],
        ),
        ("every hour", "Europe/Berlin", "2027-03-28 00:30", ["03-28 01:00 +0100", "03-28 03:00 +0200"]),
        # A whole day is left out: 30 December 2011 was not there.
        ("every day at 9:00", "Pacific/Apia", "2011-12-28 12:00", ["12-29 09:00 -1000", "12-31 09:00 +1400"]),
        ("29 February at 8:00", "UTC", "2026-01-01 00:00", ["02-29 08:00 +0000", "02-29 08:00 +0000"]),
        ("31 January 2027 at 8:00", "UTC", "2026-01-01 00:00", ["01-31 08:00 +0000"]),
        ("fifth Monday of the month at 8:00", "UTC", "2026-01-01 00:00", ["03-30 08:00 +0000", "06-29 08:00 +0000"]),
    ],
)  # fmt: skip
def test_it_keeps_to_the_clock_on_the_wall(wording: str, zone: str, after: str, expected: list[str]) -> None:
    assert shown(wording, zone, after, len(expected)) == expected


def test_it_ends_when_no_moment_comes_any_more() -> None:
    assert read("31 January 2020 at 8:00", "UTC").after(datetime(2026, 1, 1, tzinfo=UTC)) is None
    assert read("0 0 31 2 *", "UTC").after(datetime(2026, 1, 1, tzinfo=UTC)) is None


@given(
    st.sampled_from(ZONES),
    st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1)),
    st.integers(0, 23),
    st.integers(0, 59),
)
def test_it_comes_once_on_every_day_of_every_zone(zone: str, after: datetime, hour: int, minute: int) -> None:
    rule = read(f"every day at {hour}:{minute:02}", zone)
    found = rule.upcoming(after.replace(tzinfo=UTC), 8)
    days = [at.astimezone(rule.zone).date() for at in found]
    assert found == sorted(set(found))
    assert all(after.replace(tzinfo=UTC) < at for at in found)
    assert all(
        gap == timedelta(1) or date(2011, 12, 30) in (a, a + timedelta(1)) for a, b in pairwise(days) if (gap := b - a)
    )
    assert all(timedelta(hours=22) < b - a < timedelta(hours=26) for a, b in pairwise(found))


@given(
    st.sampled_from(ZONES[:2]),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    st.sampled_from([1, 5, 15, 30]),
)
def test_it_is_evenly_apart_where_it_recurs_every_hour(zone: str, after: datetime, apart: int) -> None:
    found = read(f"every {apart} minutes", zone).upcoming(after.replace(tzinfo=UTC), 60)
    assert {b - a for a, b in pairwise(found)} == {timedelta(minutes=apart)}


@given(
    st.sampled_from(ZONES),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    st.sampled_from([typed for typed, *_ in MEANT]),
)
def test_it_finds_the_same_moments_from_wherever_it_looks(zone: str, after: datetime, typed: str) -> None:
    rule = read(typed, zone)
    found = rule.upcoming(after.replace(tzinfo=UTC), 4)
    for earlier, later in pairwise(found):
        assert rule.after(earlier) == later
        assert rule.after(later - timedelta(seconds=1)) == later
