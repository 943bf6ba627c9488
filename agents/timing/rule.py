"""A rule and its moments.

Clocks that jump: a time that is left out comes as much later as they jump (02:30 is at 03:30), and a time that comes
twice counts once, the first time. What recurs every hour is bound to no hour: it goes on through both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..errors import BadTask
from .cron import Cron, is_cron, read_cron
from .words import in_cron

FAR = 366 * 8
"""Days: long enough for every 29 February."""

LONGEST = 500
MOST_LINES = 12


@dataclass(frozen=True)
class Rule:
    """`text` is its lines as they are stored, each cron or one date with its time."""

    text: str
    crons: tuple[Cron, ...]
    dates: tuple[datetime, ...]
    zone: ZoneInfo

    def after(self, moment: datetime) -> datetime | None:
        """The next one; None when none comes any more."""
        return next(self.moments(moment), None)

    def upcoming(self, moment: datetime, count: int = 5) -> list[datetime]:
        return list(islice(self.moments(moment), count))

    def between(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Those that come after one moment, up to another."""
        for moment in self.moments(after):
            if moment > until:
                return
            yield moment

    def moments(self, after: datetime) -> Iterator[datetime]:
        """All of them in UTC, in order; none comes twice."""
        for day in self._days(after.astimezone(self.zone).date()):
            for moment in sorted(set(self._on(day))):
                if moment > after:
                    after = moment
                    yield moment

    def _days(self, first: date) -> Iterator[date]:
        """Dates that lie further ahead than recurring days are looked for are found nevertheless."""
        first -= timedelta(days=1)
        if self.crons:
            yield from (first + timedelta(days=number) for number in range(FAR))
        else:
            yield from sorted({at.date() for at in self.dates if at.date() >= first})

    def _on(self, day: date) -> Iterator[datetime]:
        yield from (_instant(at, self.zone) for at in self.dates if at.date() == day)
        for cron in self.crons:
            if cron.matches(day):
                yield from self._of(cron, day)

    def _of(self, cron: Cron, day: date) -> Iterator[datetime]:
        for hour in cron.hours:
            for minute in cron.minutes:
                local = datetime.combine(day, time(hour, minute))
                first = _instant(local, self.zone)
                yield first
                if cron.every_hour and (second := _instant(local, self.zone, fold=1)) > first:
                    yield second


def read(text: str, zone: str) -> Rule:
    """From lines of cron, plain words or dates. Raises BadTask, which says what is not understood."""
    if len(text) > LONGEST:
        raise BadTask(f"schedule: keep it within {LONGEST} characters.")
    lines = [line for typed in text.splitlines() if (line := " ".join(typed.split()))]
    found = (written for line in lines for written in ([line] if is_cron(line) else in_cron(line)))
    stored = list(dict.fromkeys(found))
    if not 1 <= len(stored) <= MOST_LINES:
        raise BadTask("schedule: say when, such as “every weekday at 9:00”.")
    dates = [date for line in stored if (date := _date(line))]
    crons = [read_cron(line) for line in stored if _date(line) is None]
    return Rule("\n".join(stored), tuple(crons), tuple(dates), _zone(zone))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadTask(f"zone: there is no time zone “{name[:60]}”.") from None


def _date(line: str) -> datetime | None:
    try:
        return datetime.strptime(line, "%Y-%m-%d %H:%M")
    except ValueError:
        return None


def _instant(local: datetime, zone: ZoneInfo, fold: int = 0) -> datetime:
    return local.replace(tzinfo=zone, fold=fold).astimezone(UTC)
