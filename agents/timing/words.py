"""Plain words into lines of cron: “every weekday at 9:00”, “the last Friday of the month at 16:30”, “every 2 hours”."""

import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from datetime import date

from ..errors import BadTask
from .cron import DAYS, MONTHS

PLACES = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "fifth": 5,
    "5th": 5,
}
TIME = r"(?:\d{1,2}:\d{2}(?:\s?[ap]m)?|\d{1,2}\s?[ap]m|noon|midnight)"
LOOSE = rf"(?:{TIME}|\d{{1,2}}(?!\s?(?:st|nd|rd|th|:|\d)))"
AND = r"(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+)"
DAY = r"(?:sun|mon|tue|wed|thu|fri|sat)(?:sday|nesday|rsday|urday|day)?s?"
MONTH = rf"(?:{'|'.join(MONTHS)})(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?"
PLACE = "|".join((*PLACES, "last"))
FILLER = re.compile(
    r"once|every|each|on|the|of|in|at|and|,|days?|daily|weeks?|months?|monthly|years?|yearly|annually|o'clock"
)
DIVIDE = {"minute": 60, "hour": 24}
TRY = "Try “every weekday at 9:00”, “the 1st of the month at 8:00”, “every 2 hours”, or five fields of cron."
LEAP = 2024
Time = tuple[int, int]


class _Line:
    """What is left to be understood."""

    def __init__(self, text: str) -> None:
        self.rest = f" {text.lower().replace('–', '-').rstrip('. ')} "

    def take(self, pattern: str) -> re.Match[str] | None:
        found = re.search(rf"(?<![\w:])(?:{pattern})(?![\w:])", self.rest)
        if found:
            self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
        return found

    def all(self, pattern: str) -> list[re.Match[str]]:
        found = []
        while match := self.take(pattern):
            found.append(match)
        return found


def in_cron(text: str) -> list[str]:
    """Lines of cron, or one of a date and a time. Raises BadTask, which names what is not understood."""
    line = _Line(text)
    window = line.take(rf"(?:from|between)\s+({LOOSE})\s*(?:to|and|until|till|-)\s*({LOOSE})")
    step = _step(line)
    whole = line.take(r"(\d{4})-(\d{2})-(\d{2})") or _with_year(line)
    times = [_times(match[0]) for match in line.all(rf"at\s+{LOOSE}(?:{AND}{LOOSE})*|{TIME}(?:{AND}{TIME})*")]
    days = _days(line)
    _nothing_left(line)
    clock = _clock(step, window, [time for some in times for time in some])
    if isinstance(whole, date):
        return _once(whole, clock)
    if whole:
        return _once(_date(int(whole[1]), int(whole[2]), int(whole[3])), clock)
    return [f"{minutes} {hours} {days}" for minutes, hours in clock]


def _step(line: _Line) -> tuple[int, str] | None:
    """How many minutes or hours apart; minutes past each hour come as (-1, "5,20")."""
    if past := line.take(r"(?:every\s+hour|hourly)\s+at\s+:\d{2}(?:(?:\s*,\s*|\s+and\s+):\d{2})*"):
        return -1, ",".join(sorted({_below(number, 60) for number in re.findall(r":(\d{2})", past[0])}, key=int))
    if found := line.take(r"every\s+(\d{1,4})\s+(minute|hour)s?"):
        return int(found[1]), found[2]
    if line.take(r"every\s+half(?:\s+an)?\s+hour"):
        return 30, "minute"
    if line.take(r"every\s+quarter(?:\s+of\s+an)?\s+hour"):
        return 15, "minute"
    if found := line.take(r"every\s+(minute|hour)|hourly"):
        return 1, found[1] or "hour"
    return None


def _clock(step: tuple[int, str] | None, window: re.Match[str] | None, times: Sequence[Time]) -> list[tuple[str, str]]:
    """Minutes and hours, as cron writes them."""
    if step and times:
        raise BadTask("schedule: say either how often or at what time, not both.")
    if window and not step:
        raise BadTask("schedule: “from … to …” needs how often, such as “every 30 minutes”.")
    if step and step[0] < 0:
        return [(step[1], "*")]
    if step and window:
        return _grouped(_within(step, _time(window[1]), _time(window[2])))
    if step:
        return [_evenly(*step)]
    if not times:
        raise BadTask("schedule: say at what time, such as “every day at 9:00”.")
    return _grouped(times)


def _evenly(number: int, unit: str) -> tuple[str, str]:
    whole = DIVIDE[unit]
    if not 0 < number <= whole or whole % number:
        fits = ", ".join(str(each) for each in range(1, whole) if whole % each == 0)
        raise BadTask(f"schedule: every {number} {unit}s does not come out even; choose one of {fits}.")
    if unit == "hour":
        return "0", "*" if number == 1 else "0" if number == 24 else f"*/{number}"
    return ("*" if number == 1 else "0" if number == 60 else f"*/{number}"), "*"


def _within(step: tuple[int, str], first: Time, last: Time) -> list[Time]:
    apart = step[0] * (60 if step[1] == "hour" else 1)
    begin, end = first[0] * 60 + first[1], last[0] * 60 + last[1]
    if not apart or begin >= end:
        raise BadTask("schedule: “from … to …” must end later on the same day.")
    return [divmod(minute, 60) for minute in range(begin, end + 1, apart)]


