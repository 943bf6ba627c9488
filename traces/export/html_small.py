"""The same page with small pictures, but for the screens that matter."""

from typing import ClassVar

from .base import Size
from .html import FRAME, STEP_BYTES, HtmlExporter

THUMBNAIL = 6_000
KEY_SCREENS = 0.15


class SmallHtmlExporter(HtmlExporter):
    label: ClassVar[str] = "HTML page, small"
    about: ClassVar[str] = "Thumbnails, and full pictures of key screens only: failures, checks, people, forks, ends."
    icon: ClassVar[str] = "image"
    order: ClassVar[int] = 30
    small: ClassVar[bool] = True

    @classmethod
    def estimate(cls, size: Size) -> int:
        pictures = int(KEY_SCREENS * size.picture_bytes) + THUMBNAIL * size.pictures
        return FRAME + STEP_BYTES * size.steps + min(pictures, size.picture_bytes) * 4 // 3
