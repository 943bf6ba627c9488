"""A process in the machine."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

from ..errors import BadTask
from .base import CannotCheck, Checker, Finding, shown
from .inside import ask
from .options import Length
from .scene import Scene


@dataclass(frozen=True)
class ProcessRunning(Checker):
    """A process of that program, and with all these arguments in this order, runs, or with `absent` none does."""

    kind: ClassVar[str] = "process_running"

    program: Annotated[str, Length(0, 200)] = ""
    argv: tuple[str, ...] = ()
    absent: bool = False

    def validate(self) -> None:
        if not self.program and not self.argv:
            raise BadTask("program: say program, argv or both.")

    def expectation(self) -> str:
        line = shown(" ".join(filter(None, (self.program, *self.argv))))
        return f"No process “{line}” runs." if self.absent else f"A process “{line}” runs."

    def look(self, scene: Scene) -> Finding:
        with scene.guest() as guest:
            items = ask(guest, "lists", {"list": "processes"}).get("items")
        if not isinstance(items, list) or not items:
            raise CannotCheck("The machine did not tell which processes run.")
        running = [item for item in items if isinstance(item, dict) and self._fits(item)]
        if not running:
            return self.found(self.absent, "No such process runs.")
        return self.found(not self.absent, f"Process {running[0].get('pid')} runs: {shown(_line(running[0]))}")

    def _fits(self, process: dict[str, Any]) -> bool:
        argv = [str(argument) for argument in process.get("argv") or [""]]
        names = {str(process.get("name")), PurePosixPath(argv[0]).name, argv[0]}
        rest = iter(argv)
        return (not self.program or self.program in names) and all(wanted in rest for wanted in self.argv)


def _line(process: dict[str, Any]) -> str:
    return " ".join(str(argument) for argument in process.get("argv") or [process.get("name")])
