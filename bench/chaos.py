"""Random operations on machines while the machines worker is killed at random; then, what is left and what lies.

An installation of its own is started for it. An orphan is a thing on the host that no row claims after the reaper has
looked twice; a lie is a row that says something else than the host does.
"""

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .stats import report

ROOT = Path(__file__).parents[1]
STUCK_SECONDS = 15


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench chaos", description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="operations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with installation():
        import django

        django.setup()
        from .disorder import Disorder

        result = Disorder(random.Random(options.seed), quiet=options.json).run(options.n)
    report(result)
    return int(bool(result["orphans"] or result["lies"]))


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
        yield
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(120)


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


if __name__ == "__main__":
    sys.exit(main())
