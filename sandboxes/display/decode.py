"""From the bytes of an update to pixels. The server is not trusted: every size is checked before use."""

from dataclasses import dataclass, field
from struct import Struct

import numpy as np

from ..errors import Gone
from .framebuffer import Bytes, Framebuffer, Pointer, Rect
from .handshake import checked_size
from .tight import TightReader
from .wire import Wire

RAW, COPY_RECT, TIGHT = 0, 1, 7
QUICK_COMPRESSION = -254
"""Level 2. At a lower one TigerVNC no longer looks which pixels differ, and a clock's tick is told as a whole panel."""
CURSOR, ALPHA_CURSOR, POINTER_POSITION = -239, -314, 0x574D5666
DESKTOP_SIZE, LAST_RECT, FENCE = -223, -224, -312
EXTRA_BUTTONS = -316
LED_STATE = -261
"""Asked for only because TigerVNC presses Caps Lock before capital letters of clients that do not know it."""
ENCODINGS = (
    COPY_RECT,
    TIGHT,
    RAW,
    QUICK_COMPRESSION,
    ALPHA_CURSOR,
    CURSOR,
    POINTER_POSITION,
    DESKTOP_SIZE,
    FENCE,
    LED_STATE,
    EXTRA_BUTTONS,
)
"""Without LAST_RECT, though it is understood: TigerVNC would search each update for areas of one colour."""

MAX_CURSOR_SIDE = 512
MAX_REDRAWS = 4
"""How often one update may paint the whole screen over."""

_COUNT = Struct("!xH")
_RECT = Struct("!HHHHi")
_POINT = Struct("!HH")
_ENCODING = Struct("!i")


@dataclass
class Update:
    """What one update painted, and which of that made pixels differ."""

    painted: list[Rect] = field(default_factory=list)
    changed: list[Rect] = field(default_factory=list)

    def holds(self, x: int, y: int) -> bool:
        return any(rect.holds(x, y) for rect in self.painted)


class Decoder:
    extra_buttons = False
    """Whether the server takes more than seven mouse buttons."""

    def __init__(self, wire: Wire, screen: Framebuffer) -> None:
        self._wire = wire
        self._screen = screen
        self._tight = TightReader(wire)

    def update(self) -> Update:
        """Read one update, after its type byte, and apply it."""
        update = Update()
        width, height = self._screen.size
        budget = MAX_REDRAWS * width * height
        (count,) = self._wire.unpack(_COUNT)
        for _ in range(count):
            x, y, w, h, encoding = self._wire.unpack(_RECT)
            rect = Rect(x, y, w, h)
            if encoding == LAST_RECT:
                break
            if encoding in (RAW, COPY_RECT, TIGHT):
                budget -= w * h
                if budget < 0:
                    raise Gone("The screen paints itself over and over in one update.")
                self._paint(rect, encoding, update)
            else:
                self._pseudo(rect, encoding, update)
        return update

    def _paint(self, rect: Rect, encoding: int, update: Update) -> None:
        update.painted.append(rect)
        if encoding == COPY_RECT:
            self._screen.move(rect, *self._wire.unpack(_POINT))
            update.changed.append(rect)
            return
        incoming = self._screen.incoming(rect)
        if encoding == TIGHT:
            self._tight.read_into(rect, incoming)
        else:
            self._wire.read_into(incoming)
        if self._screen.put(rect):
            update.changed.append(rect)

    def _pseudo(self, rect: Rect, encoding: int, update: Update) -> None:
        if encoding == POINTER_POSITION:
            self._screen.position = rect.x, rect.y
        elif encoding in (CURSOR, ALPHA_CURSOR):
            self._screen.pointer = self._cursor(rect, encoding)
        elif encoding == EXTRA_BUTTONS:
            self.extra_buttons = True
        elif encoding == LED_STATE:
            self._wire.skip(1)
        elif encoding == DESKTOP_SIZE:
            self._screen.resize(*checked_size(rect.width, rect.height))
            update.changed.append(Rect(0, 0, rect.width, rect.height))
        else:
            raise Gone(f"The screen used encoding {encoding}, which was not asked for.")

    def _cursor(self, rect: Rect, encoding: int) -> Pointer | None:
        """For cursors, the rectangle's place is the hot spot."""
        if rect.width > MAX_CURSOR_SIDE or rect.height > MAX_CURSOR_SIDE:
            raise Gone(f"The screen's cursor claims to be {rect.width}×{rect.height}.")
        if encoding == ALPHA_CURSOR and self._wire.unpack(_ENCODING)[0] != RAW:
            raise Gone("The screen's cursor is not raw pixels.")
        pixels = self._bytes(rect.height, rect.width * 4).reshape(rect.height, rect.width, 4)
        if encoding == ALPHA_CURSOR:
            shape = Pointer(pixels, rect.x, rect.y)
        else:
            mask = self._bytes(rect.height, (rect.width + 7) // 8)
            shape = Pointer.from_mask(pixels, mask, (rect.x, rect.y))
        return shape if pixels.size else None

    def _bytes(self, rows: int, columns: int) -> Bytes:
        received = np.empty((rows, columns), np.uint8)
        if received.size:
            self._wire.read_into(received.data.cast("B"))
        return received
