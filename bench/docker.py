"""The peer: the same root filesystem in a Docker container, where an engine answers. It keeps the disk only."""

import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandboxes.backends.gvisor import VNC_PORT
from sandboxes.display.desktop import Desktop
from sandboxes.errors import Gone
from sandboxes.ids import new_id

from .stats import p50

INIT = "/opt/godhand/init"
PATIENCE = 60


def answers() -> bool:
    try:
        return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@contextmanager
def imported(root: Path) -> Iterator[str]:
    """The root filesystem as an image of the engine, removed again."""
    name = f"godhand-bench:{new_id()}"
    with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as tar:
        subprocess.run(["docker", "import", "-", name], stdin=tar.stdout, check=True, capture_output=True)
    try:
        yield name
    finally:
        _docker("rmi", "-f", name)


def run_figure(root: Path, n: int) -> dict[str, float]:
    """`docker run` until the first whole frame."""
    if not answers():
        return {}
    with imported(root) as image:
        return {"docker_run_ms_p50": p50([_run(image)[0] for _ in range(n)])}


def commit_run_figure(root: Path, n: int) -> dict[str, float]:
    """`docker commit` of a running desktop and `docker run` of that until the first whole frame."""
    if not answers():
        return {}
    with imported(root) as image:
        _, parent = _run(image, keep=True)
        try:
            return {"docker_commit_run_ms_p50": p50([_commit_and_run(parent) for _ in range(n)])}
        finally:
            _docker("rm", "-f", parent)


def _commit_and_run(parent: str) -> float:
    name, began = f"godhand-bench:{new_id()}", time.perf_counter()
    _docker("commit", parent, name)
    committed = (time.perf_counter() - began) * 1000
    try:
        return committed + _run(name)[0]
    finally:
        _docker("rmi", "-f", name)


def _run(image: str, *, keep: bool = False) -> tuple[float, str]:
    """Milliseconds, and the container's name."""
    name = f"godhand-bench-{new_id()}"
    began = time.perf_counter()
    token = f"GODHAND_TOKEN={secrets.token_hex(16)}"
    _docker("run", "-d", "--name", name, "--tmpfs", "/tmp", "--tmpfs", "/run", "-e", token, image, INIT)
    try:
        address = _docker("inspect", "-f", "{{.NetworkSettings.IPAddress}}", name)
        _first_frame(address)
        return (time.perf_counter() - began) * 1000, name
    finally:
        if not keep:
            _docker("rm", "-f", name)


def _first_frame(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with Desktop.connect(address, VNC_PORT) as desktop:
                desktop.screenshot()
                return
        except Gone:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout.strip()
