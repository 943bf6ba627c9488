"""One picture of a desktop."""

import io
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from PIL import Image

from .framebuffer import Bytes, Rect

Box = Rect
Format = Literal["jpeg", "png", "webp", "webp-lossless"]

MAX_SIDE = 8192

_OPTIONS: dict[Format, dict[str, Any]] = {
    "jpeg": {},
    "png": {"compress_level": 1},
    "webp": {"method": 0},
    "webp-lossless": {"lossless": True, "method": 0},
}


@dataclass(frozen=True, eq=False)
class Screen:
    """`rgbx` is (h, w, 4): red, green, blue and a byte without meaning, as it came from the display.

    `cursor` is where the pointer was, or None when the server has not said.
    """

    rgbx: Bytes
    cursor: tuple[int, int] | None = None

    @classmethod
    def from_rgb(cls, pixels: Bytes, cursor: tuple[int, int] | None = None) -> Self:
        return cls(np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)]), cursor)

    @property
    def pixels(self) -> Bytes:
        """(h, w, 3), red first: a view, not a copy."""
        return self.rgbx[..., :3]

    @property
    def size(self) -> tuple[int, int]:
        height, width = self.rgbx.shape[:2]
        return width, height

    @property
    def blank(self) -> bool:
        """Whether nothing has been drawn yet but, perhaps, a pointer: a coarse grid of points has one colour."""
        return bool(np.ptp(self.pixels[20::40, 20::40], axis=(0, 1)).max() == 0)

    def crop(self, x: int, y: int, width: int, height: int) -> "Screen":
        """Raises ValueError for a box that is empty or not wholly on the screen."""
        if not (0 <= x < x + width <= self.size[0] and 0 <= y < y + height <= self.size[1]):
            raise ValueError(f"The box {width}×{height} at {x}, {y} does not fit on {describe(self.size)}.")
        inside = self.cursor and 0 <= self.cursor[0] - x < width and 0 <= self.cursor[1] - y < height
        cursor = (self.cursor[0] - x, self.cursor[1] - y) if self.cursor and inside else None
        return Screen(np.ascontiguousarray(self.rgbx[y : y + height, x : x + width]), cursor)

    def zoom(self, box: Box, size: tuple[int, int]) -> "Screen":
        """A part from native pixels, as large as fits into `size` without being stretched. Raises ValueError."""
        return self.crop(*box)._scaled(min(size[0] / box.width, size[1] / box.height))

    def thumbnail(self, width: int) -> "Screen":
        """Never larger than the screen itself. Raises ValueError."""
        return self._scaled(min(1.0, width / self.size[0]))

    def image(self) -> Image.Image:
        """Shares memory with this screen: Pillow keeps four bytes for a pixel too."""
        return Image.frombuffer("RGBX", self.size, self.rgbx, "raw", "RGBX", 0, 1)

    def encode(self, format: Format = "jpeg", *, quality: int = 80) -> bytes:  # noqa: A002
        """`quality` is 1 to 100 and means nothing to the formats that lose nothing."""
        picture = self.image() if format == "jpeg" else self.image().convert("RGB")
        options = _OPTIONS[format] | ({} if "lossless" in format else {"quality": quality})
        out = io.BytesIO()
        picture.save(out, format.partition("-")[0], **options)
        return out.getvalue()

    def _scaled(self, scale: float) -> "Screen":
        width, height = (max(1, round(side * scale)) for side in self.size)
        if scale <= 0 or max(width, height) > MAX_SIDE:
            raise ValueError(f"{describe(self.size).capitalize()} cannot be shown at {scale:g} times its size.")
        scaled = self.image().resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3)
        cursor = (int(self.cursor[0] * scale), int(self.cursor[1] * scale)) if self.cursor else None
        return Screen(np.asarray(scaled), cursor)


def describe(size: tuple[int, int]) -> str:
    return f"a screen of {size[0]}×{size[1]} pixels"
