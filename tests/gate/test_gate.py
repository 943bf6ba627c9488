import json
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from struct import pack

import pytest
from redis import Redis
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from godhand_web.gate import origin_allowed
from sandboxes.actions import Move, Type
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.gate.handler import ADMITTED_WITHIN
from tests.display.conftest import EventLog
from tests.ports import free_port

from .conftest import Browser, RunningGate, wait_until

StartGate = Callable[..., RunningGate]
KEYS = r"(KeyPress|KeyRelease) event.*?keysym 0x\w+, (\w+)\)"


def pointer(machine: GvisorSandbox) -> tuple[int, int]:
    words = machine.exec(["xdotool", "getmouselocation"]).stdout.decode().split()
    return int(words[0].removeprefix("x:")), int(words[1].removeprefix("y:"))


def refusal(gate: RunningGate, ticket: str, machine: str = "m1") -> int:
    """The close code of a connection that must not carry a single byte."""
    client = gate.connect(ticket, machine=machine)
    with pytest.raises(ConnectionClosed) as closed:
        client.recv(timeout=30)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def input_events(x: int, y: int) -> bytes:
    key = pack("!BBxxI", 4, 1, ord("q")) + pack("!BBxxI", 4, 0, ord("q"))
    return pack("!BBHH", 5, 0, x, y) + key + pack("!BBHIII", 255, 0, 1, ord("q"), 16, 0)[:12]


def test_it_shows_the_machine_to_a_viewer(gate: RunningGate) -> None:
    browser = Browser(gate.connect(gate.ticket("view")))
    browser.round_trip()
    assert browser.size == (1280, 800)


def test_it_moves_nothing_and_types_nothing_for_a_viewer(
    gate: RunningGate, machine: GvisorSandbox, desktop: Desktop, event_log: EventLog
) -> None:
    desktop.perform(Move(640, 400))
    browser = Browser(gate.connect(gate.ticket("view")))
    browser.send(input_events(33, 44))
    for byte in input_events(55, 66):
        browser.send(bytes([byte]))
    browser.round_trip()
    assert pointer(machine) == (640, 400)
    desktop.perform(Type("x"))
    wait_until(lambda: event_log(KEYS)[-1:] == ["KeyRelease x"])
    assert event_log(KEYS) == ["KeyPress x", "KeyRelease x"]


def test_it_moves_the_pointer_for_a_driver(gate: RunningGate, machine: GvisorSandbox) -> None:
    gate.give("user:7")
    browser = Browser(gate.connect(gate.ticket("drive")))
    browser.send(pack("!BBHH", 5, 0, 123, 234))
    browser.round_trip()
    assert pointer(machine) == (123, 234)


def test_it_takes_a_ticket_once(gate: RunningGate) -> None:
    ticket = gate.ticket()
    Browser(gate.connect(ticket))
    assert refusal(gate, ticket) == 4401


def test_it_refuses_an_expired_ticket(gate: RunningGate) -> None:
    ticket = gate.ticket()
    with Redis.from_url(gate.redis_url) as redis:
        for key in redis.scan_iter("gate:ticket:*"):
            redis.pexpire(key, 1)
        wait_until(lambda: not list(redis.scan_iter("gate:ticket:*")))
    assert refusal(gate, ticket) == 4401


def test_it_refuses_a_ticket_for_another_machine(gate: RunningGate) -> None:
    assert refusal(gate, gate.ticket(machine="m2")) == 4401


def test_it_refuses_whom_the_web_layer_refuses(gate: RunningGate) -> None:
    assert refusal(gate, gate.ticket(user="8")) == 4401
    assert '"session": "abc"' in gate.cookies.read_text()


@pytest.mark.parametrize("odd", ['foo={"a":1}', "x=é", "foo", "a b=1", "", "session"])
def test_it_reads_its_cookie_beside_odd_ones_of_other_programs(gate: RunningGate, odd: str) -> None:
    gate.cookies.unlink(missing_ok=True)
    Browser(gate.connect(gate.ticket(), cookie=f"{odd}; session=abc; {odd}"))
    assert json.loads(gate.cookies.read_text())["session"] == "abc"


