"""Processes told apart from strangers that were given the same number later."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def start_time(pid: int) -> int | None:
    """Clock ticks since boot; None when there is no such process, or only its zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


def is_same(pid: int, started: int) -> bool:
    """Nothing runs before the clock does: a start of zero is of a process that was gone before it was written down."""
    return started > 0 and start_time(pid) == started


def end_group(pid: int, started: int, patience: float) -> None:
    """Ask a service and its children to stop, and kill what is left after `patience` seconds."""
    if not is_same(pid, started):
        return
    _signal_group(pid, signal.SIGTERM)
    wait_until(lambda: not is_same(pid, started), patience)
    _signal_group(pid, signal.SIGKILL)
    wait_until(lambda: not is_same(pid, started), patience)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)


def wait_until(condition: Callable[[], bool], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
