"""How an RFB connection begins: version, security, the server's size and name."""

import re
from struct import Struct
from typing import NamedTuple

from ..errors import Gone, Refused
from .wire import Wire

MAX_SIDE = 8192
MAX_TEXT = 4096

_U32 = Struct("!I")
_SERVER_INIT = Struct("!HH16xI")
_NONE = 1


class ServerInit(NamedTuple):
    width: int
    height: int
    name: str


def shake(wire: Wire) -> ServerInit:
    """Up to the first ordinary message. Raises Refused when a password is wanted, Gone for nonsense."""
    version = _version(bytes(wire.read(12)))
    wire.send(b"RFB 003.%03d\n" % version)
    if version == 3:
        _accept_security(wire.unpack(_U32)[0], wire)
    else:
        _choose_security(wire, version)
    wire.send(b"\x01")
    width, height, name_length = wire.unpack(_SERVER_INIT)
    return ServerInit(*checked_size(width, height), _text(wire, name_length))


def checked_size(width: int, height: int) -> tuple[int, int]:
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise Gone(f"The screen claims to be {width}×{height}.")
    return width, height


def _version(greeting: bytes) -> int:
    match = re.fullmatch(rb"RFB (\d{3})\.(\d{3})\n", greeting)
    if not match:
        raise Gone("What answers there is not a VNC server.")
    major, minor = int(match[1]), int(match[2])
    if (major, minor) >= (3, 8):
        return 8
    return 7 if (major, minor) == (3, 7) else 3


def _choose_security(wire: Wire, version: int) -> None:
    offered = bytes(wire.read(wire.read(1)[0]))
    if not offered:
        raise Refused(f"The screen refused us: {_reason(wire)}")
    if _NONE not in offered:
        raise Refused("The screen asks for a password.")
    wire.send(bytes([_NONE]))
    if version == 8 and wire.unpack(_U32)[0] != 0:
        raise Refused(f"The screen refused us: {_reason(wire)}")


def _accept_security(kind: int, wire: Wire) -> None:
    if kind == 0:
        raise Refused(f"The screen refused us: {_reason(wire)}")
    if kind != _NONE:
        raise Refused("The screen asks for a password.")


def _reason(wire: Wire) -> str:
    return _text(wire, wire.unpack(_U32)[0])


def _text(wire: Wire, length: int) -> str:
    if length > MAX_TEXT:
        raise Gone(f"The screen sent a text of {length} bytes where a name belongs.")
    return bytes(wire.read(length)).decode("utf-8", "replace")
