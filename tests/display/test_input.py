"""Touching a real machine, checked by what the programs in it noticed."""

from collections.abc import Callable

import pytest

from sandboxes.actions import (
    Action,
    BadAction,
    Button,
    Click,
    Drag,
    Hold,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
)
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.errors import Gone

from .conftest import EventLog, wait_until

BUTTONS = r"(ButtonPress|ButtonRelease) event.*?root:\((\d+,\d+)\).*?button (\d)"
STATES = r"(ButtonPress|ButtonRelease) event.*?state (0x\w+), button (\d)"
KEYS = r"(KeyPress|KeyRelease) event.*?keysym 0x\w+, (\w+)\)"
DRAGGING = r"(MotionNotify) event.*?root:\((\d+,\d+)\),\s+state 0x1\d\d"


def pressed(place: str, button: int, count: int = 1) -> list[str]:
    return [f"ButtonPress {place} {button}", f"ButtonRelease {place} {button}"] * count


@pytest.mark.parametrize("action", [Move(1280, 0), Move(0, 800), Drag(1, 1, 1280, 1), Scroll(5, 5000, down=1)])
def test_it_refuses_places_outside_before_anything_is_sent(
    machine: GvisorSandbox, desktop: Desktop, action: Action
) -> None:
    desktop.perform(Move(77, 88))
    with pytest.raises(BadAction, match="1280×800"):
        desktop.perform(action)
    assert machine.exec(["xdotool", "getmouselocation"]).stdout.startswith(b"x:77 y:88 ")


def test_it_knows_where_the_pointer_is(machine: GvisorSandbox, desktop: Desktop) -> None:
    machine.exec(["xdotool", "mousemove", "222", "333"])
    assert desktop.locate() == (222, 333)
    desktop.perform(Move(100, 120))
    assert desktop.locate() == (100, 120)


def test_it_clicks_scrolls_and_drags(desktop: Desktop, event_log: EventLog) -> None:
    steps: list[tuple[Action, list[str]]] = [
        (Click(400, 400, count=2), pressed("400,400", 1, 2)),
        (Click(count=3), pressed("400,400", 1, 3)),
        (Click(411, 411, Button.RIGHT), pressed("411,411", 3)),
        (Click(412, 412, Button.MIDDLE), pressed("412,412", 2)),
        (Click(413, 413, Button.BACK), pressed("413,413", 8)),
        (Click(414, 414, Button.FORWARD), pressed("414,414", 9)),
        (Scroll(422, 422, down=2), pressed("422,422", 5, 2)),
        (Scroll(422, 422, down=-1), pressed("422,422", 4)),
        (Scroll(right=-1), pressed("422,422", 6)),
        (Scroll(424, 424, right=3), pressed("424,424", 7, 3)),
        (Drag(430, 430, 550, 450), ["ButtonPress 430,430 1", "ButtonRelease 550,450 1"]),
        (MouseDown(431, 431, Button.RIGHT), ["ButtonPress 431,431 3"]),
        (Move(441, 441), []),
        (MouseUp(button=Button.RIGHT), ["ButtonRelease 441,441 3"]),
    ]
    expected: list[str] = []
    for action, events in steps:
        desktop.perform(action)
        expected += events
        wait_until(lambda: len(event_log(BUTTONS)) >= len(expected))  # noqa: B023
        assert event_log(BUTTONS) == expected


def test_it_holds_keys_while_the_mouse_acts(desktop: Desktop, event_log: EventLog) -> None:
    """Shift is 0x1, Control 0x4 and the left button 0x100 in the state before each event."""
    desktop.perform(Click(400, 400, count=2, holding="ctrl+shift"))
    desktop.perform(Scroll(400, 400, down=1, holding="ctrl"))
    desktop.perform(Click(400, 400))
    expected = ["ButtonPress 0x5 1", "ButtonRelease 0x105 1"] * 2
    expected += ["ButtonPress 0x4 5", "ButtonRelease 0x1004 5", "ButtonPress 0x0 1", "ButtonRelease 0x100 1"]
    wait_until(lambda: len(event_log(STATES)) >= len(expected))
    assert event_log(STATES) == expected


def test_it_moves_in_steps_while_dragging(desktop: Desktop, event_log: EventLog) -> None:
    desktop.perform(Drag(410, 410, 550, 430))
    wait_until(lambda: len(event_log(BUTTONS)) == 2)
    moves = event_log(DRAGGING)
    assert len(moves) > 2
    assert moves[-1] == "MotionNotify 550,430"


