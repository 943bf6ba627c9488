"""Text in a file of the machine."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from ..errors import BadTask
from .base import Checker, Finding, shown
from .inside import ask, problem_of
from .options import Between, Encoding, FilePath, Pattern
from .scene import Scene


@dataclass(frozen=True)
class FileContains(Checker):
    """A text, or a match of a regular expression in which ^ and $ are ends of lines. Larger files are not searched."""

    kind: ClassVar[str] = "file_contains"

    path: FilePath
    text: str = ""
    regex: Pattern = ""
    encoding: Encoding = "utf-8"
    max_bytes: Annotated[int, Between(1, 64 << 20)] = 10 << 20
    absent: bool = False

    def validate(self) -> None:
        if bool(self.text) == bool(self.regex):
            raise BadTask("text: say either text or regex.")

    def expectation(self) -> str:
        sought = f"“{shown(self.text)}”" if self.text else f"a match of {shown(self.regex)}"
        return f"{shown(self.path)} contains {'no ' * self.absent}{sought}."

    def look(self, scene: Scene) -> Finding:
        request = {"path": self.path, "text": self.text, "pattern": self.regex, "encoding": self.encoding}
        with scene.guest() as guest:
            answer = ask(guest, "search", request | {"limit": self.max_bytes})
        if problem := problem_of(answer):
            return self.found(False, f"{shown(self.path)}: {problem}")
        found = answer.get("found") is True
        there = shown(str(answer.get("excerpt")))
        actual = f"It has it: “{there}”." if found else f"It has not; it begins “{there}”."
        return self.found(found is not self.absent, actual)