def _grouped(times: Iterable[Time]) -> list[tuple[str, str]]:
    """Hours that share their minutes share a line."""
    minutes: dict[int, set[int]] = {}
    for hour, minute in times:
        minutes.setdefault(hour, set()).add(minute)
    hours: dict[str, list[int]] = {}
    for hour in sorted(minutes):
        hours.setdefault(",".join(map(str, sorted(minutes[hour]))), []).append(hour)
    return [(some, ",".join(map(str, same))) for some, same in hours.items()]


def _days(line: _Line) -> str:
    """The last three fields of cron."""
    dates = line.all(rf"(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({MONTH})|({MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?")
    placed = [
        place
        for match in line.all(rf"((?:{PLACE})(?:{AND}(?:{PLACE}))*)\s+({DAY}(?:{AND}{DAY})*)")
        for place in _in_month(match[1], match[2])
    ]
    last = ["L"] if line.take(r"last\s+day") else []
    in_month = [_day(match[1]) for match in line.all(r"(\d{1,2})(?:st|nd|rd|th)")] + last
    if dates:
        return _yearly(dates, in_month)
    months = ",".join(sorted({str(_month(match[0])) for match in line.all(MONTH)}, key=int)) or "*"
    in_week = [*placed, *_week_days(line)]
    if line.take("monthly") and not in_month and not in_week:
        in_month = ["1"]
    return f"{','.join(in_month) or '*'} {months} {','.join(dict.fromkeys(in_week)) or '*'}"


def _yearly(dates: Sequence[re.Match[str]], also: Sequence[str]) -> str:
    found = {(_month(match[2] or match[3]), _day(match[1] or match[4])) for match in dates}
    months = {month for month, _ in found}
    if also or len(months) > 1:
        raise BadTask("schedule: write each date on a line of its own.")
    for month, day in found:
        _date(LEAP, month, int(day))
    return f"{','.join(sorted((day for _, day in found), key=int))} {months.pop()} *"


def _week_days(line: _Line) -> list[str]:
    found: set[int] = set()
    for match in line.all(rf"(?:from\s+)?({DAY})\s*(?:to|through|until|-)\s*({DAY})"):
        first, last = _week_day(match[1]), _week_day(match[2])
        found |= {(first + number) % 7 for number in range((last - first) % 7 + 1)}
    if line.take(r"weekdays?|work(?:ing)?\s?days?"):
        found |= {1, 2, 3, 4, 5}
    if line.take(r"weekends?(?:\s+days?)?"):
        found |= {0, 6}
    found |= {_week_day(match[0]) for match in line.all(DAY)}
    if line.take("weekly") and not found:
        found = {1}
    return ["1-5"] if found == {1, 2, 3, 4, 5} else [] if len(found) == 7 else [str(day) for day in sorted(found)]


def _in_month(places: str, names: str) -> list[str]:
    signs = [f"#{PLACES[place]}" if place in PLACES else "L" for place in re.findall(PLACE, places)]
    return [f"{_week_day(name)}{sign}" for name in re.findall(DAY, names) for sign in signs]


def _with_year(line: _Line) -> date | None:
    found = line.take(
        rf"(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({MONTH})\s*,?\s*(\d{{4}})"
        rf"|({MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s*(\d{{4}})"
    )
    return found and _date(int(found[3] or found[6]), _month(found[2] or found[4]), int(found[1] or found[5]))


def _once(day: date, clock: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{day.isoformat()} {int(hour):02}:{int(minute):02}"
        for minutes, hours in clock
        for hour in hours.split(",")
        for minute in minutes.split(",")
        if hour.isdigit() and minute.isdigit()
    ]


def _nothing_left(line: _Line) -> None:
    for word in re.findall(r"[^\s,]+", line.rest):
        if not FILLER.fullmatch(word):
            raise BadTask(f"schedule: “{word[:40]}” is not understood here. {TRY}")


def _times(text: str) -> list[Time]:
    return [_time(found) for found in re.findall(LOOSE, text)]


def _time(text: str) -> Time:
    if text in ("noon", "midnight"):
        return (12 if text == "noon" else 0), 0
    hour, _, minute = text.rstrip("apm ").partition(":")
    number = int(_below(hour, 24))
    if text.endswith("m"):
        if not 1 <= number <= 12:
            raise BadTask(f"schedule: “{text}” is no time.")
        number = number % 12 + (12 if text.endswith("pm") else 0)
    return number, int(_below(minute or "0", 60))


def _below(text: str, most: int) -> str:
    if int(text) >= most:
        raise BadTask(f"schedule: “{text}” is more than {most - 1}, and no time.")
    return str(int(text))


def _day(text: str) -> str:
    if not 1 <= int(text) <= 31:
        raise BadTask(f"schedule: no month has a day {text}.")
    return str(int(text))


def _month(text: str) -> int:
    return MONTHS.index(text[:3]) + 1


def _week_day(text: str) -> int:
    return DAYS.index(text[:3])


def _date(year: int, month: int, day: int) -> date:
    if not 1 <= month <= 12 or not 1 <= day <= monthrange(year or 4, month)[1]:
        raise BadTask(f"schedule: there is no {year}-{month:02}-{day:02}.")
    return date(year, month, day)
