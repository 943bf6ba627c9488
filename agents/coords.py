"""The one place where a model's coordinates become pixels of the screen, and back.

A screen is shown to a model in a frame: a picture of a size that its service takes as it is. The model names points
of the frame, in the frame's pixels or in parts of its sides; a point means the middle of its pixel.
"""

import io
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from PIL.Image import Image, Resampling

from sandboxes.display.screen import Box, Screen

from .errors import BadCall
from .turns import Picture

_LOSSLESS: dict[str, dict[str, Any]] = {
    "image/webp": {"lossless": True, "method": 0},
    "image/png": {"compress_level": 1},
}


class Space(Enum):
    """How a model counts: pixels of the frame, or that many equal parts of each side."""

    PIXELS = 0
    THOUSAND = 1000
    """From 0 to 999."""
    PER_MILLE = 1001
    """From 0 to 1000, both ends included."""


@dataclass(frozen=True)
class PictureLimits:
    """`patch` and `max_patches`: a picture costs a token for each square of that side, and may not cost more.

    `multiple`: both sides must be whole multiples of it.
    """

    long_edge: int
    max_pixels: int = 1 << 30
    patch: int = 1
    max_patches: int = 1 << 30
    multiple: int = 1
    media_type: str = "image/webp"

    def allow(self, width: int, height: int) -> bool:
        patches = math.ceil(width / self.patch) * math.ceil(height / self.patch)
        return (
            max(width, height) <= self.long_edge and width * height <= self.max_pixels and patches <= self.max_patches
        )


@dataclass(frozen=True)
class Frame:
    """`screen` and `size` are width and height: of the desktop, and of the picture that the model sees."""

    screen: tuple[int, int]
    size: tuple[int, int]
    space: Space = Space.PIXELS
    media_type: str = "image/webp"

    @classmethod
    def fit(cls, screen: tuple[int, int], limits: PictureLimits, space: Space = Space.PIXELS) -> "Frame":
        """The largest frame with the screen's shape that the limits allow; never larger than the screen."""
        size = _rounded(screen, limits.multiple)
        for width in range(min(screen[0], limits.long_edge), 0, -1):
            size = _rounded((width, max(1, round(screen[1] * width / screen[0]))), limits.multiple)
            if limits.allow(*size):
                break
        return cls(screen, size, space, limits.media_type)

    def to_pixels(self, x: float, y: float) -> tuple[int, int]:
        """Raises BadCall for what is no point of the frame."""
        return self._pixel(x, 0, "x"), self._pixel(y, 1, "y")

    def to_model(self, x: int, y: int) -> tuple[int, int]:
        """The model's name of a pixel of the screen."""
        return self._named(x, 0), self._named(y, 1)

    def box_to_pixels(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """The part of the screen between two corners of the frame. Raises BadCall when it is empty."""
        (left, top), (right, bottom) = ((self._edge(x, 0), self._edge(y, 1)) for x, y in ((x0, y0), (x1, y1)))
        if right <= left or bottom <= top:
            raise BadCall(f"The region {x0:g}, {y0:g} to {x1:g}, {y1:g} is empty.")
        return Box(left, top, right - left, bottom - top)

    def picture(self, screen: Screen) -> Picture:
        """As the model sees the screen."""
        image = screen.image().convert("RGB")
        if image.size != self.size:
            image = image.resize(self.size, Resampling.LANCZOS)
        return self.encode(image)

    def encode(self, image: Image) -> Picture:
        """Without loss: small text is what a model reads."""
        out = io.BytesIO()
        image.save(out, self.media_type.partition("/")[2], **_LOSSLESS[self.media_type])
        return Picture(out.getvalue(), self.media_type, *image.size)

    def _parts(self, axis: int) -> int:
        return self.size[axis] if self.space is Space.PIXELS else self.space.value

    def _most(self, axis: int) -> int:
        return self._parts(axis) - 1

    def _pixel(self, value: float, axis: int, name: str) -> int:
        whole = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not whole or not 0 <= value <= self._most(axis):
            raise BadCall(f"{name} must be a number from 0 to {self._most(axis)}, and was {value!r}.")
        if self.space is Space.PER_MILLE:
            return round(value / 1000 * (self.screen[axis] - 1))
        return min(self.screen[axis] - 1, int((value + 0.5) * self.screen[axis] / self._parts(axis)))

    def _named(self, pixel: int, axis: int) -> int:
        if self.space is Space.PER_MILLE:
            return round(pixel * 1000 / (self.screen[axis] - 1))
        return min(self._most(axis), int((pixel + 0.5) * self._parts(axis) / self.screen[axis]))

    def _edge(self, value: float, axis: int) -> int:
        whole = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not whole or not 0 <= value <= self._parts(axis):
            raise BadCall(f"A corner must be from 0 to {self._parts(axis)}, and was {value!r}.")
        parts = 1000 if self.space is Space.PER_MILLE else self._parts(axis)
        return min(self.screen[axis], round(value * self.screen[axis] / parts))


def _rounded(size: tuple[int, int], multiple: int) -> tuple[int, int]:
    width, height = (max(multiple, side // multiple * multiple) for side in size)
    return width, height
