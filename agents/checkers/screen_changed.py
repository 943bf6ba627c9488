"""How much of the screen the last step has changed."""

from dataclasses import dataclass
from typing import ClassVar

from sandboxes.display.diff import Diff, diff
from sandboxes.display.screen import Box, Screen
from sandboxes.display.settle import PANEL_CLOCK

from ..errors import BadTask
from .base import CannotCheck, Checker, Finding
from .options import Ratio
from .scene import Scene
from .where import part_of


@dataclass(frozen=True)
class ScreenChanged(Checker):
    """The share of pixels that differ from the screen before the step is in a range; from 0 to 0 is no change."""

    kind: ClassVar[str] = "screen_changed"

    min_ratio: Ratio = 0.00001
    max_ratio: Ratio = 1.0
    region: Box | None = None
    ignore: tuple[Box, ...] = (PANEL_CLOCK,)

    def validate(self) -> None:
        if self.max_ratio < self.min_ratio:
            raise BadTask("max_ratio: is less than min_ratio.")

    def expectation(self) -> str:
        where = "the region" if self.region else "the screen"
        return f"From {self.min_ratio:.3%} to {self.max_ratio:.3%} of {where} has changed."

    def look(self, scene: Scene) -> Finding:
        if scene.before is None:
            raise CannotCheck("There is no screen from before to compare with.")
        difference = self._difference(scene.before, scene.screen())
        good = self.min_ratio <= difference.ratio <= self.max_ratio
        actual = f"{difference.ratio:.3%} has changed."
        return self.found(good, actual, region=_around(difference.boxes), similarity=1 - difference.ratio)

    def _difference(self, before: Screen, now: Screen) -> Diff:
        """Its boxes are places on the whole screen."""
        if self.region is None or before.size != now.size:
            return diff(before, now, self.ignore)
        x, y = self.region[:2]
        ignore = [box._replace(x=box.x - x, y=box.y - y) for box in self.ignore]
        part = diff(part_of(before, self.region), part_of(now, self.region), ignore)
        return Diff(part.ratio, [box._replace(x=box.x + x, y=box.y + y) for box in part.boxes])


def _around(boxes: list[Box]) -> Box | None:
    if not boxes:
        return None
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return Box(left, top, right - left, bottom - top)
