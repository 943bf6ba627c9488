"""How pictures are kept: without loss, and as small as that allows."""

import io
import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

from PIL import Image, ImageDraw

WEBP = "image/webp"
PNG = "image/png"
JPEG = "image/jpeg"
FORMATS = {WEBP: "webp", PNG: "png", JPEG: "jpeg"}
MOST_PIXELS = 1 << 24

INK = (24, 26, 28)

Corners = tuple[int, int, int, int]
"""x, y, width and height."""


class Masked(NamedTuple):
    """A picture to keep, and how many secrets were hidden in it."""

    data: bytes
    media_type: str
    hidden: int = 0


Mask = Callable[[bytes, str], Masked]
"""Takes a picture and its type. Bytes in which nothing was hidden come back as they are."""


def burn(picture: Image.Image, boxes: Iterable[Corners], media_type: str = WEBP) -> tuple[bytes, str]:
    """A new picture in whose pixels nothing is left of what was in the boxes: PNG stays PNG, all else becomes WebP."""
    clean = picture.convert("RGB")
    pen = ImageDraw.Draw(clean)
    for x, y, width, height in boxes:
        pen.rectangle((x, y, x + width - 1, y + height - 1), fill=INK)
    out = io.BytesIO()
    if media_type == PNG:
        clean.save(out, "png", compress_level=1)
        return out.getvalue(), PNG
    clean.save(out, "webp", lossless=True, exact=True, method=0)
    return out.getvalue(), WEBP


def compact(data: bytes, media_type: str) -> tuple[bytes, str]:
    """The bytes to keep, and their type. PNG becomes lossless WebP with the same pixels; others stay as they are."""
    if media_type != PNG:
        return data, media_type
    out = io.BytesIO()
    with Image.open(io.BytesIO(data), formats=["png"]) as picture:
        wanted = "RGBA" if picture.has_transparency_data else "RGB"
        picture.convert(wanted).save(out, "webp", lossless=True, exact=True, method=0)
    return out.getvalue(), WEBP


def measure(data: bytes, media_type: str) -> tuple[int, int]:
    """Width and height of what is the picture that its type says, and can be decoded. Raises ValueError."""
    try:
        with Image.open(io.BytesIO(data), formats=[FORMATS[media_type]]) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"has more than {MOST_PIXELS >> 20} million pixels")
            picture.load()
            return picture.width, picture.height
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError(f"has more than {MOST_PIXELS >> 20} million pixels") from None
    except (OSError, SyntaxError, EOFError, struct.error):
        raise ValueError(f"is no {FORMATS[media_type].upper()} that can be read") from None
