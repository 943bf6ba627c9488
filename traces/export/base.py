"""What an exporter is given, and the one thing it must do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, BinaryIO, ClassVar, Protocol

from ..events import Recorded
from ..payloads import Json, Sha256
from ..steps import Step
from ..tree import Lane


@dataclass(frozen=True)
class Scope:
    """All of a trace; or the path to the end of a `branch`; or of that path the events from `first` to `last`.

    `first` and `last` are numbers of events, and 0 stands for the path's own.
    """

    branch: str = ""
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class Facts:
    id: str
    title: str
    state: str
    meta: Json
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class Held:
    """A blob. `width` and `height` are None for what is no picture."""

    sha256: Sha256
    media_type: str
    size: int
    width: int | None
    height: int | None
    open: Callable[[], AbstractContextManager[BinaryIO]]

    def read(self) -> bytes:
        """Raises Damaged, as `open` does when it is read to its end."""
        with self.open() as file:
            return file.read()


@dataclass(frozen=True)
class Size:
    """What is known of an export before it is made."""

    steps: int
    pictures: int
    picture_bytes: int
    other_bytes: int


class Material(Protocol):
    """A trace within a scope, clean of secrets. Events are known by their number: `id` and `parent` are seqs.

    The parent of an event that is out of scope is None.
    """

    @property
    def facts(self) -> Facts: ...

    def lanes(self) -> Sequence[Lane]:
        """The branches that end in the scope: all of a trace's, or the one of a path."""

    def events(self) -> Iterator[Recorded]:
        """All in the scope, in order, with `raw`."""

    def path(self, branch: str) -> list[Recorded]:
        """Those of `events` that lead to the end of a branch, without `raw`."""

    def best(self) -> str:
        """The branch to show when there can be only one: the last whose checks passed, else the first."""

    def named(self, event: Recorded) -> Sequence[Sha256]:
        """The blobs of an event."""

    def blob(self, sha256: Sha256) -> Held:
        """Raises Damaged."""

    def count(self) -> int:
        """How many events there are, about."""

    def clean(self, text: str) -> str:
        """Of what belongs to the trace and is no part of its events."""

    def write_page(self, out: IO[str], progress: "Progress", *, small: bool) -> None:
        """All of it as one HTML page; with `small`, most pictures are thumbnails. Raises as an exporter does."""


class Progress(Protocol):
    """Both raise Cancelled when the work is not wanted any more."""

    def expect(self, total: int, detail: str = "") -> None: ...

    def advance(self, by: int = 1) -> None: ...


class Silent:
    """Progress that nobody looks at."""

    def expect(self, total: int, detail: str = "") -> None:
        pass

    def advance(self, by: int = 1) -> None:
        pass


class Exporter(ABC):
    """`about` says in a sentence what one gets. What `write` leaves beside its file belongs to it."""

    label: ClassVar[str]
    about: ClassVar[str]
    icon: ClassVar[str]
    order: ClassVar[int]
    suffix: ClassVar[str]
    media_type: ClassVar[str]
    one_branch: ClassVar[bool] = False
    most_steps: ClassVar[int | None] = None

    @classmethod
    def unavailable_reason(cls) -> str | None:
        """None when it can be made here; else a sentence with the way to mend that."""
        return None

    @classmethod
    @abstractmethod
    def estimate(cls, size: Size) -> int:
        """Bytes, about."""

    @classmethod
    def warning(cls, size: Size) -> str:
        """What a person should know before it is made."""
        return ""

    @abstractmethod
    def write(self, material: Material, out: Path, progress: Progress) -> None:
        """Raises Damaged, DiskFull, NotPossible, and Cancelled."""


LONGEST = 2.0
SHORTEST = 0.8
"""Seconds that a step is shown: idle time is cut."""


def durations(steps: Sequence[Step]) -> list[float]:
    """How long each step is shown, in seconds."""
    times = [step.at for step in steps]
    following = [*times[1:], None]
    return [_shown(here, there) for here, there in zip(times, following, strict=True)]


def _shown(here: datetime | None, there: datetime | None) -> float:
    if here is None or there is None:
        return LONGEST
    return min(LONGEST, max(SHORTEST, (there - here) / timedelta(seconds=1)))