def test_it_does_not_touch_the_machine_for_a_bad_ticket(start_gate: StartGate) -> None:
    nobody_listens = start_gate("127.0.0.1", free_port())
    assert refusal(nobody_listens, "made-up") == 4401
    assert refusal(nobody_listens, nobody_listens.ticket()) == 4404


@pytest.mark.parametrize("origin", [None, "null", "http://evil.test", "http://desktop.test.evil.test"])
def test_it_refuses_foreign_pages_before_the_upgrade(gate: RunningGate, origin: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused:
        gate.connect(gate.ticket(), origin=origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("origin", ["http://localhost:99999", "http://[", "http://localhost:abc", "http://a b", "//"])
def test_it_answers_a_page_whose_origin_is_none(origin: str) -> None:
    assert not origin_allowed(origin)


def test_it_waits_for_nobody_who_only_goes_on_asking(gate: RunningGate) -> None:
    """A byte now and then keeps no place."""
    with socket.create_connection(("127.0.0.1", gate.port), timeout=1) as slow:
        slow.sendall(b"GET /vnc/m1 HTTP/1.1\r\nX: ")
        wait_until(gate.children)
        wait_until(lambda: not sends(slow), ADMITTED_WITHIN + 20)


def sends(sock: socket.socket) -> bool:
    """For one second; False once the other side has ended the connection."""
    try:
        sock.sendall(b"x")
        return sock.recv(1) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


def test_it_lets_people_in_after_many_who_left_in_the_door(gate: RunningGate) -> None:
    """Nobody is locked out of a desktop for what other viewers did, least of all its agent."""
    for _ in range(12):
        gate.connect(gate.ticket("view")).close()
    for _ in range(12):
        with socket.create_connection(gate.display, timeout=5) as early:
            assert early.recv(12).startswith(b"RFB ")
    Browser(gate.connect(gate.ticket("view")))
    with Desktop.connect(*gate.display) as desktop:
        assert not desktop.screenshot().blank


def test_it_ends_a_connection_that_does_not_speak_rfb(gate: RunningGate) -> None:
    browser = Browser(gate.connect(gate.ticket("drive")))
    browser.send(b"\x63" + bytes(5000))
    with pytest.raises(ConnectionClosed) as closed:
        browser.client.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4400


def test_it_says_who_came_and_never_the_ticket(gate: RunningGate) -> None:
    ticket = gate.ticket("drive")
    Browser(gate.connect(ticket))
    refusal(gate, ticket)
    log = gate.log.read_text()
    assert "user 7, machine m1, drive" in log
    assert ticket not in log


def test_it_turns_away_whoever_is_too_many(start_gate: StartGate, machine: GvisorSandbox) -> None:
    gate = start_gate(machine.endpoint().host, machine.endpoint().vnc_port, most=1)
    first = Browser(gate.connect(gate.ticket()))
    with pytest.raises((InvalidHandshake, ConnectionClosed, ConnectionError)):
        gate.connect(gate.ticket())
    first.client.close()
    wait_until(lambda: not gate.children())
    Browser(gate.connect(gate.ticket()))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_leaves_no_process_behind(own_gate: RunningGate, how: signal.Signals) -> None:
    for _ in range(3):
        Browser(own_gate.connect(own_gate.ticket()))
    wait_until(lambda: len(own_gate.children()) == 3)
    children = own_gate.children()
    os.kill(own_gate.process.pid, how)
    own_gate.process.wait(10)
    wait_until(lambda: not [pid for pid in children if Path(f"/proc/{pid}").exists()])


def test_it_stops_reading_from_the_machine_when_the_viewer_does(start_gate: StartGate) -> None:
    with socket.create_server(("127.0.0.1", 0)) as endless:
        gate = start_gate("127.0.0.1", endless.getsockname()[1])
        gate.connect(gate.ticket())
        machine, _ = endless.accept()
        with machine:
            machine.settimeout(1)
            with pytest.raises(TimeoutError):
                machine.sendall(bytes(200_000_000))
            assert resident(gate.children()[0]) < 100_000_000


def test_it_ends_a_connection_whose_frame_never_ends(gate: RunningGate) -> None:
    browser = Browser(gate.connect(gate.ticket()))
    with suppress(ConnectionClosed):
        browser.send(bytes(30_000_000))
    wait_until(lambda: not gate.children())


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
