"""Seeing a real machine."""

import numpy as np
import pytest

from sandboxes.actions import Move
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.errors import Gone

from .conftest import focus, start, wait_until


def test_it_sees_the_whole_screen(desktop: Desktop) -> None:
    screen = desktop.screenshot()
    assert screen.size == desktop.size == (1280, 800)
    assert len(np.unique(screen.pixels.reshape(-1, 3), axis=0)) > 10


def test_it_sees_everything_drawn_before_the_call(machine: GvisorSandbox, desktop: Desktop) -> None:
    start(machine, "xmessage -bg '#12ab34' -geometry 300x200+500+300 -name proof fresh")
    window = focus(machine, "--name", "proof")
    machine.exec(["xdotool", "windowunmap", "--sync", window])
    machine.exec(["xdotool", "set_window", "--overrideredirect", "1", window])

    def shown() -> bool:
        machine.exec(["xdotool", "windowmap", window, "windowraise", window])
        return bool((desktop.screenshot().pixels == [0x12, 0xAB, 0x34]).all(axis=2).sum() > 10_000)

    try:
        wait_until(shown)  # the window manager lets go of the window when it comes to it
        for _ in range(10):
            machine.exec(["xdotool", "windowunmap", window])
            assert shown()
    finally:
        machine.exec(["pkill", "-x", "xmessage"])


def test_it_keeps_the_pointer_off_the_picture_unless_asked(desktop: Desktop) -> None:
    desktop.perform(Move(640, 300))
    bare = desktop.screenshot()
    drawn = desktop.screenshot(pointer=True)
    assert bare.cursor == (640, 300)
    rows, columns = np.nonzero((bare.pixels != drawn.pixels).any(axis=2))
    assert rows.size > 20
    assert abs(rows.mean() - 300) < 40
    assert abs(columns.mean() - 640) < 40


def test_it_notices_where_others_move_the_pointer(machine: GvisorSandbox, desktop: Desktop) -> None:
    desktop.perform(Move(100, 100))
    machine.exec(["xdotool", "mousemove", "222", "333"])
    assert desktop.screenshot().cursor == (222, 333)
    desktop.perform(Move(100, 100))
    assert desktop.screenshot().cursor == (100, 100)


def test_it_waits_for_changes(machine: GvisorSandbox, desktop: Desktop) -> None:
    version = desktop.version
    start(machine, "xmessage -bg '#ab1234' -geometry 300x200+500+300 -name proof hello")
    try:
        assert desktop.wait_for_change(version, 20)
        shown = desktop.wait_until(lambda screen: bool((screen.pixels == [0xAB, 0x12, 0x34]).all(axis=2).any()), 20)
        assert desktop.changes(version)
        assert shown.size == (1280, 800)
    finally:
        machine.exec(["pkill", "-x", "xmessage"])
    desktop.wait_until(lambda screen: not (screen.pixels == [0xAB, 0x12, 0x34]).all(axis=2).any(), 20)


def test_it_gives_up_waiting(desktop: Desktop) -> None:
    with pytest.raises(TimeoutError):
        desktop.wait_until(lambda screen: False, 0.2)


def test_it_is_gone_after_closing(machine: GvisorSandbox) -> None:
    with machine.desktop() as desktop:
        desktop.screenshot()
    for call in (desktop.screenshot, lambda: desktop.perform(Move(1, 1)), lambda: desktop.wait_for_change(0, 1)):
        with pytest.raises(Gone):
            call()
