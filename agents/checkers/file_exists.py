"""A file in the machine, by its name and size."""

from dataclasses import dataclass
from typing import ClassVar

from sandboxes.guest.client import Entry, Guest

from ..errors import BadTask
from .base import Checker, Finding, shown
from .options import Count, FilePath
from .scene import Scene


@dataclass(frozen=True)
class FileExists(Checker):
    """A regular file that the desktop's user can read is there, or with `absent` nothing is. Links are followed."""

    kind: ClassVar[str] = "file_exists"

    path: FilePath
    min_size: Count = 0
    max_size: Count | None = None
    absent: bool = False

    def validate(self) -> None:
        if self.max_size is not None and self.max_size < self.min_size:
            raise BadTask("max_size: is less than min_size.")
        if self.absent and (self.min_size or self.max_size is not None):
            raise BadTask("absent: what is not there has no size.")

    def expectation(self) -> str:
        if self.absent:
            return f"There is no {shown(self.path)}."
        sizes = f"at least {self.min_size}" if self.min_size else ""
        if self.max_size is not None:
            sizes = " and ".join(filter(None, (sizes, f"at most {self.max_size}")))
        return f"There is a file {shown(self.path)}{f' of {sizes} bytes' if sizes else ''}."

    def look(self, scene: Scene) -> Finding:
        with scene.guest() as guest:
            try:
                entry = guest.stat(self.path)
                return self.found(False, f"There is a {_kind(entry)}.") if self.absent else self._judged(guest, entry)
            except (FileNotFoundError, NotADirectoryError):
                return self.found(self.absent, "There is no such file.")
            except PermissionError:
                return self.found(False, "The desktop's user may not look there.")

    def _judged(self, guest: Guest, entry: Entry) -> Finding:
        path = self.path
        if entry.kind == "symlink":
            path = _target(guest, path)
            entry = guest.stat(path)
        if entry.kind != "file":
            return self.found(False, f"It is a {_kind(entry)}.")
        if guest.exec(["test", "-r", path]).returncode:
            return self.found(False, "There is a file, and the desktop's user may not read it.")
        fits = self.min_size <= entry.size and (self.max_size is None or entry.size <= self.max_size)
        return self.found(fits, f"The file has {entry.size} bytes.")


def _target(guest: Guest, path: str) -> str:
    """Raises FileNotFoundError for a link that leads nowhere."""
    real = guest.exec(["realpath", "--canonicalize-existing", "--zero", "--", path])
    if real.returncode:
        raise FileNotFoundError(path)
    return real.stdout.removesuffix(b"\0").decode(errors="surrogateescape")


def _kind(entry: Entry) -> str:
    return "special file" if entry.kind == "other" else shown(entry.kind)
