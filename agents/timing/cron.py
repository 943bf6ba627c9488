"""One line of cron: minute, hour, day of the month, month, day of the week.

Beyond the usual: `L` is the last day of the month, `1#2` the second Monday, `5L` the last Friday. As in cron, a line
that restricts both kinds of day means either of them.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from ..errors import BadTask

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
LAST = -1
PRESETS: Mapping[str, str] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
SHAPE = re.compile(r"[\d*][\d*/,-]*(\s+[\w*/,#-]+){4}")
PART = re.compile(r"(?P<first>\*|\w+)(-(?P<last>\w+))?(/(?P<step>\d+))?")


@dataclass(frozen=True)
class Field:
    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()

    def read(self, text: str) -> frozenset[int]:
        """Raises BadTask, which names the field."""
        return frozenset(value for part in text.split(",") for value in self._part(part))

    def _part(self, text: str) -> Iterator[int]:
        found = PART.fullmatch(text)
        if found is None or (found["first"] == "*" and found["last"]):
            raise self.wrong(text)
        if found["first"] == "*":
            first, last = self.lowest, self.highest
        else:
            first = self.value(found["first"])
            last = self.value(found["last"]) if found["last"] else self.highest if found["step"] else first
        step = int(found["step"] or 1)
        if first > last or not step:
            raise self.wrong(text)
        yield from range(first, last + 1, step)

    def value(self, text: str) -> int:
        if text.lower() in self.names:
            return self.names.index(text.lower()) + self.lowest
        if not text.isascii() or not text.isdigit() or not self.lowest <= int(text) <= self.highest:
            raise self.wrong(text)
        return int(text)

    def wrong(self, text: str) -> BadTask:
        return BadTask(f"schedule: “{text[:40]}” is no {self.name} from {self.lowest} to {self.highest}.")


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
MONTH_DAY = Field("day of the month", 1, 31)
MONTH = Field("month", 1, 12, MONTHS)
WEEK_DAY = Field("day of the week", 0, 7, DAYS)


@dataclass(frozen=True)
class Cron:
    """`placed` are days of the week by their place in the month: (1, 2) is the second Monday, LAST the last."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    week_days: frozenset[int]
    placed: frozenset[tuple[int, int]]
    by_month_day: bool
    by_week_day: bool

    @property
    def every_hour(self) -> bool:
        return len(self.hours) == 24

    def matches(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = self._in_month(day), self._in_week(day)
        return in_month or in_week if self.by_month_day and self.by_week_day else in_month and in_week

    def _in_month(self, day: date) -> bool:
        return day.day in self.days or (LAST in self.days and day.day == monthrange(day.year, day.month)[1])

    def _in_week(self, day: date) -> bool:
        name = day.isoweekday() % 7
        is_last = day.day > monthrange(day.year, day.month)[1] - 7
        place = (day.day + 6) // 7
        return name in self.week_days or (name, place) in self.placed or (is_last and (name, LAST) in self.placed)


def is_cron(text: str) -> bool:
    return text in PRESETS or SHAPE.fullmatch(text) is not None


def read_cron(text: str) -> Cron:
    """Raises BadTask."""
    minute, hour, month_day, month, week_day = PRESETS.get(text, text).split()
    days, week_days, placed = _month_days(month_day), set(), set()
    for part in week_day.split(","):
        place = _placed(part)
        if place:
            placed.add(place)
        else:
            week_days |= {value % 7 for value in WEEK_DAY.read(part)}
    return Cron(
        minutes=MINUTE.read(minute),
        hours=HOUR.read(hour),
        days=days,
        months=MONTH.read(month),
        week_days=frozenset(week_days),
        placed=frozenset(placed),
        by_month_day=not month_day.startswith("*"),
        by_week_day=not week_day.startswith("*"),
    )


def _month_days(text: str) -> frozenset[int]:
    parts = text.split(",")
    plain = [part for part in parts if part.upper() != "L"]
    last = {LAST} if len(plain) < len(parts) else set()
    return frozenset(last | (MONTH_DAY.read(",".join(plain)) if plain else frozenset()))


def _placed(part: str) -> tuple[int, int] | None:
    name, sign, place = part.partition("#")
    if sign:
        if place not in {"1", "2", "3", "4", "5"}:
            raise BadTask(f"schedule: “{part[:40]}” is no first to fifth day of the month.")
        return WEEK_DAY.value(name) % 7, int(place)
    if part[-1:].upper() == "L" and len(part) > 1:
        return WEEK_DAY.value(part[:-1]) % 7, LAST
    return None
