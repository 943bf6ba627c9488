"""What both kinds of film share."""

from abc import abstractmethod
from html import escape
from pathlib import Path
from typing import ClassVar

from ..errors import NotPossible
from ..steps import steps_of
from . import ffmpeg
from .base import Exporter, Material, Progress, Size
from .frames import Film, thinned


class FilmExporter(Exporter):
    one_branch: ClassVar[bool] = True
    widest: ClassVar[int]

    @classmethod
    def unavailable_reason(cls) -> str | None:
        return ffmpeg.missing()

    @classmethod
    def warning(cls, size: Size) -> str:
        if cls.most_steps is None or size.steps <= cls.most_steps:
            return ""
        return f"Shows {cls.most_steps} of about {size.steps} steps, evenly chosen. Choose a range to see each."

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        steps = steps_of(material.path(material.best()))
        if not any(step.before for step in steps):
            raise NotPossible("There is no picture to show between these steps.")
        chosen = thinned(steps, self.most_steps or len(steps))
        film = Film(material, chosen, self.widest)
        progress.expect(len(chosen), "Drawing steps")
        self.shoot(film, out, material.facts.title, progress)

    @abstractmethod
    def shoot(self, film: Film, out: Path, title: str, progress: Progress) -> None: ...


def web_vtt(film: Film) -> str:
    """Captions beside a film, for players that show them."""
    cues = (f"{_clock(start)} --> {_clock(end)}\n{escape(text, quote=False)}\n" for start, end, text in film.captions())
    return "\n".join(("WEBVTT\n", *cues))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes) // 60:02}:{int(minutes) % 60:02}:{rest:06.3f}"
