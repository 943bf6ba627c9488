"""A machine to check, and something in it to see."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.checkers.scene import MachineScene
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.display.screen import Box

from ..guest.waiting import eventually

TITLE = 'He said "hi" é [1]'
FOLDER = "/tmp/to be checked"


@pytest.fixture(scope="module")
def desktop(machine: GvisorSandbox) -> Iterator[Desktop]:
    with machine.desktop() as desktop:
        yield desktop


@pytest.fixture
def scene(machine: GvisorSandbox, desktop: Desktop, tmp_path: Path) -> MachineScene:
    return MachineScene(machine, desktop, references=tmp_path / "references")


@pytest.fixture
def folder(machine: GvisorSandbox) -> Iterator[str]:
    """Of the machine."""
    machine.exec(["mkdir", FOLDER])
    yield FOLDER
    machine.exec(["rm", "-rf", FOLDER])


def run(machine: GvisorSandbox, script: str, *arguments: str) -> None:
    """Python in the machine."""
    result = machine.exec(["python3", "-c", script, *arguments], timeout=60)
    assert result.returncode == 0, result.stderr.decode()


def start(machine: GvisorSandbox, *argv: str) -> None:
    machine.exec(["setsid", "--fork", "sh", "-c", 'exec "$@" </dev/null >/dev/null 2>&1', "sh", *argv])


class Xmessage:
    """A window with a title and a text."""

    def __init__(self, machine: GvisorSandbox, desktop: Desktop, title: str, text: str) -> None:
        self._machine, self._desktop = machine, desktop
        start(machine, "xmessage", "-title", title, text)
        eventually(lambda: bool(self._ids()), 20)
        self._settle()

    @property
    def box(self) -> Box:
        told = self._machine.exec(["xwininfo", "-id", self._ids()]).stdout.decode(errors="replace")
        names = ("Absolute upper-left X", "Absolute upper-left Y", "Width", "Height")
        return Box(*(int(told.partition(f"{name}:")[2].split()[0]) for name in names))

    def move(self, x: int, y: int) -> None:
        self._machine.exec(["xdotool", "windowmove", "--sync", self._ids(), str(x), str(y)])
        self._settle()

    def close(self) -> None:
        self._machine.exec(["pkill", "-x", "xmessage"])
        eventually(lambda: not self._ids(), 20)
        self._settle()

    def _ids(self) -> str:
        argv = ["xdotool", "search", "--onlyvisible", "--class", "xmessage"]
        return self._machine.exec(argv).stdout.decode().strip()

    def _settle(self) -> None:
        self._desktop.settle(0, first=0.3)


@pytest.fixture
def window(machine: GvisorSandbox, desktop: Desktop) -> Iterator[Xmessage]:
    window = Xmessage(machine, desktop, TITLE, "Read this if you can: Quarterly Report 2026")
    yield window
    window.close()
