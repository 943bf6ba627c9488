"""Whose turn it is on the host: a machine that somebody waits for comes before those that merely run.

It gets the larger share of the processors, and its kernel sharp timers. Left alone it gets lazy ones: gVisor looks
every 0.4 ms whether its short cuts still pay, also in a machine that sleeps, which costs 6 % of a core with the host's
usual timers and 1 % with lazy ones. But the same timers hand over between its threads, and waking takes half as long
again with them. A program's own sleep in a machine may be so much longer.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .limits import FIRST, set_weight

SHARP_NS = 50_000
LAZY_NS = 10_000_000


@contextmanager
def urgent(container: str, pid: int | None) -> Iterator[None]:
    """`pid` is the machine's kernel."""
    _set(container, pid, FIRST, SHARP_NS)
    try:
        yield
    finally:
        _set(container, pid, 1, LAZY_NS)


def _set(container: str, pid: int | None, weight: int, slack_ns: int) -> None:
    with suppress(OSError):
        set_weight(container, weight)
    if pid:
        with suppress(OSError):
            _set_timer_slack(pid, slack_ns)


def _set_timer_slack(pid: int, nanoseconds: int) -> None:
    """Of every thread; a new one has that of the thread that made it."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            Path(f"/proc/{thread.name}/timerslack_ns").write_text(str(nanoseconds))