def test_it_drags_along_a_path(desktop: Desktop, event_log: EventLog) -> None:
    desktop.perform(Drag(410, 410, 550, 430, via=((500, 450), (450, 400))))
    wait_until(lambda: len(event_log(BUTTONS)) == 2)
    moves = event_log(DRAGGING)
    corners = [moves.index(f"MotionNotify {place}") for place in ("500,450", "450,400", "550,430")]
    assert corners == sorted(corners)


def test_it_puts_every_click_where_it_was_meant(desktop: Desktop, event_log: EventLog) -> None:
    places = [(330 + turn * 37 % 340, 260 + turn * 53 % 220) for turn in range(40)]
    for place in places:
        desktop.perform(Click(*place))
    expected = [event for x, y in places for event in pressed(f"{x},{y}", 1)]
    wait_until(lambda: len(event_log(BUTTONS)) >= len(expected))
    assert event_log(BUTTONS) == expected


def test_it_lets_go_of_the_mouse_when_the_connection_ends(
    machine: GvisorSandbox, desktop: Desktop, event_log: EventLog
) -> None:
    with machine.desktop() as other:
        other.perform(MouseDown(440, 440))
        wait_until(lambda: event_log(BUTTONS) == ["ButtonPress 440,440 1"])
    wait_until(lambda: event_log(BUTTONS) == pressed("440,440", 1))


def test_it_presses_chords(desktop: Desktop, event_log: EventLog) -> None:
    for chord in ("ctrl+shift+t", "shift+Tab", "A"):
        desktop.perform(Key(chord))
    desktop.perform(Key("Down", repeat=3))
    keys = ["Control_L", "Shift_L", "T", "Shift_L", "ISO_Left_Tab", "Shift_L", "A", "Down", "Down", "Down"]
    wait_until(lambda: len(event_log(KEYS)) >= 2 * len(keys))
    assert [key for key in event_log(KEYS) if key.startswith("KeyPress")] == [f"KeyPress {key}" for key in keys]


def test_it_holds_a_key_until_it_repeats(desktop: Desktop, event_log: EventLog) -> None:
    desktop.perform(Hold("Down", 1.2))
    wait_until(lambda: event_log(KEYS)[-1:] == ["KeyRelease Down"])
    assert event_log(KEYS).count("KeyPress Down") > 2


def test_it_stops_waiting_when_the_connection_ends(machine: GvisorSandbox) -> None:
    with machine.desktop() as desktop:
        desktop.perform(Wait(0.01))
    with pytest.raises(Gone):
        desktop.perform(Wait(300))


def test_it_types_every_script(desktop: Desktop, editor: Callable[[], str]) -> None:
    chinese = "".join(chr(0x4E00 + offset) for offset in range(60))
    text = "héllo ✓ Ω 你好 $%^ AbC {}[]\"'\\ €\n" + "The quick BROWN fox: ~`@#&*()_+|<>?\n" * 20 + chinese + "\n"
    desktop.perform(Type(text))
    desktop.perform(Key("ctrl+s"))
    wait_until(lambda: editor() == text)


def test_it_types_ten_thousand_characters(desktop: Desktop, editor: Callable[[], str]) -> None:
    lines = "".join(f"{line}\tThe quick BROWN fox jumps over {line * 7919} lazy dogs.\n" for line in range(220))
    assert len(lines) > 10_000
    desktop.perform(Type(lines))
    desktop.perform(Key("ctrl+s"))
    wait_until(lambda: editor() == lines, 60)


def test_it_finds_shortcuts_while_the_keyboard_map_changes(machine: GvisorSandbox, desktop: Desktop) -> None:
    """As it does at the first key that comes over VNC. The window manager must not let go of its keys for that."""
    changing = "while [ -e /tmp/changing ]; do xmodmap -e 'keycode 255 = F20' -e 'keycode 255 = F21'; done"
    machine.exec(["sh", "-c", f"touch /tmp/changing; ({changing}) >/dev/null 2>&1 &"])
    try:
        for _ in range(5):
            desktop.perform(Key("Print"))
            wait_until(lambda: machine.exec(["sh", "-c", "rm /home/agent/Pictures/*.png"]).returncode == 0)
    finally:
        machine.exec(["rm", "/tmp/changing"])


@pytest.mark.parametrize("layout", ["de", "fr"])
def test_it_types_on_other_keyboards(
    machine: GvisorSandbox, desktop: Desktop, editor: Callable[[], str], layout: str
) -> None:
    text = "Zyx äöß é ~`!@#$%^&*()_+-=[]{}|;':\",./<>? \\ 0123456789 qwertz\n" * 3
    machine.exec(["setxkbmap", layout])
    try:
        desktop.perform(Type(text))
        desktop.perform(Key("ctrl+s"))
        wait_until(lambda: editor() == text)
    finally:
        machine.exec(["setxkbmap", "us"])
