"""What was done to a screen, drawn on it: in black and white, so that it is seen on every background."""

from collections.abc import Sequence
from functools import cache
from math import atan2, cos, pi, sin

from PIL import Image, ImageDraw

from .lettering import fitted, font_for

RADIUS = 18
SMOOTH = 4
"""Drawn so many times larger first: Pillow's own lines have steps."""

BLACK, WHITE, AMBER = (0, 0, 0, 255), (255, 255, 255, 255), (224, 160, 48, 255)

Point = tuple[int, int]


def ring(picture: Image.Image, at: Point) -> None:
    """Where a click went."""
    mark = _ring()
    picture.paste(mark, (at[0] - mark.width // 2, at[1] - mark.height // 2), mark)


def path_of_drag(picture: Image.Image, points: Sequence[Point]) -> None:
    """From a ring along a line to an arrow's tip."""
    overlay = Image.new("RGBA", (picture.width * 2, picture.height * 2))
    pen = ImageDraw.Draw(overlay)
    doubled = [(2 * x, 2 * y) for x, y in points]
    for colour, width in ((BLACK, 14), (WHITE, 8)):
        pen.line(doubled, fill=colour, width=width, joint="curve")
        pen.polygon(_arrow(doubled[-2], doubled[-1], 30 if colour == BLACK else 22), fill=colour)
    smooth = overlay.resize(picture.size, Image.Resampling.LANCZOS)
    picture.paste(smooth, (0, 0), smooth)
    ring(picture, points[0])


def badge(picture: Image.Image, text: str) -> None:
    """What was typed or pressed, near the lower edge."""
    size = max(13, picture.width // 56)
    font = font_for(text, size, mono=True, weight=600)
    line = fitted(text, font, picture.width * 0.7)
    width, height = round(font.getlength(line)) + 2 * size, size * 2
    left, top = (picture.width - width) // 2, picture.height - height - size * 2
    pen = ImageDraw.Draw(picture)
    pen.rounded_rectangle((left - 2, top - 2, left + width + 2, top + height + 2), size // 2 + 2, fill="white")
    pen.rounded_rectangle((left, top, left + width, top + height), size // 2, fill="#16191c")
    pen.text((left + size, top + height / 2), line, font=font, fill="#f5f5f2", anchor="lm")


def box(picture: Image.Image, corners: tuple[int, int, int, int], colour: str, name: str) -> None:
    """What a check looked at: left, top, right and bottom."""
    left, top, right, bottom = corners
    if left >= right or top >= bottom:
        return
    pen = ImageDraw.Draw(picture)
    pen.rectangle((left - 3, top - 3, right + 2, bottom + 2), outline="black")
    pen.rectangle((left - 2, top - 2, right + 1, bottom + 1), outline=colour, width=2)
    size = max(11, picture.width // 90)
    font = font_for(name, size, weight=600)
    line = fitted(name, font, picture.width * 0.3)
    label = top - size - 9 if top > size + 12 else bottom + 3
    pen.rectangle((left - 3, label, left + font.getlength(line) + 7, label + size + 6), fill=colour)
    pen.text((left + 2, label + size / 2 + 3), line, font=font, fill="white", anchor="lm")


def _arrow(start: Point, tip: Point, length: int) -> list[tuple[float, float]]:
    angle = atan2(tip[1] - start[1], tip[0] - start[0])
    sides = [(tip[0] - length * cos(angle + turn), tip[1] - length * sin(angle + turn)) for turn in (pi / 6, -pi / 6)]
    ahead = (tip[0] + length * cos(angle) / 3, tip[1] + length * sin(angle) / 3)
    return [ahead, *sides]


@cache
def _ring() -> Image.Image:
    outer = RADIUS + 4
    side = (2 * outer + 1) * SMOOTH
    mark = Image.new("RGBA", (side, side))
    pen = ImageDraw.Draw(mark)
    middle = side / 2
    for radius, colour, width in ((outer, BLACK, 3), (outer - 3, WHITE, 4), (outer - 7, BLACK, 2)):
        reach = radius * SMOOTH
        corners = (middle - reach, middle - reach, middle + reach, middle + reach)
        pen.ellipse(corners, outline=colour, width=width * SMOOTH)
    for radius, colour in ((4, BLACK), (3, AMBER)):
        reach = radius * SMOOTH
        pen.ellipse((middle - reach, middle - reach, middle + reach, middle + reach), fill=colour)
    return mark.resize((2 * outer + 1, 2 * outer + 1), Image.Resampling.LANCZOS)
