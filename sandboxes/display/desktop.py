"""What one sees of a machine and does to it."""

import time
from collections.abc import Callable, Iterator
from struct import pack
from typing import Self

from ..actions import Action, Button, Click, Drag, Key, Move, Scroll, Type
from .framebuffer import Change
from .keys import keysyms_of_chord, keysyms_of_text, on_us_keyboard
from .rfb import RfbClient
from .screen import Screen, describe

DRAG_STEPS = 16
MAX_CLICKS = 3
MAX_NOTCHES = 1000

REST = 0.05
"""A window manager looks at every press first, and meanwhile the display server holds later events back and places
them where the pointer is when they are let go. So the pointer stays for a moment after a button."""

TYPED_AT_ONCE = 64
RARE_AT_ONCE = 4
"""Symbols missing from the keyboard map borrow one of about twenty spare key codes, and a program looks the
code up when it reads the event: a code that is lent again before that types the later symbol."""
REACTION, STILL = 1.0, 0.1

_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 8, 16, 32, 64


class Desktop:
    """A kept connection to one screen. Every method raises Gone once the machine does not answer."""

    def __init__(self, client: RfbClient) -> None:
        self._client = client
        self._rest_until = 0.0

    @classmethod
    def connect(cls, host: str, port: int) -> Self:
        """Raises Gone when nothing answers, Refused when a password is asked for."""
        return cls(RfbClient.connect(host, port))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> tuple[int, int]:
        return self._client.size

    @property
    def version(self) -> int:
        """Grows with every update in which pixels changed."""
        return self._client.version

    @property
    def cursor(self) -> tuple[int, int] | None:
        """Where the pointer was at the last screenshot; None until somebody has moved it."""
        return self._client.position

    def screenshot(self, *, pointer: bool = False) -> Screen:
        """Everything drawn before the call is on it.

        TigerVNC paints the pointer in while somebody else moves it or nobody has; once this connection has
        moved it, it is on the picture only with `pointer`.
        """
        self._client.refresh()
        return self._screen(pointer)

    def changes(self, since_version: int) -> list[Change]:
        """Where and when pixels changed after that version, oldest first."""
        return self._client.changes(since_version)

    def wait_for_change(self, since_version: int, timeout: float) -> bool:
        """Whether the screen went past `since_version` in time."""
        return self._client.wait_for_change(since_version, timeout)

    def wait_until(self, predicate: Callable[[Screen], bool], timeout: float) -> Screen:
        """The first screen that satisfies `predicate`. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        self._client.refresh()
        while True:
            version = self.version
            screen = self._screen()
            if predicate(screen):
                return screen
            if not self.wait_for_change(version, deadline - time.monotonic()):
                raise TimeoutError(f"The screen did not become as expected within {timeout:g} s.")

    def perform(self, action: Action) -> None:
        """Return once the display server has processed the action; the programs behind it may need longer.

        Raises ValueError for places outside the screen, unknown keys and senseless counts, before anything
        is sent.
        """
        for events in self._events(action):
            self._client.send(events)
        match action:
            case Drag(to_x=x, to_y=y) | Move(x, y) | Click(x, y) | Scroll(x, y):
                self._client.refresh()
                self._client.position = x, y

    def _screen(self, pointer: bool = False) -> Screen:
        return Screen(self._client.pixels(pointer=pointer), self._client.position)

    def _events(self, action: Action) -> Iterator[bytes]:
        match action:
            case Move(x, y):
                there = self._point(x, y)
                self._rest()
                yield there
            case Click(x, y, button, count):
                yield from self._buttons(self._click(x, y, _mask(button), _counted(count, MAX_CLICKS)))
            case Drag(x, y, to_x, to_y, button):
                yield from self._drag((x, y), (to_x, to_y), _mask(button))
            case Scroll(x, y, down, right):
                vertical = _WHEEL_DOWN if down > 0 else _WHEEL_UP
                horizontal = _WHEEL_RIGHT if right > 0 else _WHEEL_LEFT
                yield from self._buttons(
                    self._click(x, y, vertical, _counted(abs(down), MAX_NOTCHES, least=0))
                    + self._click(x, y, horizontal, _counted(abs(right), MAX_NOTCHES, least=0))
                )
            case Type(text):
                yield from self._type(keysyms_of_text(text))
            case Key(chord):
                keysyms = keysyms_of_chord(chord)
                yield b"".join(_key(keysym, True) for keysym in keysyms)
                yield b"".join(_key(keysym, False) for keysym in reversed(keysyms))

    def _type(self, keysyms: list[int]) -> Iterator[bytes]:
        """Around rare symbols, wait for programs to catch up, as far as the screen can tell."""
        patience = REACTION
        for piece in _pieces(keysyms):
            rare = not all(map(on_us_keyboard, piece))
            if rare:
                self._wait_for_stillness()
            version = self.version
            yield b"".join(_key(keysym, True) + _key(keysym, False) for keysym in piece)
            if rare and not self.wait_for_change(version, patience):
                patience = STILL

    def _wait_for_stillness(self) -> None:
        deadline = time.monotonic() + REACTION
        while time.monotonic() < deadline and self.wait_for_change(self.version, STILL):
            pass

    def _point(self, x: int, y: int, mask: int = 0) -> bytes:
        width, height = self.size
        if not (0 <= x < width and 0 <= y < height):
            raise ValueError(f"The point {x}, {y} is outside {describe(self.size)}.")
        return pack("!BBHH", 5, mask, x, y)

    def _click(self, x: int, y: int, mask: int, count: int) -> bytes:
        there = self._point(x, y)
        return there + (self._point(x, y, mask) + there) * count

    def _buttons(self, *events: bytes) -> Iterator[bytes]:
        self._rest()
        yield from events
        self._rest_until = time.monotonic() + REST

    def _rest(self) -> None:
        time.sleep(max(0.0, self._rest_until - time.monotonic()))

    def _drag(self, start: tuple[int, int], end: tuple[int, int], mask: int) -> Iterator[bytes]:
        """In steps that the server has each processed, since programs want to see the pointer move."""
        (x, y), (to_x, to_y) = start, end
        path = [
            self._point(x + (to_x - x) * step // DRAG_STEPS, y + (to_y - y) * step // DRAG_STEPS, mask)
            for step in range(DRAG_STEPS + 1)
        ]
        yield from self._buttons(self._point(*start) + path[0])
        yield from self._buttons(*path[1:], self._point(*end))


def _mask(button: Button) -> int:
    return 1 << (Button(button) - 1)


def _counted(count: int, most: int, least: int = 1) -> int:
    if not least <= count <= most:
        raise ValueError(f"{count} is not a count between {least} and {most}.")
    return count


def _key(keysym: int, down: bool) -> bytes:
    return pack("!BBxxI", 4, down, keysym)


def _pieces(keysyms: list[int]) -> Iterator[list[int]]:
    piece: list[int] = []
    rare: set[int] = set()
    for keysym in keysyms:
        if not on_us_keyboard(keysym):
            rare.add(keysym)
        if len(piece) == TYPED_AT_ONCE or len(rare) > RARE_AT_ONCE:
            yield piece
            piece, rare = [], rare & {keysym}
        piece.append(keysym)
    if piece:
        yield piece
