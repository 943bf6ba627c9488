"""How pictures are kept: without loss, and as small as that allows."""

import io

from PIL import Image

WEBP = "image/webp"
PNG = "image/png"


def compact(data: bytes, media_type: str) -> tuple[bytes, str]:
    """The bytes to keep, and their type. PNG becomes lossless WebP with the same pixels; others stay as they are."""
    if media_type != PNG:
        return data, media_type
    out = io.BytesIO()
    with Image.open(io.BytesIO(data), formats=["png"]) as picture:
        wanted = "RGBA" if picture.has_transparency_data else "RGB"
        picture.convert(wanted).save(out, "webp", lossless=True, exact=True, method=0)
    return out.getvalue(), WEBP
