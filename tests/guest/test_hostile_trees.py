"""Archives and directories made to do harm, on their way into a machine and out of it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandboxes import tree
from sandboxes.errors import Gone, OutputLimit, Refused
from sandboxes.guest.client import MIB, Guest

from .archives import END, HOSTILE, member
from .conftest import TOKEN, Daemon
from .test_hostile_guest import guest_that_says
from .waiting import eventually

LIMITS = {"max_bytes": MIB, "max_entries": 100}
INNOCENT = {name for name, (_, sentence) in HOSTILE.items() if not sentence}


def piecemeal(data: bytes, size: int = 700) -> Iterator[bytes]:
    return (data[begin : begin + size] for begin in range(0, len(data), size))


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def send(daemon: Daemon, archive: Iterator[bytes], path: str, **limits: int) -> dict[str, object]:
    with daemon.socket() as sock, sock.makefile("rb") as answers:
        for line in ({"token": TOKEN}, {"op": "unpack", "path": path, "body": "stream"} | limits):
            sock.sendall(json.dumps(line).encode() + b"\n")
        answers.readline()
        for piece in archive:
            sock.sendall(b'{"body": %d}\n' % len(piece) + piece)
        sock.sendall(b'{"body": 0}\n')
        answer: dict[str, object] = json.loads(answers.readline())
        sock.sendall(b'{"op": "ping"}\n')
        assert json.loads(answers.readline())["ok"]
        return answer


@pytest.mark.parametrize("name", HOSTILE)
def test_it_takes_no_harm_from_what_a_machine_sends(name: str, tmp_path: Path) -> None:
    archive, sentence = HOSTILE[name]
    if name in INNOCENT:
        tree.unpack(piecemeal(archive + END), tmp_path / "new", **LIMITS)
        return
    with pytest.raises((Refused, OutputLimit), match=sentence):
        tree.unpack(piecemeal(archive + END), tmp_path / "new", **LIMITS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_it_takes_no_harm_from_what_is_sent_to_a_machine(name: str, daemon: Daemon) -> None:
    archive, sentence = HOSTILE[name]
    answer = send(daemon, piecemeal(archive + END), f"hostile/{name}", **LIMITS)
    assert answer["ok"] is (name in INNOCENT)
    assert sentence in str(answer.get("message", ""))
    if not answer["ok"]:
        assert set(names_in(daemon.home / "hostile")) <= INNOCENT


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(archive=st.lists(st.binary() | st.sampled_from([data for data, _ in HOSTILE.values()][:40])), at=st.integers(0))
def test_it_unpacks_any_bytes_or_says_why_not(archive: list[bytes], at: int, tmp_path: Path) -> None:
    data = bytearray(b"".join(archive)[: 64 << 10])
    if data:
        data[at % len(data)] ^= 1
    with suppress(Refused, OutputLimit):
        tree.unpack(piecemeal(bytes(data) + END), tmp_path / "new", **LIMITS)
        for path in (tmp_path / "new").rglob("*"):
            assert path.resolve().is_relative_to(tmp_path / "new")
        shutil.rmtree(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def answers(*pieces: bytes, last: dict[str, object] | None = None) -> bytes:
    said = b"".join(b'{"ok": true, "more": true, "sizes": [%d]}\n' % len(piece) + piece for piece in pieces)
    return said + (json.dumps(last).encode() + b"\n" if last else b"")


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (answers(member("x"), last={"ok": True, "more": False, "sizes": [0]}), Refused),
        (answers(member("x"), END), Gone),
        (answers(member("x"), last={"ok": True, "more": "yes", "sizes": [0]}), Gone),
        (answers(member("x"), last={"ok": True, "more": True, "sizes": [1 << 40]}), Gone),
        (answers(member("x"), last={"ok": True, "more": True, "sizes": []}), Gone),
        (answers(member("x"), last={"ok": False, "error": "failed", "message": "no", "sizes": []}), Refused),
        (answers(member("x"), last={"ok": False, "error": "limit", "message": "no", "sizes": []}), OutputLimit),
        (answers(member("../x"), END, last={"ok": True, "more": False, "sizes": [0]}), Refused),
    ],
)
def test_it_leaves_nothing_of_a_transfer_that_ends_badly(said: bytes, error: type[Exception], tmp_path: Path) -> None:
    with guest_that_says(said) as guest, pytest.raises(error):
        guest.download_tree("x", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_wait_for_a_machine_that_keeps_it_busy_with_nothing(tmp_path: Path) -> None:
    with guest_that_says(answers(*[b""] * 1000, b"x")) as guest, pytest.raises(Gone):
        guest.download_tree("x", tmp_path / "new", timeout=0.5)
    assert list(tmp_path.iterdir()) == []


def test_it_removes_what_it_began_when_the_sender_is_gone(guest: Guest, daemon: Daemon) -> None:
    with daemon.socket() as sock, sock.makefile("rb") as said:
        sock.sendall(b'{"token": "%s"}\n{"op": "unpack", "path": "left-alone/x", "body": "stream"}\n' % TOKEN.encode())
        said.readline()
        piece = member("y", data=b"1" * 100_000)
        sock.sendall(b'{"body": %d}\n' % len(piece) + piece)
        eventually(lambda: names_in(daemon.home / "left-alone") != [])
    eventually(lambda: names_in(daemon.home / "left-alone") == [])


def test_it_ends_a_conversation_that_streams_nonsense(guest: Guest, daemon: Daemon) -> None:
    for nonsense in (b'{"body": -1}\n', b'{"body": "x"}\n', b'{"body": 99999999999}\n', b"\n", b"x" * 5000):
        with daemon.socket() as sock, sock.makefile("rb") as said:
            sock.sendall(b'{"token": "%s"}\n{"op": "write", "path": "nonsense", "body": "stream"}\n' % TOKEN.encode())
            said.readline()
            sock.sendall(nonsense)
            assert json.loads(said.readline())["error"] == "malformed"
    guest.ping()
    assert not (daemon.home / "nonsense").exists()


def test_it_never_follows_a_directory_that_is_swapped_for_a_link(guest: Guest, daemon: Daemon, tmp_path: Path) -> None:
    swap = "while :; do mv -T dir kept; ln -s ../outside dir; rm dir; mv -T kept dir; done"
    guest.exec(["sh", "-c", "mkdir -p race/dir outside && echo fine >race/dir/file && echo outside >outside/file"])
    pid = int(guest.exec(["sh", "-c", f"(cd race && exec setsid sh -c '{swap}') >/dev/null 2>&1 & echo $!"]).stdout)
    try:
        outcomes = [attempt(guest, tmp_path / str(number)) for number in range(100)]
    finally:
        guest.exec(["sh", "-c", f"kill -9 -{pid} {pid}"])
    assert set(outcomes) <= {"fine\n", "nothing", "refused"}
    guest.ping()


def attempt(guest: Guest, target: Path) -> str:
    try:
        guest.download_tree("race", target, timeout=20)
    except Refused:
        return "refused"
    files = [path for path in target.rglob("*") if path.is_file() and not path.is_symlink()]
    return files[0].read_text() if files else "nothing"
