"""More bytes than anybody wants to hold in memory."""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandboxes import tree
from sandboxes.errors import Gone, OutputLimit, Refused
from sandboxes.guest.client import MIB, Guest

from .archives import bomb
from .conftest import Daemon
from .test_hostile_guest import guest_that_says

GROWTH = 100 * MIB


class Stream(io.RawIOBase):
    """As many bytes as wanted, none of them kept."""

    def __init__(self, size: int) -> None:
        self.left, self.block = size, os.urandom(MIB)
        self.sent, self.received = hashlib.sha256(), hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self.block[: min(size, self.left)]
        self.left -= len(data)
        self.sent.update(data)
        return data

    def write(self, data: object, /) -> int:
        assert isinstance(data, bytes)
        self.received.update(data)
        return len(data)


def memory(process: int | str, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:")), 0)


def processes_of(daemon: Daemon) -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if session_of(path) == daemon.process.pid]


def session_of(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, IndexError):
        return 0


@contextmanager
def little_memory(daemon: Daemon | None = None, growth: int = GROWTH) -> Iterator[None]:
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("self", "VmHWM")
    yield
    assert memory("self", "VmHWM") - before < growth
    if daemon:
        assert all(memory(process, "VmHWM") < GROWTH for process in processes_of(daemon))
        assert len(processes_of(daemon)) >= 3


def test_it_streams_a_file_both_ways(own_daemon: Daemon) -> None:
    stream = Stream(200 * MIB)
    with own_daemon.guest() as guest, little_memory(own_daemon):
        guest.write_from("streamed", stream, mode=0o600)  # type: ignore[arg-type]
        assert guest.read_to("streamed", stream) == 200 * MIB  # type: ignore[arg-type]
        assert stream.sent.digest() == stream.received.digest()
        guest.exec(["rm", "streamed"])


def test_it_streams_a_directory_both_ways(own_daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for number in range(4):
        with (tmp_path / "source" / str(number)).open("wb") as file:
            file.writelines([os.urandom(MIB)] * 50)
    with own_daemon.guest() as guest, little_memory(own_daemon):
        guest.upload_tree(tmp_path / "source", "large-tree")
        guest.download_tree("large-tree", tmp_path / "back")
        guest.exec(["rm", "-r", "large-tree"])
    for name in "0123":
        with (tmp_path / "source" / name).open("rb") as sent, (tmp_path / "back" / name).open("rb") as received:
            assert hashlib.file_digest(sent, "sha256").digest() == hashlib.file_digest(received, "sha256").digest()


def test_it_does_not_remember_entries(own_daemon: Daemon, tmp_path: Path) -> None:
    with little_memory(growth=8 * MIB), pytest.raises(OutputLimit, match="entries"):
        tree.unpack(bomb(100_000), tmp_path / "many", max_bytes=1 << 30, max_entries=5_000)
    with own_daemon.guest() as guest, little_memory(own_daemon, growth=10 * MIB):
        guest.exec(["sh", "-c", "mkdir many && cd many && seq 3000 | xargs touch"], timeout=60)
        with pytest.raises(OutputLimit, match="entries"):
            guest.download_tree("many", tmp_path / "many", max_entries=2000)
        guest.exec(["rm", "-r", "many"], timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_it_reads_no_more_of_a_file_than_allowed(guest: Guest) -> None:
    guest.exec(["truncate", "-s", "1T", "endless"])
    kept = io.BytesIO()
    with pytest.raises(OutputLimit, match="endless"):
        guest.read_to("endless", kept)
    with pytest.raises(FileNotFoundError, match="no such"):
        guest.read_to("no such", kept)
    with pytest.raises(Refused, match="regular"):
        guest.read_to("/dev/zero", kept)
    assert kept.getvalue() == b""
    guest.ping()


def test_it_says_early_that_a_file_cannot_be_written(guest: Guest) -> None:
    stream = Stream(1 << 40)
    with pytest.raises(PermissionError, match="/etc/shadow"):
        guest.write_from("/etc/shadow", stream)  # type: ignore[arg-type]
    guest.ping()


class Failing(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if not data:
            raise OSError(5, "The disk is broken")
        return data

    def write(self, data: object, /) -> int:
        raise OSError(28, "The disk is full")


def test_it_keeps_the_old_file_when_the_new_one_cannot_be_read_here(guest: Guest) -> None:
    guest.write_file("kept whole", b"old")
    with pytest.raises(OSError, match="broken"):
        guest.write_from("kept whole", Failing(b"new"))
    assert guest.read_file("kept whole") == b"old"
    with pytest.raises(OSError, match="full"):
        guest.read_to("kept whole", Failing())
    assert guest.read_file("kept whole") == b"old"


def test_it_does_not_take_half_a_file_for_a_whole_one() -> None:
    kept = io.BytesIO()
    with (
        guest_that_says(b'{"ok": true, "size": 10, "sizes": [10]}\nhalf') as guest,
        pytest.raises(Gone, match="middle"),
    ):
        guest.read_to("x", kept)
    with guest_that_says(b'{"ok": true, "size": 10, "sizes": [10]}\n') as guest, pytest.raises(Gone):
        guest.read_to("x", kept, limit=9)


def test_it_does_not_mistake_a_body_that_nobody_wants_for_a_request(daemon: Daemon) -> None:
    hello = b'{"token": "%s"}\n' % daemon.token.encode()
    read = b'{"op": "read", "path": "/etc/passwd", "limit": 1, "partial": true, "body": "stream"}\n'
    with daemon.socket() as sock, sock.makefile("rb") as said:
        sock.sendall(hello + read + b'{"body": 3}\nabc{"body": 0}\n{"op": "ping"}\n')
        said.readline()
        assert b'"sizes": [1]' in said.readline()
        said.read(1)
        assert b'"ok": true' in said.readline()
