"""What is wrong with the installation now and does not stop the pages: a line above each of them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from .cli import doctor
from .pages import health

FRESH = 5
"""Seconds for which a Redis that answered is not asked again."""

well_until: dict[str, float] = {}


@dataclass(frozen=True)
class Trouble:
    name: str
    text: str
    fix: str


def troubles() -> Iterator[Trouble]:
    if _redis_is_away():
        yield Trouble(
            "Redis does not answer.",
            "Pages show what is stored, but not live. Desktops cannot be watched, and what you start waits.",
            "On the host, ./godhand logs redis says why.",
        )
    room = doctor.disk()
    if not room.ok:
        yield Trouble(
            "The disk is nearly full.",
            f"{room.text.partition(' at ')[0]}. Agents go on, below "
            f"{settings.HOST.reserve / 2**30:.1f} GiB without snapshots; once it is full, they rest.",
            "Delete snapshots, or traces in Settings, Space; or give GODHAND_HOME more room.",
        )


def _redis_is_away() -> bool:
    """Only a good answer is kept: a page that looks again because Redis is back has to hear that it is."""
    now, at = time.monotonic(), settings.REDIS_URL
    if well_until.get(at, 0) < now:
        if health.redis():
            return True
        well_until[at] = now + FRESH
    return False
