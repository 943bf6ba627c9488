"""The picture before the first picture: what this film is about."""

from PIL import Image, ImageDraw

from .base import Facts
from .lettering import Font, fitted, font_for

NIGHT, WHITE, GREY = "#1d2125", "#f5f5f2", "#9aa0a6"
MOST_LINES = 4


def title_card(size: tuple[int, int], facts: Facts) -> Image.Image:
    width, height = size
    card = Image.new("RGB", size, NIGHT)
    pen = ImageDraw.Draw(card)
    large = font_for(facts.title, max(14, width // 34), weight=650)
    small = font_for(facts.title, max(10, width // 80), weight=450)
    lines = _wrapped(facts.title, large, width * 0.7)
    step = max(14, width // 34) * 1.35
    top = (height - step * (len(lines) + 1)) / 2
    for number, line in enumerate(lines):
        pen.text((width * 0.12, top + step * number), line, font=large, fill=WHITE)
    pen.text(
        (width * 0.12, top + step * (len(lines) + 0.35)),
        fitted(_about(facts), small, width * 0.7),
        font=small,
        fill=GREY,
    )
    return card


def _about(facts: Facts) -> str:
    who = [str(facts.meta.get(key) or "") for key in ("model", "image")]
    return " · ".join(filter(None, (*who, f"{facts.created_at:%-d %B %Y}", "GodHand")))


def _wrapped(text: str, font: Font, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], " ".join(lines[MOST_LINES - 1 :])]
    return [fitted(line, font, width) for line in lines]
