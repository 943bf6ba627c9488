"""The daemon as seen by someone who does not use our client."""

import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from sandboxes.errors import Refused
from sandboxes.guest.client import Guest

from .conftest import TOKEN, Daemon
from .waiting import eventually


def say(sock: socket.socket, *lines: dict[str, Any] | bytes) -> None:
    for line in lines:
        sock.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")


def hear(sock: socket.socket) -> dict[str, Any]:
    line = b""
    while not line.endswith(b"\n"):
        byte = sock.recv(1)
        assert byte, "it hung up"
        line += byte
    answer: dict[str, Any] = json.loads(line)
    return answer


def hung_up(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def test_it_takes_many_requests_on_one_connection(daemon: Daemon) -> None:
    with daemon.socket() as sock:
        say(sock, {"token": TOKEN}, {"op": "ping"}, {"op": "ping", "body": 3}, b"abc", {"op": "ping"})
        assert [hear(sock)["ok"] for _ in range(4)] == [True] * 4


@pytest.mark.parametrize(
    "first",
    [
        {"token": "wrong"},
        {"token": 1},
        {"token": "é"},
        {},
        {"op": "ping"},
        b"\n",
        b"[]\n",
        b"GET / HTTP/1.1\r\n",
        b"x" * 9000,
    ],
)
def test_it_refuses_a_stranger_in_one_line(daemon: Daemon, first: dict[str, Any] | bytes) -> None:
    with daemon.socket() as sock:
        say(sock, first)
        assert hear(sock)["ok"] is False
        assert hung_up(sock)


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"{\n",
        b"[]\n",
        b"nul\xff\n",
        b"[" * 100_000 + b"\n",
        b"9" * 10_000 + b"\n",
        b'{"body": -1}\n',
        b'{"body": 1e3}\n',
    ],
)
def test_it_hangs_up_on_nonsense_and_lives_on(daemon: Daemon, line: bytes) -> None:
    with daemon.socket() as sock:
        say(sock, {"token": TOKEN}, line)
        assert hear(sock)["ok"]
        assert hear(sock)["error"] == "malformed"
        assert hung_up(sock)
    with daemon.guest() as guest:
        guest.ping()


@pytest.mark.parametrize(
    "request_",
    [
        {"op": "no such"},
        {"op": ["exec"]},
        {"op": "exec"},
        {"op": "exec", "argv": "ls"},
        {"op": "exec", "argv": ["ls", 1]},
        {"op": "exec", "argv": ["ls"], "timeout": -1},
        {"op": "exec", "argv": ["ls"], "timeout": float("nan")},
        {"op": "exec", "argv": ["ls"], "timeout": 10**400},
        {"op": "exec", "argv": ["ls"], "output_limit": 1 << 60},
        {"op": "exec", "argv": ["ls"], "env": {"A=B": "c"}},
        {"op": "exec", "argv": ["ls"], "env": {"A": None}},
        {"op": "exec", "argv": ["ls"], "user": {}},
        {"op": "exec", "argv": ["ls"], "op_id": ""},
        {"op": "read", "path": "/etc/passwd", "offset": True},
        {"op": "write", "path": 1, "body": 0},
        {"op": "bash", "command": None},
        {"op": "rekey", "new_token": "short"},
    ],
)
def test_it_refuses_a_bad_request_and_goes_on(daemon: Daemon, request_: dict[str, Any]) -> None:
    with daemon.socket() as sock:
        say(sock, {"token": TOKEN}, request_, {"op": "ping"})
        hear(sock)
        assert hear(sock)["error"] == "bad_request"
        assert hear(sock)["ok"]


def test_it_reads_a_part_of_a_file(daemon: Daemon, guest: Guest) -> None:
    guest.write_file("parts", b"0123456789")
    with daemon.socket() as sock:
        say(sock, {"token": TOKEN}, {"op": "read", "path": "parts", "offset": 3, "limit": 4, "partial": True})
        hear(sock)
        assert hear(sock) == {"ok": True, "size": 10, "sizes": [4]}
        assert sock.recv(100) == b"3456"


def test_it_forgets_an_upload_that_broke_off(daemon: Daemon, guest: Guest) -> None:
    guest.write_file("broken/file", b"old")
    with daemon.socket() as sock:
        say(sock, {"token": TOKEN}, {"op": "write", "path": "broken/file", "body": 1000, "op_id": "broken"}, b"half")
        hear(sock)
        eventually(lambda: len(guest.list_dir("broken")) == 2)
    eventually(lambda: [entry.name for entry in guest.list_dir("broken")] == ["file"])
    assert guest.read_file("broken/file") == b"old"
    guest.write_file("broken/file", b"new", op_id="broken")
    assert guest.read_file("broken/file") == b"new"


