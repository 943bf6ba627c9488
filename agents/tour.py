"""The first thing a newcomer sees an agent's hand do: press a button in a desktop and prove that it was pressed."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sandboxes.actions import Click, Key, Type
from sandboxes.base import Sandbox
from sandboxes.display.desktop import Desktop
from sandboxes.display.screen import Screen
from sandboxes.errors import SandboxError

ANSWER = "/tmp/tour-answer"
BUTTONS = ("--ok-label=Press me", "--cancel-label=Not now")
REACTION = 0.3
WINDOW_SECONDS = 30
TITLE = "Hello from GodHand"
QUESTION = "A person, or an agent, can press this button.\nThis time it is GodHand itself."
NOTE = "GodHand pressed the button and wrote this note.\nKeys went over VNC: “é”, “✓” and “你好” included.\n"

Save = Callable[[Screen, str, tuple[int, int] | None], None]


class TourFailed(SandboxError):
    pass


def run(sandbox: Sandbox, save: Save) -> None:
    """Raises TourFailed when the machine's own evidence says that the button was not pressed."""
    with sandbox.desktop() as desktop:
        save(desktop.screenshot(), "A fresh desktop", None)
        button = _ask(sandbox, desktop)
        save(desktop.screenshot(), "A question appears; next, a click on “Press me”", button)
        with _answered(sandbox):
            desktop.perform(Click(*button))
        _write_note(sandbox, desktop)
        save(desktop.screenshot(), "The button was pressed, and a note typed", None)


def _ask(sandbox: Sandbox, desktop: Desktop) -> tuple[int, int]:
    """Opens the dialog; returns where its right-hand button is."""
    dialog = shlex.join(["zenity", "--question", "--width=420", f"--title={TITLE}", f"--text={QUESTION}", *BUTTONS])
    with sandbox.guest() as guest:
        guest.bash(f"rm -f {ANSWER}; ({dialog}; echo $? >{ANSWER}) >/dev/null 2>&1 &")
    left, top, width, height = _window(sandbox, desktop, TITLE)
    return left + width * 3 // 4, top + height * 78 // 100


def _window(sandbox: Sandbox, desktop: Desktop, title: str) -> tuple[int, int, int, int]:
    search = [
        "xdotool",
        "search",
        "--sync",
        "--onlyvisible",
        "--name",
        title,
        "getwindowgeometry",
        "--shell",
        "%1",
    ]
    found = sandbox.exec(search, timeout=WINDOW_SECONDS)
    facts = dict(line.split("=", 1) for line in found.stdout.decode().splitlines() if "=" in line)
    if found.returncode or not {"X", "Y", "WIDTH", "HEIGHT"} <= facts.keys():
        raise TourFailed(f"The window “{title}” did not open.")
    box = (int(facts["X"]), int(facts["Y"]), int(facts["WIDTH"]), int(facts["HEIGHT"]))
    desktop.wait_until(lambda screen: not screen.crop(*box).blank, WINDOW_SECONDS)
    desktop.settle(desktop.version, first=REACTION)
    return box


@contextmanager
def _answered(sandbox: Sandbox) -> Iterator[None]:
    yield
    with sandbox.guest() as guest:
        answer = guest.bash(f"wait; cat {ANSWER}", timeout=20).output.strip()
    if answer != b"0":
        raise TourFailed(f"The dialog ended with “{answer.decode(errors='replace')}”: the button was not pressed.")


def _write_note(sandbox: Sandbox, desktop: Desktop) -> None:
    with sandbox.guest() as guest:
        guest.bash("mousepad >/dev/null 2>&1 &")
    _window(sandbox, desktop, "Mousepad")
    desktop.perform(Type(NOTE))
    before = desktop.version
    desktop.perform(Key("ctrl+Home"))
    desktop.settle(before, first=REACTION)
