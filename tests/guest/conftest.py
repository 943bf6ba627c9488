import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandboxes.guest import client
from sandboxes.guest.client import Guest
from tests.ports import free_port

DAEMON = Path(client.__file__).with_name("daemon")
TOKEN = "a token for the tests"
UID = 64321

# The daemon gets an /etc with a user “agent” that the host has not.
RUN = """mount --bind "$1/passwd" /etc/passwd; mount --bind "$1/group" /etc/group; shift; exec "$@" """


@dataclass(frozen=True)
class Daemon:
    process: subprocess.Popen[bytes]
    port: int
    home: Path
    token: str = TOKEN

    def guest(self, token: str = TOKEN) -> Guest:
        return Guest("127.0.0.1", self.port, token)

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 5)


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("the guest changes users, so its tests need root")
    folder = Path(tempfile.mkdtemp(prefix="guest-test-"))
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    os.chown(home, UID, UID)
    line = f"agent:x:{UID}:{UID}::{home}:/bin/bash\n"
    (folder / "passwd").write_text(Path("/etc/passwd").read_text() + line)
    (folder / "group").write_text(Path("/etc/group").read_text() + f"agent:x:{UID}:\n")
    yield folder
    shutil.rmtree(folder)


def start(place: Path, port: int) -> subprocess.Popen[bytes]:
    options = ["--host", "127.0.0.1", "--port", str(port), "--token-file", f"{place}/run/token-{port}"]
    world = ["unshare", "--mount", "sh", "-euc", RUN, "sh", str(place)]
    argv = [*world, sys.executable, "-IS", str(DAEMON / "__main__.py"), *options]
    return subprocess.Popen(argv, env={"GODHAND_TOKEN": TOKEN, "PATH": os.environ["PATH"]}, start_new_session=True)


def run_daemon(place: Path) -> Iterator[Daemon]:
    port = free_port()
    process = start(place, port)
    daemon = Daemon(process, port, place / "home")
    try:
        with daemon.guest() as guest:
            guest.wait_until_ready(10)
        yield daemon
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="session")
def daemon(place: Path) -> Iterator[Daemon]:
    yield from run_daemon(place)


@pytest.fixture
def own_daemon(place: Path) -> Iterator[Daemon]:
    """For tests that change what all others rely on."""
    yield from run_daemon(place)


@pytest.fixture
def guest(daemon: Daemon) -> Iterator[Guest]:
    with daemon.guest() as guest:
        yield guest
