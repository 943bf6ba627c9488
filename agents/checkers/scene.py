"""What a check may see: the screen, the screen before, the inside of the machine, stored pictures, a judge."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sandboxes.base import Sandbox
from sandboxes.display.desktop import Desktop
from sandboxes.display.screen import Screen
from sandboxes.guest.client import Guest

from ..turns import Picture
from .references import Reference, load_reference

Judge = Callable[[str, Sequence[Picture]], Mapping[str, Any]]
"""A model without tools: a question and pictures in, `{"passed": bool, "reason": str}` out."""


class Scene(Protocol):
    @property
    def before(self) -> Screen | None:
        """The screen before the last step; None when there was none."""

    def screen(self) -> Screen:
        """As it is now. Raises Gone."""

    def guest(self) -> AbstractContextManager[Guest]:
        """Commands and files in the machine."""

    def reference(self, name: str) -> Reference:
        """Raises FileNotFoundError, BadReference."""

    def judge(self) -> Judge | None:
        """None when nobody judges here."""


@dataclass(frozen=True)
class MachineScene:
    """A real machine. `references` is the folder of the task's pictures."""

    sandbox: Sandbox
    desktop: Desktop
    before: Screen | None = None
    references: Path | None = None
    judged_by: Judge | None = None

    def screen(self) -> Screen:
        return self.desktop.screenshot()

    def guest(self) -> AbstractContextManager[Guest]:
        return self.sandbox.guest()

    def reference(self, name: str) -> Reference:
        if self.references is None:
            raise FileNotFoundError(2, "This task has no folder for reference pictures", name)
        return load_reference(self.references, name)

    def judge(self) -> Judge | None:
        return self.judged_by
