"""How far a build is, in a file beside the images: `<images>/<name>/build.json`. Whoever may read it may watch."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..locked import is_held
from .store import BUILD_LOG
from .workshop import LOCK

REPORT = "build.json"
TAIL_BYTES = 64 * 1024

State = Literal["running", "done", "failed", "interrupted"]


@dataclass(frozen=True)
class Build:
    """`phases` are what it did and when, in seconds since it started. `usual` is how long the last good one took."""

    state: State
    started: float
    ended: float | None = None
    phases: list[tuple[float, str]] = field(default_factory=list)
    error: str = ""
    usual: float | None = None

    @property
    def seconds(self) -> float:
        return (self.ended or time.time()) - self.started


@contextmanager
def recorded(place: Path, say: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """A `say` whose words are written down as well, and how it ended. Only for the one who holds the place."""
    last = read(place)
    usual = last and (last.seconds if last.state == "done" else last.usual)
    build = Build("running", time.time(), usual=usual or None)
    _write(place, build)

    def say_and_write(phase: str) -> None:
        nonlocal build
        build = replace(build, phases=[*build.phases, (time.time() - build.started, phase)])
        _write(place, build)
        say(phase)

    try:
        yield say_and_write
    except BaseException as error:
        sentence = str(error) or "It was interrupted."
        _write(place, replace(build, state="failed", ended=time.time(), error=sentence))
        raise
    _write(place, replace(build, state="done", ended=time.time()))


def read(place: Path) -> Build | None:
    """The build under way, or else the last one. None when none was ever recorded."""
    build = _parsed(place)
    if build is None or build.state != "running" or is_held(place / LOCK):
        return build
    # Once more: it may have ended between the two looks.
    build = _parsed(place) or build
    if build.state != "running":
        return build
    ended = build.started + (build.phases[-1][0] if build.phases else 0)
    return replace(build, state="interrupted", ended=ended, error="The builder died on the way.")


def log_tail(place: Path, lines: int = 200) -> str:
    try:
        with (place / BUILD_LOG).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _parsed(place: Path) -> Build | None:
    try:
        return Build(**json.loads((place / REPORT).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _write(place: Path, build: Build) -> None:
    half = place / f".{REPORT}"
    half.write_text(json.dumps(asdict(build)))
    half.replace(place / REPORT)
