"""Text in pictures, in the type of the pages."""

from functools import cache
from pathlib import Path

from PIL import ImageFont

VENDOR = Path(__file__).parents[2] / "static/vendor"
SANS = VENDOR / "inter-5.3.0/inter-latin-wght-normal.woff2"
MONO = VENDOR / "jetbrains-mono-5.3.0/jetbrains-mono-latin-wght-normal.woff2"
WORLD = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
"""Comes with ffmpeg on Debian, and knows more scripts."""

PUNCTUATION = "–—‘’“”„…•€−×·"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def font_for(text: str, size: int, *, mono: bool = False, weight: int = 500) -> Font:
    if any(ord(letter) > 0xFF and letter not in PUNCTUATION for letter in text) and WORLD.exists():
        return _font(WORLD, size, 0)
    return _font(MONO if mono else SANS, size, weight)


def fitted(text: str, font: Font, width: float) -> str:
    """As much of a line as there is room for."""
    line = " ".join(text.split())
    if font.getlength(line) <= width:
        return line
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if font.getlength(f"{line[:middle]}…") <= width else (low, middle - 1)
    return f"{line[:low].rstrip()}…"


@cache
def _font(path: Path, size: int, weight: int) -> Font:
    try:
        font = ImageFont.truetype(path, size)
        if weight:
            font.set_variation_by_axes([weight])
        return font
    except OSError:
        return ImageFont.load_default(size)
