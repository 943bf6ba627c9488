"""When a screen has come to rest: on a real machine, and on invented histories."""

import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.display.framebuffer import Change, Rect
from sandboxes.display.screen import Screen
from sandboxes.display.settle import PANEL_CLOCK, STILL, relevant, restless_cells, settle

from .conftest import end, focus, start, wait_until

GREEN = (0x12, 0xAB, 0x34)
CARET = Rect(320, 160, 2, 16)
BLINKING = """[Settings]
gtk-cursor-blink = true
gtk-cursor-blink-time = 600
gtk-cursor-blink-timeout = 1000
"""


def show(machine: GvisorSandbox, geometry: str = "300x200+100+100") -> None:
    start(machine, f"xmessage -bg '#12ab34' -geometry {geometry} -name proof hello")


def leftmost_green(screen: Screen) -> int:
    return int(np.nonzero((screen.pixels == GREEN).all(axis=2))[1].min(initial=9999))


@pytest.fixture
def still(desktop: Desktop) -> Desktop:
    wait_until(lambda: not desktop.settle(desktop.version, first=1).changed)
    return desktop


@pytest.fixture
def window(machine: GvisorSandbox, desktop: Desktop) -> Iterator[str]:
    show(machine)
    yield focus(machine, "--name", "proof")
    end(machine, "xmessage")


def test_it_says_that_nothing_changed(still: Desktop) -> None:
    settled = still.settle(still.version)
    assert not settled.changed
    assert not settled.capped


def test_it_waits_for_a_change_and_shows_it(machine: GvisorSandbox, still: Desktop) -> None:
    version = still.version
    show(machine)
    try:
        settled = still.settle(version, first=20, cap=20)
        assert settled.changed
        assert not settled.capped
        assert leftmost_green(settled.screen) < 9999
    finally:
        end(machine, "xmessage")


def test_it_counts_what_changed_before_it_was_called(machine: GvisorSandbox, still: Desktop) -> None:
    version = still.version
    show(machine)
    try:
        still.wait_until(lambda screen: leftmost_green(screen) < 9999, 20)
        assert still.settle(version).changed
    finally:
        end(machine, "xmessage")


def test_it_waits_for_the_end_of_a_burst(machine: GvisorSandbox, window: str, still: Desktop) -> None:
    """A machine that itself pauses for so long within the burst has made two of it, and does it again."""
    steps = "".join(f" windowmove --sync {window} {100 + 40 * step} 100" for step in range(1, 11))
    for _ in range(5):
        machine.exec(["xdotool", "windowmove", "--sync", window, "100", "100"])
        wait_until(lambda: not still.settle(still.version, first=1).changed)
        version = still.version
        start(machine, f"xdotool {steps}")
        settled = still.settle(version, first=20, cap=20)
        ended = time.monotonic()
        assert not settled.capped
        if leftmost_green(settled.screen) >= 500:
            return
        seen = [change.at for change in relevant(still.changes(0), version, (PANEL_CLOCK,)) if change.at <= ended]
        assert max(after - before for before, after in pairwise([*seen, ended])) >= STILL
        still.wait_until(lambda screen: leftmost_green(screen) >= 500, 20)
    raise AssertionError("it paused in every burst")


class NeverStill:
    """A screen that has changed whenever one looks."""

    size = (1280, 800)

    @property
    def version(self) -> int:
        return int(time.monotonic() * 1000)

    def changes(self, since_version: int) -> list[Change]:
        now = self.version
        return [Change(version, version / 1000, (Rect(0, 0, 400, 300),)) for version in range(now - 200, now, 20)]

    def wait_for_change(self, since_version: int, timeout: float) -> bool:
        wait_until(lambda: self.version > since_version)
        return True

    def screenshot(self) -> Screen:
        return Screen(np.zeros((800, 1280, 4), np.uint8))


def test_it_ends_at_the_cap_when_the_screen_never_rests() -> None:
    screen = NeverStill()
    settled = settle(screen, screen.version, cap=0.5)
    assert settled.changed
    assert settled.capped
    assert settled.waited_ms >= 500


class AlwaysStill(NeverStill):
    """A screen that never changes."""

    @property
    def version(self) -> int:
        return 1

    def changes(self, since_version: int) -> list[Change]:
        return []

    def wait_for_change(self, since_version: int, timeout: float) -> bool:
        return threading.Event().wait(timeout)


