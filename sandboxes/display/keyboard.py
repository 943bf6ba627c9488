"""Key events: text at the speed at which programs read it, and chords."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from struct import pack

from .keys import MODIFIERS, keysyms_of_chord, keysyms_of_text, on_us_keyboard
from .rfb import RfbClient

TYPED_AT_ONCE = 64
RARE_AT_ONCE = 4
"""Symbols missing from the keyboard map borrow one of about twenty spare key codes, and a program looks the
code up when it reads the event: a code that is lent again before that types the later symbol."""
REACTION, STILL = 1.0, 0.1
REPEAT_AFTER, REPEAT_EVERY = 0.5, 0.04


class Keyboard:
    def __init__(self, client: RfbClient) -> None:
        self._client = client

    def press(self, chord: str, repeat: int = 1) -> None:
        for _ in range(repeat):
            with self.holding(chord):
                pass

    @contextmanager
    def holding(self, chord: str) -> Iterator[None]:
        keysyms = keysyms_of_chord(chord) if chord else []
        try:
            self._send(keysyms, down=True)
            yield
        finally:
            self._send(keysyms[::-1], down=False)

    def hold(self, chord: str, seconds: float) -> None:
        """TigerVNC leaves repeating to its clients, so this one repeats the last key as a keyboard would."""
        last = keysyms_of_chord(chord)[-1]
        until = time.monotonic() + seconds
        with self.holding(chord):
            self._client.pause(min(seconds, REPEAT_AFTER))
            while (left := until - time.monotonic()) > 0:
                if last not in MODIFIERS:
                    self._send([last], down=True)
                self._client.pause(min(left, REPEAT_EVERY))

    def type(self, text: str) -> None:
        """Around rare symbols, wait for programs to catch up, as far as the screen can tell."""
        patience = REACTION
        for piece in _pieces(keysyms_of_text(text)):
            rare = not all(map(on_us_keyboard, piece))
            if rare:
                self._wait_for_stillness()
            version = self._client.version
            self._client.send(b"".join(_key(keysym, True) + _key(keysym, False) for keysym in piece))
            if rare and not self._client.wait_for_change(version, patience):
                patience = STILL

    def _wait_for_stillness(self) -> None:
        deadline = time.monotonic() + REACTION
        while time.monotonic() < deadline and self._client.wait_for_change(self._client.version, STILL):
            pass

    def _send(self, keysyms: list[int], *, down: bool) -> None:
        if keysyms:
            self._client.send(b"".join(_key(keysym, down) for keysym in keysyms))


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
