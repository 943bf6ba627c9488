"""What was understood of a time in plain words: said back, with the next five moments."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from agents import schedules
from agents.errors import BadTask
from agents.standing import Schedule
from agents.timing import say
from agents.timing.rule import Rule

from ..models import User

SHOWN = 5
EXAMPLES = (
    "every weekday at 9:00",
    "every Monday and Thursday at 8:30",
    "the 1st of the month at 7:00",
    "the last Friday of the month at 16:00",
    "every 2 hours",
    "every 30 minutes from 9:00 to 17:00 on weekdays",
    "0 6 * * 1-5",
)


@dataclass(frozen=True)
class Moment:
    """`local` is the wall clock there; `at` the moment itself."""

    at: datetime
    local: str
    shift: str

    @classmethod
    def of(cls, at: datetime, rule: Rule) -> "Moment":
        there = at.astimezone(rule.zone)
        return cls(at, f"{there:%a} {there.day} {there:%b %Y, %H:%M}", f"{there:%Z}")


@dataclass(frozen=True)
class Preview:
    """Empty, or what is wrong, or the words and moments."""

    words: str = ""
    moments: tuple[Moment, ...] = ()
    trouble: str = ""


def preview_of(when: Any, zone: Any) -> Preview:
    if not str(when or "").strip():
        return Preview()
    try:
        rule, _ = schedules.understood(str(when), str(zone or ""))
    except BadTask as error:
        told = str(error).partition(": ")[2]
        return Preview(trouble=told[:1].upper() + told[1:])
    return Preview(say(rule), moments_of(rule))


def moments_of(rule: Rule) -> tuple[Moment, ...]:
    return tuple(Moment.of(at, rule) for at in rule.upcoming(timezone.now(), SHOWN))


def usual_zone(person: User) -> str:
    """Of the last schedule that the person made."""
    last = Schedule.objects.filter(owner=person).order_by("-created_at").values_list("zone", flat=True).first()
    return last or "UTC"
