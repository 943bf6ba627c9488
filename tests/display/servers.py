"""VNC servers that say exactly what a test wants, over a socket pair."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from struct import pack

from sandboxes.display.rfb import RfbClient
from sandboxes.display.wire import Wire

PATIENCE = 10
LITTLE = 0.3
ACCEPT = b"\x01\x01" + bytes(4)


def init(width: int = 4, height: int = 3, name: bytes = b"screen") -> bytes:
    return pack("!HH16xI", width, height, len(name)) + name


def hello(width: int = 4, height: int = 3) -> bytes:
    return b"RFB 003.008\n" + ACCEPT + init(width, height)


def update(*rects: bytes, count: int | None = None) -> bytes:
    return pack("!BxH", 0, len(rects) if count is None else count) + b"".join(rects)


def rect(x: int, y: int, width: int, height: int, encoding: int, body: bytes = b"") -> bytes:
    return pack("!HHHHi", x, y, width, height, encoding) + body


@contextmanager
def client_of(
    script: bytes, *, hang_up: bool = False, patience: float = PATIENCE
) -> Iterator[tuple[RfbClient, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(script)
        if hang_up:
            theirs.shutdown(socket.SHUT_WR)
        client = RfbClient(Wire(ours, patience))
        try:
            yield client, theirs
        finally:
            client.close()
