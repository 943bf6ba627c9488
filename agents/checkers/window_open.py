"""A window of the desktop."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from ..errors import BadTask
from .base import CannotCheck, Checker, Finding, shown
from .inside import ask, found_in
from .options import Length, Pattern
from .scene import Scene

NAMED = 8


@dataclass(frozen=True)
class WindowOpen(Checker):
    """A window whose title matches and that is of that class is open, also minimised, or with `absent` none is."""

    kind: ClassVar[str] = "window_open"

    title: Pattern = ""
    window_class: Annotated[str, Length(0, 200)] = ""
    absent: bool = False

    def validate(self) -> None:
        if not self.title and not self.window_class:
            raise BadTask("title: say title, window_class or both.")

    def expectation(self) -> str:
        title = f" with a title that matches {shown(self.title)}" if self.title else ""
        of_class = f" of class {shown(self.window_class)}" if self.window_class else ""
        return f"{'No' if self.absent else 'A'} window{of_class}{title} is open."

    def look(self, scene: Scene) -> Finding:
        with scene.guest() as guest:
            windows = ask(guest, "lists", {"list": "windows"}).get("items")
            if not isinstance(windows, list):
                raise CannotCheck("The machine did not tell which windows are open.")
            titles = [str(window.get("title")) for window in windows if self._is_of_class(window)]
            found = found_in(guest, self.title, titles) if titles else None
        if found is not None:
            return self.found(not self.absent, f"The window “{shown(titles[found])}” is open.")
        return self.found(self.absent, f"Open windows: {_named(windows)}.")

    def _is_of_class(self, window: Any) -> bool:
        """X gives a window two names of class; case does not matter."""
        if not isinstance(window, dict):
            return False
        classes = [str(name).lower() for name in window.get("class") or ()]
        return not self.window_class or self.window_class.lower() in classes


def _named(windows: list[Any]) -> str:
    titles = [f"“{shown(str(window.get('title')), 80)}”" for window in windows[:NAMED] if isinstance(window, dict)]
    return ", ".join(titles) or "none"
