"""A kept connection to a VNC server, with the whole screen always at hand.

One thread reads and applies updates; everything else may be called from any thread. Nothing reconnects: once
the connection is dead, every call raises Gone.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from struct import Struct, pack
from typing import Self

from ..errors import Gone
from ..fence import Guard
from ..lifeline import NO_LIFELINE, Lifeline
from .decode import ENCODINGS, Decoder
from .framebuffer import Bytes, Change, Framebuffer
from .handshake import shake
from .wire import Wire

MAX_CUT_TEXT = 16 * 1024 * 1024
KEPT_CHANGES = 1024

_RED_FIRST = pack("!BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 0, 8, 16)
_SET_ENCODINGS = pack(f"!BxH{len(ENCODINGS)}i", 2, len(ENCODINGS), *ENCODINGS)
_COLOURS = Struct("!xHH")
_CUT_TEXT = Struct("!xxxi")
_FENCE = Struct("!xxxIB")
_FENCE_REQUEST = 1 << 31
_BLOCK_BEFORE = 1


class RfbClient:
    """`guard` has the last word on events, just before they leave."""

    def __init__(self, wire: Wire, guard: Guard = nullcontext) -> None:
        self._wire, self._guard = wire, guard
        server = shake(wire)
        self.name = server.name
        self._screen = Framebuffer(server.width, server.height)
        self._decoder = Decoder(wire, self._screen)
        self._state = threading.Condition()
        self._dead: Gone | None = None
        self._applying = False
        self._version = 0
        self._changes: deque[Change] = deque(maxlen=KEPT_CHANGES)
        self._fences = False
        self._asked = self._echoed = self._answered = 0
        self._handlers: dict[int, Callable[[], None]] = {
            0: self._update,
            1: self._colours,
            2: lambda: None,
            3: self._cut_text,
            248: self._fence,
        }
        wire.send(_RED_FIRST + _SET_ENCODINGS)
        self._thread = threading.Thread(target=self._read, name="rfb", daemon=True)
        self._thread.start()

    @classmethod
    def connect(cls, host: str, port: int, lifeline: Lifeline = NO_LIFELINE, guard: Guard = nullcontext) -> Self:
        """Return once the first whole frame is here. Raises Gone, Refused."""
        wire = Wire.connect(host, port, lifeline)
        try:
            client = cls(wire, guard)
        except BaseException:
            wire.release()
            raise
        client.refresh(whole=True)
        return client

    def close(self) -> None:
        self._die(Gone("The connection to the screen was closed."))
        self._thread.join(self._wire.timeout)

    @property
    def size(self) -> tuple[int, int]:
        return self._screen.size

    @property
    def version(self) -> int:
        """Grows with every update that made pixels differ."""
        return self._version

    @property
    def position(self) -> tuple[int, int] | None:
        """Where the pointer was at the last refresh.

        A server tells where others move it, with the next update and not at once; our own moves are set here,
        after a refresh that brings what it still had to tell.
        """
        return self._screen.position

    @position.setter
    def position(self, position: tuple[int, int]) -> None:
        self._screen.position = position

    @property
    def extra_buttons(self) -> bool:
        return self._decoder.extra_buttons

    def changes(self, since: int) -> list[Change]:
        """What changed after version `since`, oldest first, as far back as it is kept."""
        with self._state:
            return [change for change in self._changes if change.version > since]

    def wait_for_change(self, since: int, timeout: float) -> bool:
        with self._state:
            return self._wait(lambda: self._version > since, timeout)

    def pause(self, seconds: float) -> None:
        """Raises Gone as soon as the connection is dead."""
        with self._state:
            self._wait(lambda: False, seconds)

    def refresh(self, *, whole: bool = False) -> None:
        """Return once all that was drawn before this call is here; `whole` makes every pixel travel again.

        Only what is asked for unconditionally is sure to be answered, and an answer has nothing on it that was
        not asked for: so one pixel in any case, and the rest if it changed.
        """
        size = self.size
        request = _request(*size) if whole else _request(*size, if_changed=True) + _request(1, 1)
        asked = self._ask(b"", request)
        self._expect(lambda: self._answered >= asked)

    def send(self, events: bytes) -> None:
        """Pass events on and return once the server has processed them. Raises Taken; then none was sent."""
        if self._fences:
            with self._guard():
                asked = self._ask(events, b"")
            self._expect(lambda: self._echoed >= asked)
        else:
            with self._guard():
                self._wire.send(events)
            self.refresh()

    def pixels(self, *, pointer: bool = False) -> Bytes:
        """A copy of the screen as it was between two updates, never in the middle of one."""
        with self._state:
            self._expect(lambda: not self._applying)
            copy, shape, position = self._screen.copy(), self._screen.pointer, self._screen.position
        if pointer and shape and position:
            shape.draw(copy, *position)
        return copy

    def _ask(self, events: bytes, request: bytes) -> int:
        """The fence before the request tells the answer from an update that was on its way already."""
        with self._state:
            self._check()
            self._asked = asked = self._asked + 1
            if self._fences:
                events += pack("!BxxxIBQ", 248, _FENCE_REQUEST | _BLOCK_BEFORE, 8, asked)
            else:
                self._echoed = asked
        self._wire.send(events + request)
        return asked

    def _expect(self, met: Callable[[], bool]) -> None:
        with self._state:
            if not self._wait(met, self._wire.timeout):
                self._die(Gone(f"The screen did not answer within {self._wire.timeout:g} s."))
                self._check()

    def _wait(self, met: Callable[[], bool], timeout: float) -> bool:
        self._state.wait_for(lambda: met() or self._dead is not None, timeout)
        self._check()
        return met()

    def _check(self) -> None:
        if self._dead:
            raise Gone(str(self._dead))

    def _die(self, reason: Gone) -> None:
        with self._state:
            self._dead = self._dead or reason
            self._state.notify_all()
        self._wire.close()

    def _read(self) -> None:
        try:
            while True:
                self._wire.wait()
                kind = self._wire.read(1)[0]
                if kind not in self._handlers:
                    raise Gone(f"The screen sent a message of unknown type {kind}.")
                self._handlers[kind]()
        except Gone as gone:
            self._die(gone)
        finally:
            self._die(Gone("The connection to the screen broke."))
            self._wire.release()

    def _update(self) -> None:
        with self._state:
            self._applying = True
        update = self._decoder.update()
        self._wire.send(_request(*self.size, if_changed=True))
        with self._state:
            self._applying = False
            if update.changed:
                self._version += 1
                self._changes.append(Change(self._version, time.monotonic(), tuple(update.changed)))
            if update.holds(0, 0):
                self._answered = self._echoed
            self._state.notify_all()

    def _fence(self) -> None:
        flags, length = self._wire.unpack(_FENCE)
        payload = bytes(self._wire.read(length))
        if flags & _FENCE_REQUEST:
            self._fences = True
            self._wire.send(pack("!BxxxIB", 248, flags & _BLOCK_BEFORE, length) + payload)
        elif length == 8:
            with self._state:
                self._echoed = max(self._echoed, int.from_bytes(payload, "big"))
                self._state.notify_all()

    def _colours(self) -> None:
        _, count = self._wire.unpack(_COLOURS)
        self._wire.skip(6 * count)

    def _cut_text(self) -> None:
        length = abs(self._wire.unpack(_CUT_TEXT)[0])
        if length > MAX_CUT_TEXT:
            raise Gone(f"The screen sent a clipboard of {length} bytes.")
        self._wire.skip(length)


def _request(width: int, height: int, *, if_changed: bool = False) -> bytes:
    return pack("!BBHHHH", 3, if_changed, 0, 0, width, height)
