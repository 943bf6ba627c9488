"""Root shells that people open in a machine from its host. A snapshot that holds one cannot be woken.

Each keeps a shared lock on the machine's directory while it is open, and whoever saves the machine wants that alone.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import Gone, Refused

# In a terminal of the machine's own: what is left running in the background must hold none of the host's.
_START = """
[ -t 0 ] && command -v script > /dev/null && exec script --quiet --return --command "exec bash -l" /dev/null
exec bash -l
"""
SHELL = ("/bin/sh", "-c", _START)


def opening(directory: Path, argv: Sequence[str]) -> list[str]:
    return ["flock", "--shared", "--no-fork", str(directory), *argv]


@contextmanager
def none_open(directory: Path) -> Iterator[None]:
    """One that is opened meanwhile waits. Raises Refused, and Gone when the machine's directory is."""
    try:
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise Gone("The machine could not be saved: it is not there.") from None
    try:
        _want_alone(lock)
        yield
    finally:
        os.close(lock)


def _want_alone(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused(
            "The machine cannot be saved while somebody has a root shell open in it (./godhand shell): close it."
        ) from None
