"""Text that can be read on the screen."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sandboxes.display.screen import Box

from .. import ocr
from ..errors import BadTask
from .base import Checker, Finding, shown
from .inside import found_in
from .options import Length, Pattern
from .scene import Scene
from .where import moved, part_of


@dataclass(frozen=True)
class ScreenText(Checker):
    """A text, whatever its case and spaces, or a match of a regular expression in a line, can be read, or cannot."""

    kind: ClassVar[str] = "screen_text"

    text: Annotated[str, Length(0, 500)] = ""
    regex: Pattern = ""
    region: Box | None = None
    absent: bool = False

    def validate(self) -> None:
        if bool(self.text.strip()) == bool(self.regex):
            raise BadTask("text: say either text or regex.")

    def expectation(self) -> str:
        sought = f"“{shown(self.text)}”" if self.text else f"a match of {shown(self.regex)}"
        where = "in the region" if self.region else "on the screen"
        return f"There is {'no ' * self.absent}{sought} {where}."

    def look(self, scene: Scene) -> Finding:
        lines = ocr.read(part_of(scene.screen(), self.region))
        line = self._sought(lines, scene)
        if line is None:
            read = shown(" | ".join(line.text for line in lines), 600)
            return self.found(self.absent, f"It reads “{read}”." if read else "No text can be read there.")
        box = moved(line.box, self.region)
        return self.found(not self.absent, f"It reads “{shown(line.text)}”.", region=box)

    def _sought(self, lines: list[ocr.Line], scene: Scene) -> ocr.Line | None:
        if not self.regex:
            return ocr.contains(lines, self.text)
        if not lines:
            return None
        with scene.guest() as guest:
            index = found_in(guest, self.regex, [line.text for line in lines])
        return None if index is None else lines[index]
