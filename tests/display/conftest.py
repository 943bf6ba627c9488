"""Programs in the machine that tell what they noticed."""

import re
import time
from collections.abc import Callable, Iterator

import pytest

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop

LOG = "/tmp/xev.log"
TEXT = "/tmp/typed.txt"

EventLog = Callable[[str], list[str]]


@pytest.fixture
def desktop(machine: GvisorSandbox) -> Iterator[Desktop]:
    with machine.desktop() as desktop:
        yield desktop


def start(machine: GvisorSandbox, command: str) -> None:
    machine.exec(["sh", "-c", f"setsid -f {command} </dev/null >/dev/null 2>&1"])


def end(machine: GvisorSandbox, program: str) -> None:
    machine.exec(["pkill", "-x", program])
    wait_until(lambda: not machine.exec(["pgrep", "-x", program]).stdout)


def wait_until(met: Callable[[], object], timeout: float = 20) -> None:
    deadline = time.monotonic() + timeout
    while not met():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def focus(machine: GvisorSandbox, *search: str) -> str:
    found: list[str] = []

    def active() -> bool:
        """A search fails as a whole when some other window goes meanwhile."""
        found[:] = machine.exec(["xdotool", "search", "--onlyvisible", *search]).stdout.decode().split()[-1:]
        return bool(found) and machine.exec(["xdotool", "windowactivate", "--sync", *found]).returncode == 0

    wait_until(active)
    return found[0]


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
    end(machine, "xev")


@pytest.fixture
def editor(machine: GvisorSandbox, desktop: Desktop) -> Iterator[Callable[[], str]]:
    """An open editor that has read its file, and what it last saved."""
    machine.write_file(TEXT, b"")
    start(machine, f"mousepad {TEXT}")
    focus(machine, "--name", TEXT)
    wait_until(lambda: not desktop.settle(desktop.version, first=1).changed)
    yield lambda: machine.read_file(TEXT).decode()
    end(machine, "mousepad")
