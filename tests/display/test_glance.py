"""A real desktop at a glance: one connection, pixels only when asked for."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.glance import Glance
from sandboxes.display.wire import Wire
from sandboxes.errors import Gone
from sandboxes.idle import connected_addresses

from .conftest import end, start, wait_until
from .servers import LITTLE, hello, rect, update

GREEN = (0x12, 0xAB, 0x34)


@pytest.fixture
def glance(machine: GvisorSandbox) -> Iterator[Glance]:
    endpoint = machine.endpoint()
    glance = Glance.connect(endpoint.host, endpoint.vnc_port, machine.lifeline())
    yield glance
    glance.close()


def greens(glance: Glance) -> int:
    glance.look()
    return int((glance.screen().pixels == GREEN).all(axis=2).sum())


def test_it_sees_the_whole_desktop_and_then_what_changed(machine: GvisorSandbox, glance: Glance) -> None:
    assert glance.look()
    with machine.desktop() as desktop:
        assert glance.screen().size == desktop.size
        assert np.mean(glance.screen().pixels == desktop.screenshot().pixels) > 0.95
    assert greens(glance) == 0
    start(machine, "xmessage -bg '#12ab34' -geometry 300x200+100+100 hello")
    try:
        wait_until(lambda: greens(glance) > 10_000)
    finally:
        end(machine, "xmessage")
    wait_until(lambda: greens(glance) == 0)
    wait_until(lambda: not glance.look())


def test_it_tells_its_connection_from_others(machine: GvisorSandbox, glance: Glance) -> None:
    address = machine.endpoint().host
    assert address in connected_addresses()
    assert address not in connected_addresses(besides={glance.port})


@pytest.mark.parametrize(
    "script",
    [
        hello(8000, 8000),
        hello() + b"\x63",
        hello() + update(rect(0, 0, 8000, 8000, -223)),
        hello() + update(rect(0, 0, 9, 9, 0, bytes(324))),
        hello() + b"\x03" + b"\x00" * 3 + b"\x7f\xff\xff\xff",
        hello() + b"\x02" * 300,
    ],
)
def test_it_is_gone_when_a_server_talks_nonsense(script: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(script)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(Gone):
            Glance(Wire(ours, LITTLE)).look()


def test_it_cuts_a_server_off_that_never_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandboxes.display.glance.LONGEST", 0.5)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(hello())
        glance = Glance(Wire(ours))
        drip = threading.Thread(target=send_slowly, args=(theirs, update(rect(0, 0, 4, 3, 0, bytes(48)))))
        drip.start()
        with pytest.raises(Gone):
            glance.look()
        drip.join()


def send_slowly(server: socket.socket, content: bytes) -> None:
    with suppress(OSError):
        for byte in content:
            server.sendall(bytes([byte]))
            time.sleep(0.1)
        server.shutdown(socket.SHUT_RDWR)


def test_it_says_so_when_nothing_answers() -> None:
    with pytest.raises(Gone):
        Glance.connect("127.0.0.1", 9)
