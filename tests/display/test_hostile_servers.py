"""The client against servers that do not follow the protocol: always Gone, soon, and in bounded memory."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandboxes.display import barrier
from sandboxes.display.desktop import Desktop
from sandboxes.display.rfb import RfbClient
from sandboxes.errors import Gone, Refused

from .servers import ACCEPT, LITTLE, client_of, hello, init, rect, update

NEVER = 2**31
"""A version that no script here comes to."""


def assert_every_call_raises_gone(client: RfbClient) -> None:
    with pytest.raises(Gone):
        client.wait_for_change(NEVER, 5)
    for call in (client.refresh, client.pixels, lambda: client.send(b"")):
        with pytest.raises(Gone):
            call()


@pytest.mark.parametrize(
    "script",
    [
        b"HTTP/1.1 400",
        b"RFB 003.00",
        b"RFB 003.008\n" + ACCEPT + init(0, 600),
        b"RFB 003.008\n" + ACCEPT + init(8193, 600),
        b"RFB 003.008\n" + ACCEPT + pack("!HH16xI", 4, 3, 2**31),
        b"RFB 003.008\n" + ACCEPT + init()[:-1],
        b"",
    ],
)
def test_it_is_gone_when_the_greeting_is_nonsense(script: bytes) -> None:
    with pytest.raises(Gone), client_of(script, hang_up=True):
        pass


@pytest.mark.parametrize(
    "script",
    [
        b"RFB 003.003\n" + pack("!I", 2),
        b"RFB 003.003\n" + pack("!II", 0, 4) + b"busy",
        b"RFB 003.008\n\x01\x02",
        b"RFB 003.008\n\x00" + pack("!I", 4) + b"busy",
        b"RFB 003.008\n\x01\x01" + pack("!II", 1, 4) + b"busy",
    ],
)
def test_it_is_refused_by_a_server_with_a_lock(script: bytes) -> None:
    with pytest.raises(Refused), client_of(script):
        pass


@pytest.mark.parametrize(
    "message",
    [
        b"\x63",
        update(rect(3, 0, 2, 1, 0)),
        update(rect(0, 0, 2, 1, 1, pack("!HH", 3, 0))),
        update(rect(0, 0, 1, 1, 16)),
        update(rect(0, 0, 0, 5, -223)),
        update(rect(0, 0, 65535, 65535, -223)),
        update(rect(0, 0, 9999, 9999, -239)),
        update(rect(0, 0, 1, 1, -314, pack("!i", 7))),
        update(*[rect(0, 0, 4, 3, 1, bytes(4))] * 5),
        pack("!Bxxxi", 3, 2**31 - 1),
        pack("!Bxxxi", 3, -(2**31)),
    ],
)
def test_it_is_gone_after_a_message_that_makes_no_sense(message: bytes) -> None:
    with client_of(hello() + message) as (client, _):
        assert_every_call_raises_gone(client)


def test_it_is_gone_when_the_server_hangs_up() -> None:
    with client_of(hello(), hang_up=True) as (client, _):
        assert_every_call_raises_gone(client)


def test_it_is_gone_when_the_server_stops_in_the_middle() -> None:
    with client_of(hello() + update(rect(0, 0, 4, 3, 0, b"half")), patience=LITTLE) as (client, _):
        assert_every_call_raises_gone(client)


def test_it_is_gone_when_the_server_never_answers() -> None:
    with client_of(hello(), patience=LITTLE) as (client, _):
        with pytest.raises(Gone, match="did not answer"):
            client.refresh()
        assert_every_call_raises_gone(client)


def test_it_is_gone_when_nothing_listens() -> None:
    with pytest.raises(Gone, match=r"127\.0\.0\.1:1"):
        Desktop.connect("127.0.0.1", 1)


def test_it_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    with client_of(hello()):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=400))
def test_it_survives_any_bytes(noise: bytes) -> None:
    with client_of(hello() + noise, hang_up=True) as (client, _):
        assert_every_call_raises_gone(client)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.builds(
            rect,
            *[st.integers(0, 6)] * 4,
            st.sampled_from([0, 1, 7, -239, -314, -223, -224, -261, 0x574D5666]),
            st.binary(max_size=64),
        ),
        max_size=6,
    )
)
def test_it_survives_any_rectangles(rects: list[bytes]) -> None:
    with client_of(hello() + update(*rects), hang_up=True) as (client, _):
        assert_every_call_raises_gone(client)


def test_it_waits_for_no_display_that_rings_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(barrier, "TIMEOUT", LITTLE)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        ringing = pool.submit(ring, server)
        with pytest.raises(Gone, match="did not come to an end"):
            barrier.wait_for_input(*server.getsockname())
        ringing.result()


def ring(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.sendall(hello())
        while True:
            connection.sendall(b"\x02")
            time.sleep(0.01)
