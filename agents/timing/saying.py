"""A rule in words. What is said here is understood by `words.py` again, but for the oddest of cron's lines."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from .cron import LAST, Cron
from .rule import Rule

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
PLACES = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST: "last"}
FEW = 12
WHOLE_DAY = 24 * 60


def say(rule: Rule) -> str:
    """One sentence without its full stop."""
    times: dict[str, set[int]] = {}
    for cron in rule.crons:
        minutes = {hour * 60 + minute for hour in cron.hours for minute in cron.minutes}
        times.setdefault(_days(cron), set()).update(minutes)
    parts = [_recurs(days, sorted(minutes)) for days, minutes in times.items()]
    parts += [_once(at) for at in sorted(rule.dates)]
    said = "; ".join(parts)
    return said[:1].upper() + said[1:]


def _once(at: datetime) -> str:
    return f"once on {at.day} {MONTHS[at.month - 1]} {at.year} at {at:%H:%M}"


def _recurs(days: str, minutes: Sequence[int]) -> str:
    often = _often(minutes)
    if not often:
        return f"{days or 'every day'} {_clock(minutes)}"
    return f"{often}, {days}" if days else often


def _often(minutes: Sequence[int]) -> str:
    """Where the times are evenly apart, how far."""
    gaps = {after - before for before, after in pairwise(minutes)}
    apart = gaps.pop() if len(gaps) == 1 else 0
    if len(minutes) < 4 or not apart:
        return _past_the_hour(minutes)
    if minutes[0] < apart and len(minutes) * apart == WHOLE_DAY:
        return _past_the_hour(minutes) if minutes[0] else _every(apart)
    return f"{_every(apart)} from {_time(minutes[0])} to {_time(minutes[-1])}"


def _past_the_hour(minutes: Sequence[int]) -> str:
    past = sorted({minute % 60 for minute in minutes})
    if len(minutes) != 24 * len(past) or not past:
        return ""
    return f"every hour at {_and([f':{minute:02}' for minute in past])}"


def _every(apart: int) -> str:
    if apart % 60:
        return "every minute" if apart == 1 else f"every {apart} minutes"
    return "every hour" if apart == 60 else f"every {apart // 60} hours"


def _clock(minutes: Sequence[int]) -> str:
    if len(minutes) <= FEW:
        return f"at {_and([_time(minute) for minute in minutes])}"
    return f"at {len(minutes)} times from {_time(minutes[0])} to {_time(minutes[-1])}"


def _days(cron: Cron) -> str:
    """Empty for every day."""
    months = "" if len(cron.months) == 12 else _and([MONTHS[month - 1] for month in sorted(cron.months)])
    in_month = _in_month(cron, months) if cron.by_month_day or len(cron.days) < 31 else ""
    in_week = _in_week(cron) if cron.by_week_day or len(cron.week_days) < 7 else ""
    if in_month and in_week:
        return f"{in_month} {'and' if cron.by_month_day and cron.by_week_day else 'if it is'} {in_week}"
    if in_month:
        return in_month
    return f"{in_week or 'every day'} in {months}" if months else in_week


def _in_month(cron: Cron, months: str) -> str:
    numbers = sorted(day for day in cron.days if day != LAST)
    if months and len(cron.months) == 1 and numbers and LAST not in cron.days:
        return f"every year on {_and([f'{day} {months}' for day in numbers])}"
    days = [_ordinal(day) for day in numbers]
    if LAST in cron.days:
        days.append("last day")
    return f"on the {_and(days)} of {months or 'the month'}"


def _in_week(cron: Cron) -> str:
    plain, parts = cron.week_days, []
    if plain == {1, 2, 3, 4, 5}:
        parts.append("every weekday")
    elif plain == {0, 6}:
        parts.append("every weekend day")
    elif plain:
        parts.append(f"every {_and([DAYS[day] for day in sorted(plain, key=lambda day: day or 7)])}")
    parts += [f"on the {PLACES[place]} {DAYS[day]} of the month" for day, place in sorted(cron.placed)]
    return _and(parts)


def _ordinal(day: int) -> str:
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _time(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
