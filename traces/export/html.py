"""One file that shows the trace in any browser, from a disk, without a network."""

from pathlib import Path
from typing import ClassVar

from ..errors import NotPossible
from .base import Exporter, Material, Progress, Size

LARGE = 25 << 20
FRAME = 600_000
STEP_BYTES = 2_500


class HtmlExporter(Exporter):
    label: ClassVar[str] = "HTML page"
    about: ClassVar[str] = "The page of the trace in one file: opens from a disk in any browser, without a network."
    icon: ClassVar[str] = "file-text"
    order: ClassVar[int] = 20
    suffix: ClassVar[str] = "html"
    media_type: ClassVar[str] = "text/html"
    most_steps: ClassVar[int | None] = 5000
    small: ClassVar[bool] = False

    @classmethod
    def holds(cls, steps: int) -> bool:
        return cls.most_steps is None or steps <= cls.most_steps

    @classmethod
    def estimate(cls, size: Size) -> int:
        return FRAME + STEP_BYTES * size.steps + size.picture_bytes * 4 // 3

    @classmethod
    def warning(cls, size: Size) -> str:
        if not cls.holds(size.steps):
            return f"Holds {cls.most_steps} steps at most: choose a branch, or some of its steps."
        large = cls.estimate(size) > LARGE and not cls.small
        return "Files as large as this open slowly: take the small page instead." if large else ""

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        steps = sum(1 for event in material.events() if event.name != "reply")
        if not self.holds(steps):
            raise NotPossible(f"A page holds {self.most_steps} steps at most: choose a branch, or some of its steps.")
        with out.open("w", encoding="utf-8") as file:
            material.write_page(file, progress, small=self.small)
