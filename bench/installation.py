"""An installation of its own for a benchmark: `./godhand up` in a new home, on free ports."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
STUCK_SECONDS = 15


@contextmanager
def installation() -> Iterator[None]:
    """In this process's environment, so that its settings are those of the services."""
    from sandboxes.host import here

    images = here().images
    home = Path(tempfile.mkdtemp(prefix="godhand-chaos-", dir="/var/tmp"))
    home.chmod(0o755)
    runsc = here().tools / "runsc/usr/bin/runsc"
    os.environ |= {
        "GODHAND_HOME": str(home),
        "GODHAND_IMAGES": str(images),
        "GODHAND_PORT": str(free_port()),
        "GODHAND_GATE_PORT": str(free_port()),
        "GODHAND_STUCK_SECONDS": str(STUCK_SECONDS),
    }
    if runsc.exists():
        os.environ["GODHAND_RUNSC"] = str(runsc)
    here.cache_clear()
    with (home / "up.log").open("wb") as log:
        up = subprocess.Popen([str(ROOT / "godhand"), "up"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait(lambda: b"/login/link/" in (home / "up.log").read_bytes() or up.poll() is not None, 120)
        if up.poll() is not None:
            raise SystemExit(f"The installation did not start:\n{(home / 'up.log').read_text()[-2000:]}")
        yield
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(120)
        remove_home(home)


def remove_home(home: Path) -> None:
    """Its snapshots first, each of which keeps a build of the shared images from being removed."""
    from sandboxes.host import here
    from sandboxes.snapshots import Snapshots

    snapshots = Snapshots(replace(here(), home=home))
    for snapshot_id in snapshots.ids():
        snapshots.delete(snapshot_id)
    shutil.rmtree(home, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait(condition: Callable[[], bool], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
