"""Pointer events: what the buttons are told, and when."""

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from struct import pack

from ..actions import BadAction, Button
from .rfb import RfbClient
from .screen import describe

Point = tuple[int, int]

DRAG_STEPS = 16
REST = 0.15
"""A window manager looks at every press first, and meanwhile the display server holds later events back and places
them where the pointer is when they are let go. Nothing tells when that is, so nothing follows a button at once."""

_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 4, 5, 6, 7


class Mouse:
    def __init__(self, client: RfbClient) -> None:
        self._client = client
        self._held = 0
        self._rest_until = 0.0

    def place(self, x: int | None, y: int | None) -> Point:
        """Raises BadAction for a place outside the screen."""
        if x is None or y is None:
            return self.position()
        for field, value, size in zip("xy", (x, y), self._client.size, strict=True):
            if value >= size:
                raise BadAction(field, f"{value} is outside {describe(self._client.size)}.")
        return x, y

    def position(self) -> Point:
        """Where the pointer is now. A server that has never said has it in the middle."""
        self._client.refresh()
        width, height = self._client.size
        return self._client.position or (width // 2, height // 2)

    def rest(self) -> None:
        self._client.pause(self._rest_until - time.monotonic())

    def move(self, to: Point) -> None:
        self._send((to, self._held))

    def click(self, at: Point, button: int, count: int) -> None:
        up, down = self._held & ~self._mask(button), self._held | self._mask(button)
        self._send((at, self._held), *[(at, down), (at, up)] * count)
        self._held = up
        self._pressed()

    def wheel(self, at: Point, down: int, right: int) -> None:
        self.click(at, _WHEEL_DOWN if down > 0 else _WHEEL_UP, abs(down))
        self.click(at, _WHEEL_RIGHT if right > 0 else _WHEEL_LEFT, abs(right))

    def down(self, at: Point, button: int) -> None:
        mask = self._held | self._mask(button)
        self._send((at, self._held), (at, mask))
        self._held = mask
        self._pressed()

    def up(self, at: Point, button: int) -> None:
        mask = self._held & ~self._mask(button)
        self._send((at, self._held), (at, mask))
        self._held = mask
        self._pressed()

    def let_go(self) -> None:
        """The server forgets whose button it was when a connection ends, and leaves it down."""
        if self._held:
            self.rest()
            self._send((self.position(), 0))
            self._held = 0

    def drag(self, path: Sequence[Point], button: int) -> None:
        """In steps that the server has each processed, since programs want to see the pointer move."""
        self.down(path[0], button)
        self.rest()
        for point in _steps(path):
            self._send((point, self._held))
        self.up(path[-1], button)

    def arrived(self, at: Point) -> None:
        """What the server still had to tell of earlier places must not come after ours."""
        self._client.refresh()
        self._client.position = at

    def _pressed(self) -> None:
        self._rest_until = time.monotonic() + REST

    def _mask(self, button: int) -> int:
        if button > _WHEEL_RIGHT and not self._client.extra_buttons:
            raise BadAction("button", f"this screen's mouse has no button “{Button(button).name.lower()}”.")
        return 1 << (button - 1)

    def _send(self, *states: tuple[Point, int]) -> None:
        self._client.send(b"".join(_event(at, mask) for at, mask in states))


def _event(at: Point, mask: int) -> bytes:
    """The eighth bit says that one more byte follows, with the buttons from the eighth on."""
    if mask >> 7:
        return pack("!BBHHB", 5, 0x80 | mask & 0x7F, *at, mask >> 7)
    return pack("!BBHH", 5, mask, *at)


def _steps(path: Sequence[Point]) -> Iterator[Point]:
    each = max(1, DRAG_STEPS // max(1, len(path) - 1))
    for (x, y), (to_x, to_y) in pairwise(path):
        for step in range(1, each + 1):
            yield x + (to_x - x) * step // each, y + (to_y - y) * step // each
