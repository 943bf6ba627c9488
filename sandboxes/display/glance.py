"""A screen at a glance: one connection that is kept, and asked only when somebody wants to look.

Between two looks the server sends nothing, so a desktop that plays a film costs no more than one that stands still.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct, pack
from typing import Self

import numpy as np

from ..errors import Gone
from ..lifeline import NO_LIFELINE, Lifeline
from .decode import COPY_RECT, DESKTOP_SIZE, RAW, Decoder
from .framebuffer import Framebuffer, Rect
from .handshake import shake
from .screen import Screen
from .wire import Wire

PATIENCE = 2.0
LONGEST = 5.0
"""Seconds that a look may take altogether, however busily the server sends."""

MAX_PIXELS = 3840 * 2160
MAX_CUT_TEXT = 16 * 1024 * 1024
MAX_MESSAGES = 200
"""How many messages a server may send before it answers."""

_RED_FIRST = pack("!BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 0, 8, 16)
_ENCODINGS = (COPY_RECT, RAW, DESKTOP_SIZE)
_SET_ENCODINGS = pack(f"!BxH{len(_ENCODINGS)}i", 2, len(_ENCODINGS), *_ENCODINGS)
_COLOURS = Struct("!xHH")
_CUT_TEXT = Struct("!xxxi")


class _Frame(Framebuffer):
    """Keeps no room for pixels that are not on their way: there is one of these for every desktop of a wall."""

    def resize(self, width: int, height: int) -> None:
        if width * height > MAX_PIXELS:
            raise Gone(f"The screen of {width}×{height} is too large for a glance.")
        super().resize(width, height)

    def incoming(self, rect: Rect) -> memoryview:
        self._check(rect)
        self._scratch = np.empty(rect.width * rect.height * 4, np.uint8)
        return self._scratch.data


class Glance:
    """Not for several threads. Every method raises Gone once the screen does not answer, and then it is of no use."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        server = shake(wire)
        self._frame = _Frame(server.width, server.height)
        self._decoder = Decoder(wire, self._frame)
        self._whole = True
        self._changed = self._answered = False
        self._handlers: dict[int, Callable[[], None]] = {
            0: self._update,
            1: self._colours,
            2: lambda: None,
            3: self._cut_text,
        }
        wire.send(_RED_FIRST + _SET_ENCODINGS)

    @classmethod
    def connect(cls, host: str, port: int, lifeline: Lifeline = NO_LIFELINE) -> Self:
        """Raises Gone, Refused. Closes the lifeline in any case."""
        wire = Wire.connect(host, port, lifeline)
        wire.timeout = PATIENCE
        try:
            with _hurried(wire):
                return cls(wire)
        except BaseException:
            wire.release()
            raise

    @property
    def port(self) -> int:
        """Ours, by which the host's kernel tells this connection from others."""
        return self._wire.port

    def look(self) -> bool:
        """Take in what was drawn since the last time; whether anything was.

        Only what is asked for unconditionally is sure to be answered: so one pixel in any case, the rest if it changed.
        """
        with _hurried(self._wire):
            self._changed = False
            self._read_leftovers()
            self._ask()
        return self._changed

    def _read_leftovers(self) -> None:
        for _ in range(MAX_MESSAGES):
            if not self._wire.ready(0):
                return
            self._read()

    def _ask(self) -> None:
        self._answered = False
        size = self._frame.size
        self._wire.send(_request(*size) if self._whole else _request(*size, if_changed=True) + _request(1, 1))
        for _ in range(MAX_MESSAGES):
            if self._answered:
                break
            if not self._wire.ready(PATIENCE):
                raise Gone(f"The screen did not answer within {PATIENCE:g} s.")
            self._read()
        self._whole = False

    def screen(self) -> Screen:
        """As it was at the last look."""
        return Screen(self._frame.copy())

    def close(self) -> None:
        self._wire.close()
        self._wire.release()

    def _read(self) -> None:
        kind = self._wire.read(1)[0]
        if kind not in self._handlers:
            raise Gone(f"The screen sent a message of unknown type {kind}.")
        self._handlers[kind]()

    def _update(self) -> None:
        update = self._decoder.update()
        self._changed |= bool(update.changed)
        self._answered |= update.holds(0, 0)

    def _colours(self) -> None:
        _, count = self._wire.unpack(_COLOURS)
        self._wire.skip(6 * count)

    def _cut_text(self) -> None:
        length = abs(self._wire.unpack(_CUT_TEXT)[0])
        if length > MAX_CUT_TEXT:
            raise Gone(f"The screen sent a clipboard of {length} bytes.")
        self._wire.skip(length)


@contextmanager
def _hurried(wire: Wire) -> Iterator[None]:
    """Whoever sends a byte now and then, and never ends, is cut off."""
    timer = threading.Timer(LONGEST, wire.close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _request(width: int, height: int, *, if_changed: bool = False) -> bytes:
    return pack("!BBHHHH", 3, if_changed, 0, 0, width, height)
