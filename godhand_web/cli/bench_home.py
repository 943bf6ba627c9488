"""A home of their own for benchmarks: an `up` that runs beside them removes what it does not know in its own."""

import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.host import here
from sandboxes.network import remove_firewall
from sandboxes.runsc import binary
from sandboxes.snapshots import Snapshots


@contextmanager
def own_home() -> Iterator[None]:
    """In this process's environment. The real home gives it a place, and lends its images and its runsc."""
    real = here()
    with (real.own / "bench.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("Another benchmark runs, and two at once would measure each other: wait until it has ended.")
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _end)
        os.environ |= {"GODHAND_IMAGES": str(real.images), "GODHAND_RUNSC": binary(real)}
        _clear(real.home / "bench")
        for directory in (here().machines, here().run):
            directory.mkdir(parents=True)
        try:
            yield
        finally:
            _clear(real.home / "bench")


def _clear(home: Path) -> None:
    """Go there, and remove what is there, also from a benchmark that was killed. Some go on to a home of theirs."""
    os.environ["GODHAND_HOME"] = str(home)
    here.cache_clear()
    for handle in GvisorSandbox.owned():
        GvisorSandbox.attach(handle).destroy()
    saved = Snapshots(here())
    for snapshot_id in saved.ids():
        saved.delete(snapshot_id)
    remove_firewall(here())
    shutil.rmtree(home, ignore_errors=True)


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
