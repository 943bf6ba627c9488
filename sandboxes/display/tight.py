"""Tight rectangles without loss: one colour, a palette or plain pixels, mostly deflated.

A whole screen travels in a thirtieth of its bytes. The server's processor is quick at that, and its network is not.
"""

import zlib

import numpy as np
import numpy.typing as npt

from ..errors import Gone
from .framebuffer import Bytes, Rect
from .wire import Wire

STREAMS = 4
SMALLEST_DEFLATED = 12
_FILL, _EXPLICIT_FILTER = 8, 4
_COPY, _PALETTE = 0, 1

Words = npt.NDArray[np.uint32]


class TightReader:
    """Of one connection: each of the four streams goes on from rectangle to rectangle until the server resets it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._streams = [zlib.decompressobj() for _ in range(STREAMS)]

    def read_into(self, rect: Rect, target: memoryview) -> None:
        """The pixels of `rect`, four bytes each. Raises Gone."""
        pixels = np.frombuffer(target, np.uint32).reshape(rect.height, rect.width)
        control = self._byte()
        for number in range(STREAMS):
            if control >> number & 1:
                self._streams[number] = zlib.decompressobj()
        kind = control >> 4
        if kind == _FILL:
            pixels[...] = self._colours(1)[0]
        elif kind < _FILL:
            self._basic(kind, pixels)
        else:
            raise Gone(f"The screen used Tight compression {kind}, which was not asked for.")

    def _basic(self, kind: int, pixels: Words) -> None:
        stream = kind % STREAMS
        chosen = self._byte() if kind & _EXPLICIT_FILTER else _COPY
        if chosen == _PALETTE:
            self._indexed(stream, pixels)
        elif chosen == _COPY:
            _widen(self._data(stream, pixels.size * 3), pixels)
        else:
            raise Gone(f"The screen used Tight filter {chosen}, which was not asked for.")

    def _indexed(self, stream: int, pixels: Words) -> None:
        colours = self._colours(self._byte() + 1)
        height, width = pixels.shape
        if len(colours) <= 2:
            packed = self._data(stream, (width + 7) // 8 * height).reshape(height, -1)
            indices = np.unpackbits(packed, axis=1, count=width)
        else:
            indices = self._data(stream, pixels.size).reshape(height, width)
        if pixels.size and int(indices.max()) >= len(colours):
            raise Gone("The screen used a colour that it had not named.")
        np.take(colours, indices, out=pixels)

    def _colours(self, count: int) -> Words:
        colours = np.zeros(count, np.uint32)
        _widen(np.frombuffer(bytes(self._wire.read(3 * count)), np.uint8), colours)
        return colours

    def _data(self, stream: int, size: int) -> Bytes:
        if size < SMALLEST_DEFLATED:
            return np.frombuffer(bytes(self._wire.read(size)), np.uint8)
        deflated = bytearray(self._length())
        self._wire.read_into(memoryview(deflated))
        try:
            # One byte more than is wanted: the end of a deflated block is behind the last of them.
            plain = self._streams[stream].decompress(deflated, size + 1)
        except zlib.error as error:
            raise Gone("The screen sent pixels that do not inflate.") from error
        if len(plain) != size:
            raise Gone("The screen sent another number of pixels than it said.")
        return np.frombuffer(plain, np.uint8)

    def _byte(self) -> int:
        return self._wire.read(1)[0]

    def _length(self) -> int:
        """Seven bits, seven more, and eight."""
        length, shift = 0, 0
        while True:
            byte = self._byte()
            length |= (byte if shift == 14 else byte & 0x7F) << shift
            if shift == 14 or not byte & 0x80:
                return length
            shift += 7


def _widen(rgb: Bytes, pixels: Words) -> None:
    wide = pixels.view(np.uint8).reshape(-1, 4)
    wide[:, :3] = rgb.reshape(-1, 3)
    wide[:, 3] = 0
