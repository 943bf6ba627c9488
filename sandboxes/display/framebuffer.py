"""A copy of a remote screen, kept up to date rectangle by rectangle."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import Gone

Bytes = npt.NDArray[np.uint8]


class Rect(NamedTuple):
    x: int
    y: int
    width: int
    height: int

    @property
    def area(self) -> int:
        return self.width * self.height

    def holds(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height

    def contains(self, other: "Rect") -> bool:
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.x + other.width <= self.x + self.width
            and other.y + other.height <= self.y + self.height
        )


@dataclass(frozen=True)
class Change:
    """One update that made pixels differ, and the monotonic time at which it was complete."""

    version: int
    at: float
    rects: tuple[Rect, ...]

    @cached_property
    def area(self) -> int:
        return sum(rect.area for rect in self.rects)


@dataclass(frozen=True)
class Pointer:
    """The pointer's picture, (h, w, 4) with premultiplied alpha, and the pixel in it that points."""

    rgba: Bytes
    hot_x: int
    hot_y: int

    @classmethod
    def from_mask(cls, rgbx: Bytes, mask: Bytes, hot: tuple[int, int]) -> "Pointer":
        opaque = np.unpackbits(mask, axis=1, count=rgbx.shape[1]).astype(bool)
        rgba = np.where(opaque[..., None], rgbx, 0).astype(np.uint8)
        rgba[..., 3] = opaque * 255
        return cls(rgba, *hot)

    def draw(self, rgbx: Bytes, x: int, y: int) -> None:
        """Paint onto `rgbx` with the point at (x, y), cut off at the edges."""
        left, top = x - self.hot_x, y - self.hot_y
        height, width = rgbx.shape[:2]
        x0, y0 = max(left, 0), max(top, 0)
        x1, y1 = min(left + self.rgba.shape[1], width), min(top + self.rgba.shape[0], height)
        if x0 >= x1 or y0 >= y1:
            return
        source = self.rgba[y0 - top : y1 - top, x0 - left : x1 - left]
        target = rgbx[y0:y1, x0:x1, :3]
        behind = target.astype(np.uint16) * (255 - source[..., 3:].astype(np.uint16)) // 255
        target[...] = np.minimum(source[..., :3] + behind, 255)


class Framebuffer:
    """Not safe against other threads by itself: its owner locks."""

    pointer: Pointer | None = None
    position: tuple[int, int] | None = None

    def __init__(self, width: int, height: int) -> None:
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        self._words = np.zeros((height, width), np.uint32)
        self._scratch = np.empty(width * height * 4, np.uint8)

    @property
    def size(self) -> tuple[int, int]:
        height, width = self._words.shape
        return width, height

    def copy(self) -> Bytes:
        """(h, w, 4): red, green, blue and a byte without meaning."""
        width, height = self.size
        return self._words.copy().view(np.uint8).reshape(height, width, 4)

    def incoming(self, rect: Rect) -> memoryview:
        """Where to receive the raw pixels of `rect` before `put`."""
        self._check(rect)
        return self._scratch.data[: rect.width * rect.height * 4]

    def put(self, rect: Rect) -> bool:
        """Apply what `incoming` holds. True when that changed anything."""
        new = self._scratch[: rect.width * rect.height * 4].view(np.uint32).reshape(rect.height, rect.width)
        old = self._part(rect)
        if np.array_equal(old, new):
            return False
        old[...] = new
        return True

    def move(self, rect: Rect, from_x: int, from_y: int) -> None:
        source = rect._replace(x=from_x, y=from_y)
        self._check(rect)
        self._check(source)
        self._part(rect)[...] = self._part(source).copy()

    def _part(self, rect: Rect) -> npt.NDArray[np.uint32]:
        return self._words[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]

    def _check(self, rect: Rect) -> None:
        width, height = self.size
        if rect.x + rect.width > width or rect.y + rect.height > height:
            raise Gone("The screen drew outside itself.")
