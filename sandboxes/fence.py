"""The last word before input leaves for a machine: who may send at this instant, on the machine's host.

One small file per machine says who holds it. Whoever sends keeps a shared lock on the file while the bytes leave; the
holder is changed under an exclusive one. So a change waits for the one who is just sending, and whoever comes later,
even a process that was stopped for an hour between two of its own lines, finds that the machine is not his.
"""

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import Taken, Unavailable

Guard = Callable[[], AbstractContextManager[None]]
"""Entered around the sending of input. Raises Taken, and then nothing may be sent."""

PATIENCE = 6.0
"""Sending takes five seconds at most, when a display takes nothing any more."""
STOPPED_FOR = 0.5


@dataclass(frozen=True)
class Holding:
    """`until` is a time of `clock`; None is for ever. The empty holder is nobody."""

    holder: str = ""
    epoch: int = 0
    until: float | None = None


NOBODY = Holding()


def clock() -> float:
    """Seconds, the same for all processes of this host; it neither jumps nor rests while the host sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Fence:
    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def passing(self, holder: str, epoch: int | None = None) -> Iterator[None]:
        """Raises Taken unless the machine is this holder's now, and of this epoch where one is named.

        Each call opens the file anew: threads that shared a descriptor would share its lock.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise Taken("Nobody drives this machine.") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            held = _read(descriptor)
            if held.holder != holder or epoch not in (None, held.epoch):
                raise Taken("Somebody else drives this machine now.")
            if held.until is not None and clock() > held.until:
                raise Taken("The time of whoever drove this machine is over.")
            yield
        finally:
            os.close(descriptor)

    def held(self) -> Holding:
        with suppress(FileNotFoundError):
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                return _read(descriptor)
            finally:
                os.close(descriptor)
        return NOBODY

    def put(self, holding: Callable[[], Holding]) -> None:
        """Return once nobody else can send any more. Raises Unavailable.

        Who holds it is asked for while nobody can send: of two who put at once, the later has the last word.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _lock(descriptor)
            written = os.pwrite(descriptor, json.dumps(asdict(holding())).encode(), 0)
            os.ftruncate(descriptor, written)
        finally:
            os.close(descriptor)


def _read(descriptor: int) -> Holding:
    try:
        return Holding(**json.loads(os.pread(descriptor, 4096, 0)))
    except (ValueError, TypeError):
        return NOBODY


def _lock(descriptor: int) -> None:
    began = time.monotonic()
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        waited = time.monotonic() - began
        if waited > STOPPED_FOR:
            _kill_stopped(descriptor)
        if waited > PATIENCE:
            raise Unavailable("The machine's display takes no input, and its driver waits for it: try again.")
        time.sleep(0.002)


def _kill_stopped(descriptor: int) -> None:
    """A process stopped in the very act of sending can be told nothing, and would go on with it when it wakes."""
    file = os.fstat(descriptor)
    name = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    for words in map(str.split, Path("/proc/locks").read_text().splitlines()):
        if words[1] == "FLOCK" and words[5] == name and _is_stopped(words[4]):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(int(words[4]), signal.SIGKILL)


def _is_stopped(pid: str) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False
