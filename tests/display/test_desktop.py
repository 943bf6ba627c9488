"""Seeing and touching a real machine, checked by what the programs in it noticed."""

import re
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from sandboxes.actions import Action, Button, Click, Drag, Key, Move, Scroll, Type
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.errors import Gone

LOG = "/tmp/xev.log"
TEXT = "/tmp/typed.txt"

EventLog = Callable[[str], list[str]]


@pytest.fixture
def desktop(machine: GvisorSandbox) -> Iterator[Desktop]:
    with machine.desktop() as desktop:
        yield desktop


def start(machine: GvisorSandbox, command: str) -> None:
    machine.exec(["sh", "-c", f"setsid -f {command} </dev/null >/dev/null 2>&1"])


def wait_until(met: Callable[[], bool], timeout: float = 20) -> None:
    deadline = time.monotonic() + timeout
    while not met():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def focus(machine: GvisorSandbox, *search: str) -> str:
    found = machine.exec(["xdotool", "search", "--sync", "--onlyvisible", *search]).stdout.decode().split()
    window = found[-1]
    machine.exec(["xdotool", "windowactivate", "--sync", window])
    return window


@pytest.fixture
def event_log(machine: GvisorSandbox, desktop: Desktop) -> Iterator[EventLog]:
    """What xev saw of everything done so far."""
    start(machine, f"sh -c 'exec stdbuf -oL xev -geometry 400x300+300+200 >{LOG}'")
    window = focus(machine, "--name", "Event Tester")
    machine.exec(["xdotool", "windowmove", "--sync", window, "300", "200"])
    wait_until(lambda: b"FocusIn" in machine.read_file(LOG))

    def seen(pattern: str) -> list[str]:
        return [" ".join(match) for match in re.findall(pattern, machine.read_file(LOG).decode(), re.DOTALL)]

    yield seen
    machine.exec(["pkill", "-x", "xev"])
    wait_until(lambda: not machine.exec(["pgrep", "-x", "xev"]).stdout)


BUTTONS = r"(ButtonPress|ButtonRelease) event.*?root:\((\d+,\d+)\).*?button (\d)"
KEYS = r"(KeyPress|KeyRelease) event.*?keysym 0x\w+, (\w+)\)"


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


@pytest.mark.parametrize(
    "action",
    [
        Move(1280, 0),
        Move(0, 800),
        Click(-1, 5),
        Drag(1, 1, 1280, 1),
        Scroll(5, 5000, down=1),
        Click(1, 1, count=0),
        Scroll(1, 1, down=10**9),
        Key("Bogus"),
        Type("\0"),
    ],
)
def test_it_refuses_senseless_actions_before_anything_is_sent(
    machine: GvisorSandbox, desktop: Desktop, action: Action
) -> None:
    desktop.perform(Move(77, 88))
    with pytest.raises(ValueError, match=r"."):
        desktop.perform(action)
    assert machine.exec(["xdotool", "getmouselocation"]).stdout.startswith(b"x:77 y:88 ")


def test_it_names_the_size_when_a_point_is_outside(desktop: Desktop) -> None:
    with pytest.raises(ValueError, match="1280×800"):
        desktop.perform(Move(1280, 800))


def test_it_clicks_scrolls_and_drags(desktop: Desktop, event_log: EventLog) -> None:
    steps: list[tuple[Action, list[str]]] = [
        (Click(400, 400, count=2), ["ButtonPress 400,400 1", "ButtonRelease 400,400 1"] * 2),
        (Click(411, 411, Button.RIGHT), ["ButtonPress 411,411 3", "ButtonRelease 411,411 3"]),
        (Scroll(422, 422, down=2), ["ButtonPress 422,422 5", "ButtonRelease 422,422 5"] * 2),
        (Scroll(422, 422, right=-1), ["ButtonPress 422,422 6", "ButtonRelease 422,422 6"]),
        (Drag(430, 430, 550, 450), ["ButtonPress 430,430 1", "ButtonRelease 550,450 1"]),
    ]
    expected: list[str] = []
    for action, events in steps:
        desktop.perform(action)
        expected += events
        wait_until(lambda: len(event_log(BUTTONS)) >= len(expected))  # noqa: B023
        assert event_log(BUTTONS) == expected


def test_it_moves_in_steps_while_dragging(desktop: Desktop, event_log: EventLog) -> None:
    desktop.perform(Drag(410, 410, 550, 430))
    wait_until(lambda: len(event_log(BUTTONS)) == 2)
    moves = event_log(r"(MotionNotify) event.*?root:\((\d+,\d+)\),\s+state 0x1\d\d")
    assert len(moves) > 2
    assert moves[-1] == "MotionNotify 550,430"


def test_it_presses_chords(desktop: Desktop, event_log: EventLog) -> None:
    for chord in ("ctrl+shift+t", "shift+Tab", "A"):
        desktop.perform(Key(chord))
    pressed = ["Control_L", "Shift_L", "T", "Shift_L", "ISO_Left_Tab", "Shift_L", "A"]
    wait_until(lambda: len(event_log(KEYS)) >= 2 * len(pressed))
    assert [key for key in event_log(KEYS) if key.startswith("KeyPress")] == [f"KeyPress {key}" for key in pressed]


@pytest.fixture
def editor(machine: GvisorSandbox) -> Iterator[None]:
    machine.write_file(TEXT, b"")
    start(machine, f"mousepad {TEXT}")
    focus(machine, "--class", "mousepad")
    yield
    machine.exec(["pkill", "-x", "mousepad"])
    wait_until(lambda: not machine.exec(["pgrep", "-x", "mousepad"]).stdout)


@pytest.mark.usefixtures("editor")
def test_it_types_every_script(machine: GvisorSandbox, desktop: Desktop) -> None:
    chinese = "".join(chr(0x4E00 + offset) for offset in range(60))
    text = (
        "héllo ✓ Ω 你好 $%^ AbC {}[]\"'\\ €\n" + "The quick BROWN fox, 12 times! ~`@#&*()_+|<>?\n" * 20 + chinese + "\n"
    )
    desktop.perform(Type(text))
    desktop.perform(Key("ctrl+s"))
    wait_until(lambda: machine.read_file(TEXT) == text.encode())


def test_it_is_gone_after_closing(machine: GvisorSandbox) -> None:
    with machine.desktop() as desktop:
        desktop.screenshot()
    for call in (desktop.screenshot, lambda: desktop.perform(Move(1, 1)), lambda: desktop.wait_for_change(0, 1)):
        with pytest.raises(Gone):
            call()