def test_it_does_what_carries_an_id_only_once(guest: Guest) -> None:
    argv = ["sh", "-c", "echo x >> counted; wc -l < counted; exit 4"]
    answers = {guest.exec(argv, op_id="count", stdin=b"x" * 100_000) for _ in range(3)}
    assert [(answer.returncode, answer.stdout) for answer in answers] == [(4, b"1\n")]
    for _ in range(2):
        assert guest.bash("echo x >> said; wc -l < said", op_id="say").output == b"1\n"
    guest.write_file("written", b"1", op_id="write")
    guest.write_file("written", b"2")
    guest.write_file("written", b"1", op_id="write")
    assert guest.read_file("written") == b"2"


def test_it_does_it_once_also_for_those_who_ask_while_it_runs(daemon: Daemon) -> None:
    answers: list[bytes] = []

    def ask() -> None:
        with daemon.guest() as guest:
            script = "echo x >> meanwhile; sleep 0.3; wc -l < meanwhile"
            answers.append(guest.exec(["sh", "-c", script], op_id="meanwhile").stdout)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [b"1\n"] * 4


def test_it_finishes_what_was_asked_by_one_who_went_away(daemon: Daemon, guest: Guest) -> None:
    script = "echo x >> away; sleep 0.3; wc -l < away"
    with daemon.socket() as sock:
        say(sock, {"token": TOKEN}, {"op": "exec", "argv": ["sh", "-c", script], "op_id": "away"})
        hear(sock)
        eventually(lambda: (daemon.home / "away").exists())
    assert guest.exec(["sh", "-c", script], op_id="away").stdout == b"1\n"


def test_it_never_does_again_what_it_cannot_remember(own_daemon: Daemon) -> None:
    with own_daemon.guest() as guest:
        for number in range(5):
            guest.exec(["head", "-c", "9000000", "/dev/zero"], op_id=f"heavy {number}")
        with pytest.raises(Refused, match="no longer kept"):
            guest.exec(["head", "-c", "9000000", "/dev/zero"], op_id="heavy 0")
        assert len(guest.exec(["true"], op_id="heavy 4").stdout) == 9_000_000


def test_it_opens_to_the_new_token_only(own_daemon: Daemon) -> None:
    with own_daemon.guest() as old, own_daemon.guest() as guest, own_daemon.socket() as raw:
        old.ping()
        say(raw, {"token": TOKEN})
        hear(raw)
        guest.rekey("the new token of this machine")
        assert hung_up(raw)
        guest.ping()
        with pytest.raises(Refused, match="token"):
            old.ping()


def test_it_takes_no_token_from_one_whose_own_was_changed_meanwhile(own_daemon: Daemon, place: Path) -> None:
    """Whoever is first waits for a reader of the draft, and by then the other one has asked as well."""
    draft = place / f"run/token-{own_daemon.port}.new"
    os.mkfifo(draft)
    with own_daemon.socket() as one, own_daemon.socket() as other:
        both = {one: "the new token of one", other: "the new token of the other"}
        for sock in both:
            say(sock, {"token": TOKEN})
            hear(sock)
        for sock, token in both.items():
            say(sock, {"op": "rekey", "new_token": token})
        draft.read_text()
        (taken,) = [token for sock, token in both.items() if not hung_up(sock)]
    for token in both.values():
        with own_daemon.guest(token) as guest:
            assert pings(guest) == (token == taken)


def test_it_makes_room_for_those_who_know_the_token(own_daemon: Daemon) -> None:
    crowd = [own_daemon.socket() for _ in range(100)]
    with own_daemon.guest() as guest:
        guest.ping()
    for sock in crowd:
        sock.close()


def test_it_bounds_the_connections_of_those_who_know_the_token(own_daemon: Daemon) -> None:
    friends = [own_daemon.guest() for _ in range(64)]
    for friend in friends:
        friend.ping()
    with pytest.raises(Refused, match="too many"), own_daemon.guest() as one_more:
        one_more.ping()
    friends.pop().close()
    with own_daemon.guest() as one_more:
        eventually(lambda: pings(one_more))
    for friend in friends:
        friend.close()


def pings(guest: Guest) -> bool:
    try:
        guest.ping()
    except Refused:
        return False
    return True


def test_it_keeps_no_descriptors_and_no_processes(own_daemon: Daemon) -> None:
    def burden() -> tuple[int, int]:
        folder = Path(f"/proc/{own_daemon.process.pid}")
        children = (folder / f"task/{own_daemon.process.pid}/children").read_text().split()
        return len(list((folder / "fd").iterdir())), len(children)

    def work() -> None:
        with own_daemon.guest() as guest:
            guest.exec(["cat"], stdin=b"x")
            guest.exec(["sh", "-c", "exec >&- 2>&-; sleep 0.01 &"])
            guest.write_file("burden", b"x")
            guest.read_file("burden")
            guest.bash("exit", session="burden")
            guest.restart_bash("burden")

    for _ in range(3):
        work()
    before = burden()
    for _ in range(10):
        work()
    eventually(lambda: burden() <= before)
