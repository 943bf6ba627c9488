"""Between two who drive a display: what the first has sent is done before the second begins.

A display reads its connections side by side, so the last bytes of one may wait there while the first of another are
obeyed. Here both ends are waited for: the host's kernel says when a machine has all that was sent to it, and two fences
on a connection of our own, when the display has looked at all of its connections since.
"""

import socket
import struct
import time
from pathlib import Path
from struct import Struct, pack

from ..errors import Gone
from .decode import FENCE
from .handshake import shake
from .wire import TIMEOUT, Wire

PATIENCE = 2.0
_SET_ENCODINGS = pack("!BxHi", 2, 1, FENCE)
_REQUEST = 1 << 31
_FENCE = Struct("!xxxIB")
_LENGTH = Struct("!xxxi")
_ESTABLISHED = "01"


def wait_for_input(host: str, port: int) -> None:
    """Return once the display has processed whatever was sent to it before. Raises Gone, Refused."""
    deadline = time.monotonic() + PATIENCE
    while _is_on_its_way(host, port):
        if time.monotonic() > deadline:
            raise Gone("The machine does not take what was sent to its display.")
        time.sleep(0.001)
    wire = Wire.connect(host, port, ends=time.monotonic() + TIMEOUT)
    try:
        shake(wire)
        wire.send(_SET_ENCODINGS)
        _await_fence(wire)
        for number in range(2):
            wire.send(pack("!BxxxIBB", 248, _REQUEST, 1, number))
            _await_fence(wire)
    finally:
        wire.close()
        wire.release()


def _await_fence(wire: Wire) -> None:
    """The server's own, with which it says that it knows fences, or its answer to ours."""
    while (kind := wire.read(1)[0]) != 248:
        if kind == 3:
            wire.skip(abs(wire.unpack(_LENGTH)[0]))
        elif kind != 2:
            raise Gone(f"The screen sent a message of unknown type {kind}.")
    wire.skip(wire.unpack(_FENCE)[1])


def _is_on_its_way(host: str, port: int, table: Path = Path("/proc/net/tcp")) -> bool:
    far_end = f"{struct.unpack('=I', socket.inet_aton(host))[0]:08X}:{port:04X}"
    rows = (line.split() for line in table.read_text().splitlines()[1:])
    return any(row[2] == far_end and row[3] == _ESTABLISHED and not row[4].startswith("00000000") for row in rows)
