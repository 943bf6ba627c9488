"""Things to look at that are no whole machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.checkers import registry
from agents.checkers.base import Checker, Finding, Outcome
from agents.checkers.references import Reference, load_reference
from agents.checkers.scene import Judge
from sandboxes.display.screen import Box, Screen
from sandboxes.errors import Gone
from sandboxes.guest.client import Guest
from tests.ports import free_port

WIDTH, HEIGHT = 320, 200


@dataclass(frozen=True)
class Still:
    """A screen that somebody has drawn, and no machine behind it."""

    now: Screen | None = None
    before: Screen | None = None
    store: Path = Path("/nonexistent")
    judged_by: Judge | None = None

    def screen(self) -> Screen:
        if self.now is None:
            raise Gone("The machine does not answer.")
        return self.now

    def guest(self) -> Guest:
        return Guest("127.0.0.1", free_port(), "token")

    def reference(self, name: str) -> Reference:
        return load_reference(self.store, name)

    def judge(self) -> Judge | None:
        return self.judged_by


def drawn(*boxes: tuple[Box, tuple[int, int, int]]) -> Screen:
    """A grey screen with coloured boxes."""
    pixels = np.full((HEIGHT, WIDTH, 3), 200, np.uint8)
    for box, colour in boxes:
        pixels[box.y : box.y + box.height, box.x : box.x + box.width] = colour
    return Screen.from_rgb(pixels)


def stripes(at: tuple[int, int], widths: Sequence[int], colour: tuple[int, int, int] = (0, 0, 0)) -> Screen:
    """Black stripes of various widths: something that text is like, and that fits in one place only."""
    boxes = []
    x, y = at
    for width in widths:
        boxes.append((Box(x, y, width, 20), colour))
        x += width + 3
    return drawn(*boxes)


def checker(kind: str, **options: object) -> Checker:
    return registry.checker(kind, options)


def passed(finding: Finding) -> bool:
    assert finding.outcome is not Outcome.ERRORED, finding
    return finding.outcome is Outcome.PASSED
