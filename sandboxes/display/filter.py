"""What of a VNC client's bytes may reach a machine.

| type | message | length | view | drive |
|---|---|---|---|---|
| – | version, security type, (VNC response), ClientInit | 12, 1, (16), 1 | pass, shared | pass, shared |
| 0 | SetPixelFormat | 20 | pass | pass |
| 2 | SetEncodings | 4 + 4n | pass | pass |
| 3 | FramebufferUpdateRequest | 10 | pass | pass |
| 4 | KeyEvent | 8 | drop | pass |
| 5 | PointerEvent | 6, or 7 with mask bit 7 | drop | pass |
| 6 | ClientCutText | 8 + abs(len) | drop | pass if the clipboard is allowed |
| 150 | EnableContinuousUpdates | 10 | pass | pass |
| 248 | ClientFence | 9 + len | pass | pass |
| 250 | xvp | 4 | drop | drop |
| 251 | SetDesktopSize | 8 + 16n | drop | drop |
| 255/0 | QEMU extended key | 12 | drop | pass |

Anything else ends the connection. A message is judged once it is whole, by the role of that moment, and passes
or is dropped whole. The server must take messages apart exactly as the filter does, so the one whose length
depends on what client and server agreed on, the extended PointerEvent, is taken out of the agreement.
"""

import struct
from collections.abc import Callable
from typing import Literal

Role = Literal["view", "drive"]

MAX_ENCODINGS = 256
MAX_CUT_TEXT = 1024 * 1024

_EXTENDED_BUTTONS = -316
_SECURITY_NONE, _SECURITY_VNC = 1, 2
_LENGTHS = {0: 20, 3: 10, 4: 8, 150: 10, 250: 4}
_HARMLESS = {0, 2, 3, 150, 248}
_NEVER = {250, 251}


class Forbidden(Exception):
    """The client spoke something that is not on the list. `code` is the WebSocket close code for it."""

    code = 4400


class ClientFilter:
    """`pressed` are the keys and the buttons that went down through it and have not come up."""

    def __init__(self, role: Role | Callable[[], Role], *, clipboard: bool = True) -> None:
        self._role = role if callable(role) else lambda: role
        self._clipboard = clipboard
        self._pending = bytearray()
        self._take: Callable[[memoryview], int] = self._version
        self._out = bytearray()
        self.pressed: set[int | str] = set()

    def feed(self, data: bytes) -> bytes:
        """What may pass now. Raises Forbidden, after which the connection must end."""
        self._pending += data
        start = 0
        with memoryview(self._pending) as view:
            while taken := self._take(view[start:]):
                start += taken
        del self._pending[:start]
        passed, self._out = bytes(self._out), bytearray()
        return passed

    # Each step looks at the bytes that wait and says how many it used up: 0 means that more must come first.

    def _version(self, data: memoryview) -> int:
        if len(data) < 12:
            return 0
        if bytes(data[:12]) not in (b"RFB 003.007\n", b"RFB 003.008\n"):
            raise Forbidden("The client does not speak RFB 3.7 or 3.8.")
        self._take = self._security
        return self._pass(data[:12])

    def _security(self, data: memoryview) -> int:
        if not data:
            return 0
        if data[0] not in (_SECURITY_NONE, _SECURITY_VNC):
            raise Forbidden(f"The client chose security type {data[0]}.")
        self._take = self._client_init if data[0] == _SECURITY_NONE else self._response
        return self._pass(data[:1])

    def _response(self, data: memoryview) -> int:
        if len(data) < 16:
            return 0
        self._take = self._client_init
        return self._pass(data[:16])

    def _client_init(self, data: memoryview) -> int:
        if not data:
            return 0
        self._take = self._message
        self._out += b"\x01"
        return 1

    def _message(self, data: memoryview) -> int:
        length = _length(data)
        if not length or len(data) < length:
            return 0
        message = data[:length]
        if self._allowed(message[0]):
            self._out += _normal(message)
            self._note_pressed(message)
        return length

    def _allowed(self, kind: int) -> bool:
        if kind in _HARMLESS:
            return True
        if kind in _NEVER or (kind == 6 and not self._clipboard):
            return False
        return self._role() == "drive"

    def _note_pressed(self, message: memoryview) -> None:
        what: int | str = "buttons"
        if message[0] == 4:
            down, what = struct.unpack_from("!B2xI", message, 1)
        elif message[0] == 5:
            down = message[1] & 0x7F
        elif message[0] == 255:
            down, what = struct.unpack_from("!HI", message, 2)
        else:
            return
        (self.pressed.add if down else self.pressed.discard)(what)

    def _pass(self, data: memoryview) -> int:
        self._out += data
        return len(data)


def _length(data: memoryview) -> int:
    """Of the message that begins here, or 0 while too little of it is there to know."""
    if not data:
        return 0
    kind = data[0]
    if kind in _LENGTHS:
        return _LENGTHS[kind]
    if kind not in _VARIABLE:
        raise Forbidden(f"The client sent a message of unknown type {kind}.")
    needed, measure = _VARIABLE[kind]
    return measure(data) if len(data) >= needed else 0


def _encodings_length(data: memoryview) -> int:
    (count,) = struct.unpack_from("!H", data, 2)
    if count > MAX_ENCODINGS:
        raise Forbidden(f"The client lists {count} encodings.")
    return 4 + 4 * int(count)


def _cut_text_length(data: memoryview) -> int:
    size = abs(int(struct.unpack_from("!i", data, 4)[0]))
    if size > MAX_CUT_TEXT:
        raise Forbidden(f"The client sent a clipboard of {size} bytes.")
    return 8 + size


def _qemu_length(data: memoryview) -> int:
    if data[1] != 0:
        raise Forbidden(f"The client sent a QEMU message of unknown type {data[1]}.")
    return 12


_VARIABLE: dict[int, tuple[int, Callable[[memoryview], int]]] = {
    2: (4, _encodings_length),
    5: (2, lambda data: 7 if data[1] & 0x80 else 6),
    6: (8, _cut_text_length),
    248: (9, lambda data: 9 + data[8]),
    251: (8, lambda data: 8 + 16 * data[6]),
    255: (2, _qemu_length),
}


def _normal(message: memoryview) -> bytes:
    if message[0] == 5:
        return bytes([5, message[1] & 0x7F]) + bytes(message[2:6])
    if message[0] == 2:
        codes = struct.unpack_from(f"!{(len(message) - 4) // 4}i", message, 4)
        kept = [code for code in codes if code != _EXTENDED_BUTTONS]
        return struct.pack(f"!BxH{len(kept)}i", 2, len(kept), *kept)
    return bytes(message)
