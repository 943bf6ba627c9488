"""A command in the machine and how it ends."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sandboxes.guest.client import MIB

from ..errors import BadTask
from .base import Checker, Finding, shown
from .options import Between, Length, Seconds
from .scene import Scene


@dataclass(frozen=True)
class CommandSucceeds(Checker):
    """A program with arguments, or a line of bash, ends with the exit code and prints the text."""

    kind: ClassVar[str] = "command_succeeds"

    argv: tuple[str, ...] = ()
    bash: str = ""
    exit_code: Annotated[int, Between(0, 255)] = 0
    stdout: str = ""
    timeout: Seconds = 30.0
    user: Annotated[str, Length(0, 64)] = ""

    def validate(self) -> None:
        if bool(self.argv) == bool(self.bash):
            raise BadTask("argv: say either argv or bash.")
        if self.argv and not self.argv[0]:
            raise BadTask("argv: begins with the name of a program.")

    def expectation(self) -> str:
        line = shown(self.bash or " ".join(self.argv))
        said = f" and prints “{shown(self.stdout)}”" if self.stdout else ""
        return f"“{line}” ends with exit code {self.exit_code}{said}."

    def look(self, scene: Scene) -> Finding:
        argv = list(self.argv) or ["bash", "-c", self.bash]
        with scene.guest() as guest:
            result = guest.exec(argv, timeout=self.timeout, user=self.user or None, output_limit=MIB)
        output, errors = (data.decode(errors="replace") for data in (result.stdout, result.stderr))
        good = result.returncode == self.exit_code and self.stdout in output
        actual = f"It ended with exit code {result.returncode} and printed {_quoted(output)}."
        return self.found(good, actual, detail=f"Its errors: {_quoted(errors)}." if errors.strip() else "")


def _quoted(text: str) -> str:
    """The end of it, where programs say what went wrong."""
    return f"“{shown(text.strip()[-300:])}”" if text.strip() else "nothing"
