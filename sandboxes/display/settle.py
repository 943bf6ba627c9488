"""When a screen has answered an action and come to rest.

1. Wait for the first change. When there is none within FIRST, the action changed nothing.
2. After a change, wait until none has come for STILL; for STILL_AFTER_MUCH when a large part of the screen changed,
   or small parts quickly, a moment ago.
3. Take the screen. If taking it brought a change, go back to 2.
4. Whatever happens, end after `cap`, and say so when it was still changing.

Some changes do not count. Those inside the boxes to ignore, and those inside restless places: small ones that have
changed again and again in a steady rhythm, as a blinking text cursor, a spinner or a clock with seconds does. What the
connection saw before the action counts for that, so a cursor that has blinked for a while is known at once.

A busy machine answers late. How long it takes to hand over the screen at the start says how busy it is, and all
waits but the cap are longer by a multiple of that.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .framebuffer import Change, Rect
from .screen import Box, Screen

FIRST = 0.1
STILL = 0.06
STILL_AFTER_MUCH = 0.12
CAP = 2.0

MUCH = 0.2
"""Of the screen."""
QUICK = 4
"""Changes within LATELY."""
LATELY = 0.3

PER_TRIP = 3
MOST_SLACK = 0.3

SMALL = 96 * 96
CELL = 16
MEMORY = 5.0
BEATS = 4
RHYTHM = 0.5
"""A rhythm shows over at least that many seconds; anything shorter may be one burst of drawing."""

PANEL_CLOCK = Box(1190, 761, 90, 39)

Cell = tuple[int, int]


class Watched(Protocol):
    @property
    def version(self) -> int: ...
    @property
    def size(self) -> tuple[int, int]: ...
    def changes(self, since_version: int) -> list[Change]: ...
    def wait_for_change(self, since_version: int, timeout: float) -> bool: ...
    def screenshot(self) -> Screen: ...


@dataclass(frozen=True)
class Settled:
    """`changed` is whether anything that counts has changed; `capped` that the screen was still changing."""

    screen: Screen
    changed: bool
    waited_ms: float
    capped: bool


def settle(
    desktop: Watched, since: int, *, first: float = FIRST, cap: float = CAP, ignore: Sequence[Box] = (PANEL_CLOCK,)
) -> Settled:
    began = time.monotonic()
    desktop.screenshot()
    slack = min(PER_TRIP * (time.monotonic() - began), MOST_SLACK)
    while True:
        version = desktop.version
        seen = relevant(desktop.changes(0), since, ignore)
        rest_at = slack + (seen[-1].at + _stillness(seen, desktop.size) if seen else began + first)
        now = time.monotonic()
        if now < min(rest_at, began + cap):
            desktop.wait_for_change(version, min(rest_at, began + cap) - now)
            continue
        screen = desktop.screenshot()
        capped = bool(seen) and now < rest_at
        if capped or not relevant(desktop.changes(0), version, ignore):
            return Settled(screen, bool(seen), (time.monotonic() - began) * 1000, capped)


def relevant(changes: Sequence[Change], since: int, ignore: Sequence[Box] = ()) -> list[Change]:
    """The changes after version `since` that count; the earlier ones tell which places are restless."""
    restless = restless_cells(changes)

    def counts(change: Change) -> bool:
        rects = [rect for rect in change.rects if not any(box.contains(rect) for box in ignore)]
        return bool(rects) and (change.area > SMALL or not restless.issuperset(_cells(*rects)))

    return [change for change in changes if change.version > since and counts(change)]


def restless_cells(changes: Sequence[Change]) -> set[Cell]:
    """Where small changes have come in a steady rhythm lately."""
    beats: dict[Cell, list[float]] = defaultdict(list)
    oldest = changes[-1].at - MEMORY if changes else 0.0
    for change in changes:
        if change.at >= oldest and change.area <= SMALL:
            for cell in _cells(*change.rects):
                beats[cell].append(change.at)
    return {cell for cell, times in beats.items() if _steady(times)}


def _steady(times: list[float]) -> bool:
    """Whether there was a run in which every other pause was alike: a blinking cursor is often longer on than off."""
    start = 0
    for end in range(3, len(times)):
        pause, earlier = times[end] - times[end - 1], times[end - 2] - times[end - 3]
        if abs(pause - earlier) > max(0.06, 0.3 * earlier):
            start = end - 1
        elif end - start >= BEATS - 1 and times[end] - times[start] >= RHYTHM:
            return True
    return False


def _stillness(seen: Sequence[Change], size: tuple[int, int]) -> float:
    lately = [change for change in seen if change.at > seen[-1].at - LATELY]
    much = sum(change.area for change in lately) > MUCH * size[0] * size[1]
    return STILL_AFTER_MUCH if much or len(lately) >= QUICK else STILL


def _cells(*rects: Rect) -> set[Cell]:
    return {
        (column, row)
        for rect in rects
        for row in range(rect.y // CELL, (rect.y + rect.height - 1) // CELL + 1)
        for column in range(rect.x // CELL, (rect.x + rect.width - 1) // CELL + 1)
    }