def test_it_waits_no_longer_than_it_was_told_to_for_a_first_change() -> None:
    assert settle(AlwaysStill(), 1, first=0.05, cap=600).waited_ms < 60_000


def test_it_calls_no_screen_capped_that_did_not_change() -> None:
    """Also where the cap ends the wait for a first change."""
    settled = settle(AlwaysStill(), 1, first=20, cap=0.3)
    assert (settled.changed, settled.capped) == (False, False)
    assert settled.waited_ms >= 300


def test_it_does_not_mind_a_blinking_text_cursor(machine: GvisorSandbox, desktop: Desktop) -> None:
    machine.write_file("/tmp/blinking/gtk-3.0/settings.ini", BLINKING.encode())
    start(machine, "env XDG_CONFIG_HOME=/tmp/blinking mousepad")
    try:
        focus(machine, "--class", "mousepad")
        wait_until(lambda: restless_cells(desktop.changes(0)) and not desktop.settle(desktop.version).changed)
        settled = [desktop.settle(desktop.version, first=0.4) for _ in range(10)]
        assert not any(each.changed or each.capped for each in settled)
    finally:
        end(machine, "mousepad")


def test_it_ignores_changes_in_the_panels_clock(machine: GvisorSandbox, still: Desktop) -> None:
    start(machine, "xmessage -bg '#12ab34' -geometry 40x10+1200+770 -name proof .")
    window = focus(machine, "--name", "proof")
    try:
        machine.exec(["xdotool", "windowunmap", "--sync", window])
        machine.exec(["xdotool", "set_window", "--overrideredirect", "1", window])
        machine.exec(["xdotool", "windowmap", window, "windowmove", window, "1200", "770", "windowraise", window])
        wait_until(lambda: not still.settle(still.version, first=1.5).changed)
        version = still.version
        machine.exec(["xdotool", "windowunmap", window])
        assert not still.settle(version).changed
        assert still.settle(version, ignore=()).changed
    finally:
        end(machine, "xmessage")


def test_it_knows_where_the_panels_clock_is(desktop: Desktop) -> None:
    light = (desktop.screenshot().crop(1000, 761, 280, 39).pixels > 150).all(axis=2)
    rows, columns = np.nonzero(light)
    found = Rect(1000 + int(columns.min()), 761 + int(rows.min()), int(np.ptp(columns)), int(np.ptp(rows)))
    assert PANEL_CLOCK.contains(found)


def history(*beats: float, rect: Rect = CARET) -> list[Change]:
    return [Change(version, at, (rect,)) for version, at in enumerate(beats, 1)]


@pytest.mark.parametrize(
    ("beats", "steady"),
    [
        ([0.0, 0.5, 1.0, 1.5], True),
        ([0.0, 0.8, 1.2, 2.0, 2.4], True),
        ([0.0, 1.02, 2.0, 2.99, 4.03], True),
        ([step / 60 for step in range(60)], True),
        ([0.0, 0.5, 1.0], False),
        ([0.0, 0.02, 0.04, 0.06, 0.08], False),
        ([0.0, 0.1, 1.5, 2.5, 4.4], False),
    ],
)
def test_it_knows_a_rhythm_from_a_burst(beats: list[float], steady: bool) -> None:
    assert bool(restless_cells(history(*beats))) == steady


def test_it_counts_a_change_elsewhere_while_a_cursor_blinks() -> None:
    changes = [*history(0.0, 0.5, 1.0, 1.5, 2.0), Change(6, 2.1, (CARET, Rect(500, 500, 10, 10)))]
    assert relevant(changes, 4) == changes[5:]


def test_it_never_takes_a_large_animation_for_a_cursor() -> None:
    changes = history(*[step / 30 for step in range(60)], rect=Rect(0, 0, 400, 300))
    assert relevant(changes, 50) == changes[50:]


def test_it_ignores_only_what_is_wholly_inside_a_box() -> None:
    changes = [Change(1, 0.0, (Rect(1200, 765, 20, 10),)), Change(2, 0.1, (Rect(1180, 765, 20, 10),))]
    assert relevant(changes, 0, [PANEL_CLOCK]) == changes[1:]
